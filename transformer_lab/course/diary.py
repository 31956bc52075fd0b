"""The learner's diary: which exercises and questions are done, and which questions to review today.

Checks and quizzes write to it; the lessons and `transformer-lab progress` read it. It is one small
JSON file next to the notebooks, and it is never sent anywhere. A check or a quiz never fails
because of the diary: if the file cannot be written, a message says so once. A question comes back
1 day after its first answer, then 3 days later, then 7. After a wrong answer, the gaps start again
at 1 day. When notebooks are built or tested, `TRANSFORMER_LAB_PROGRESS=off` switches the diary off,
so stored outputs do not depend on it.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.course.keys import find_lessons
from transformer_lab.data.text import escape_for_terminal
from transformer_lab.storage.files import write_atomically
from transformer_lab.storage.lock import FolderLock

REVIEW_GAPS = (1, 3, 7)
"""The number of days before a question's first, second and third review."""


@dataclass(frozen=True)
class QuestionRecord:
    """The record of one question: how it has been answered, and when to ask it again.

    Attributes:
        first: The day of the first answer.
        right: Whether the first answer was right.
        steps: How many reviews have been answered correctly since the last wrong answer.
        due: The day on which to ask it again; None if it has been reviewed often enough.
    """

    first: date
    right: bool
    steps: int
    due: date | None

    def is_due(self, day: date) -> bool:
        """Return whether the question is due on or before the given day."""
        return self.due is not None and self.due <= day


def update_question(before: QuestionRecord | None, right: bool, day: date) -> QuestionRecord:
    """Return a question's updated record after an answer on the given day.

    `before` is None for the first answer. A correct answer before the question is due changes
    nothing, because the learner may simply remember the feedback from an hour ago.
    """
    if before is None:
        return QuestionRecord(day, right, 0, day + timedelta(REVIEW_GAPS[0]))
    if not right:
        return replace(before, steps=0, due=day + timedelta(REVIEW_GAPS[0]))
    if not before.is_due(day):
        return before
    steps = before.steps + 1
    due = day + timedelta(REVIEW_GAPS[steps]) if steps < len(REVIEW_GAPS) else None
    return replace(before, steps=steps, due=due)


FILE = ".progress.json"
SWITCH = "TRANSFORMER_LAB_PROGRESS"
HEADER = {"course": "transformer_lab", "version": 1}
PATIENCE = (
    5.0  # seconds to wait for the lock, which another notebook's kernel holds for milliseconds
)


@dataclass
class LessonRecord:
    """The learner's progress in one lesson.

    Attributes:
        exercises: The name of each passed exercise, mapped to the day on which it was passed.
        exercises_of: The number of exercises in the lesson, or 0 if none has been passed yet.
        questions: The text of each answered question, mapped to its record.
        questions_of: The number of questions in the lesson, or 0 if none has been answered yet.
    """

    exercises: dict[str, date] = field(default_factory=dict)
    exercises_of: int = 0
    questions: dict[str, QuestionRecord] = field(default_factory=dict)
    questions_of: int = 0


Record = dict[str, LessonRecord]
"""The whole diary: a dictionary that maps lesson keys, such as "01", to the lessons' records."""


def is_off() -> bool:
    """Return whether the diary is switched off by `TRANSFORMER_LAB_PROGRESS=off`."""
    return os.environ.get(SWITCH, "").lower() == "off"


def find_diary() -> Path | None:
    """Return the diary's path in the current folder or its subfolder `notebooks`.

    The first of the two that contains lessons is used. Return None if neither does.
    """
    for folder in (Path.cwd(), Path.cwd() / "notebooks"):
        if find_lessons(folder):
            return folder / FILE
    return None


def change_record(path: Path, note: Callable[[Record], None]) -> bool:
    """Let `note` change the record in the file, and return whether the file was created.

    The file is written only if the record has changed.

    Raises:
        ValueError: If the file is damaged, is not a diary, or is locked by another process.
        OSError: If the disk is full or permission is denied.
    """
    with hold_lock(path.parent):
        record = read_record(path)
        before = encode_record(record)
        note(record)
        if encode_record(record) == before:
            return False
        is_new = not path.exists()
        write_atomically(path, encode_record(record))
        return is_new


def delete_diary(path: Path) -> bool:
    """Delete the diary's file, and return whether it existed.

    Raises:
        ValueError: If the file is damaged, is not a diary, or is locked by another process.
        OSError: If permission is denied.
    """
    if not path.exists():
        return False
    with hold_lock(path.parent):
        read_record(path)
        path.unlink()
    return True


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Hold the folder's lock while the block runs, so no other kernel can write to the diary.

    Raises:
        ValueError: If another process still holds the lock after 5 s.
    """
    until, lock = time.monotonic() + PATIENCE, FolderLock(folder)
    while not lock.is_held:
        try:
            lock.acquire()
        except ValueError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
    try:
        yield
    finally:
        lock.release()


# ---------------------------------------------------------------- what is in it

MOVED = {
    **dict.fromkeys(("softmax_backward", "attention_backward"), ("01", "01b")),
    **dict.fromkeys(("gradient_norms", "mend_loss", "mend_forward", "mend_shift"), ("09", "09b")),
    **dict.fromkeys(
        ("cached_step", "continued", "next_places", "reordered", "cache_numbers"), ("10", "10b")
    ),
    **dict.fromkeys(("keep_top_p", "accept", "keep_or_redraw"), ("10", "10c")),
    **dict.fromkeys(("scan", "messages"), ("16", "16b")),
}
"""The name of each exercise that has moved, mapped to its old lesson and its current lesson."""
EXERCISES_AFTER_MOVE = {
    "01": 2, "01b": 2, "09": 2, "09b": 4, "10": 3, "10b": 5, "10c": 3, "16": 3, "16b": 2,
}  # fmt: skip
"""The number of exercises in each lesson named in `MOVED`."""


def read_record(path: Path) -> Record:
    """Read the record from a file, or return an empty record if the file does not exist.

    Raises:
        ValueError: If the file is damaged, or was not written by this module.
    """
    if not path.exists():
        return {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        record = {number: parse_lesson(lesson) for number, lesson in stored["lessons"].items()}
        # Compared as text, because 1, 1.0 and True are equal in Python.
        ours = json.dumps(record_to_json(record), sort_keys=True)
        is_ours = json.dumps(stored, sort_keys=True) == ours
        encode_record(record)  # raises for a lone surrogate, which JSON can hold but UTF-8 cannot
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, AttributeError):
        is_ours = False
    if not is_ours:
        left = "it was not changed. To start again, move or delete the file"
        raise ValueError(f"{path} is damaged, or is not a record of this course, so {left}")
    return move_exercises(record)


def move_exercises(record: Record) -> Record:
    """Move the entry of each moved exercise to its current lesson, and return the record."""
    for name, (before, now) in MOVED.items():
        day = record[before].exercises.pop(name, None) if before in record else None
        if day is not None:
            done = record.setdefault(now, LessonRecord())
            done.exercises.setdefault(name, day)
            done.exercises_of = EXERCISES_AFTER_MOVE[now]
            record[before].exercises_of = EXERCISES_AFTER_MOVE[before]
    return record


def parse_lesson(lesson: dict[str, Any]) -> LessonRecord:
    """Parse one lesson's decoded JSON.

    Malformed JSON can raise errors of several types; `read_record` catches them.
    """
    return LessonRecord(
        {name: date.fromisoformat(day) for name, day in lesson["exercises"].items()},
        int(lesson["exercises_of"]),
        {text: parse_question(stored) for text, stored in lesson["questions"].items()},
        int(lesson["questions_of"]),
    )


def parse_question(stored: dict[str, Any]) -> QuestionRecord:
    """Parse one question's decoded JSON.

    Malformed JSON can raise errors of several types; `read_record` catches them.
    """
    due = None if stored["due"] is None else date.fromisoformat(stored["due"])
    steps = int(stored["steps"])
    check("steps", steps, "at most the number of gaps", 0 <= steps <= len(REVIEW_GAPS))
    check("due", due, "a day, or None at the end", (due is None) == (steps == len(REVIEW_GAPS)))
    return QuestionRecord(date.fromisoformat(stored["first"]), bool(stored["right"]), steps, due)


def record_to_json(record: Record) -> dict[str, Any]:
    """Return the record as a dictionary that JSON can store, with dates as ISO strings."""
    return {
        **HEADER,
        "lessons": {number: lesson_to_json(record[number]) for number in sorted(record)},
    }


def lesson_to_json(done: LessonRecord) -> dict[str, Any]:
    """Return the record of one lesson as a dictionary that JSON can store."""
    questions = {
        text: {
            "first": one.first.isoformat(),
            "right": one.right,
            "steps": one.steps,
            "due": one.due and one.due.isoformat(),
        }
        for text, one in done.questions.items()
    }
    return {
        "exercises": {name: day.isoformat() for name, day in done.exercises.items()},
        "exercises_of": done.exercises_of,
        "questions": questions,
        "questions_of": done.questions_of,
    }


def encode_record(record: Record) -> bytes:
    """Encode the record as the content of the diary file: indented JSON in UTF-8."""
    return (json.dumps(record_to_json(record), ensure_ascii=False, indent=1) + "\n").encode()


NOTHING = "Nothing here yet. Your progress appears once you pass a check or answer a quiz question."
NOWHERE = (
    "Your progress is not stored here, because neither this folder nor its subfolder notebooks/ "
    "contains lessons."
)
SHOWN = 10
"""The maximum number of questions that a report lists; the rest are only counted."""
SAID: set[str] = set()
"""The warnings that this process has already printed, so that each is printed only once."""


@dataclass(frozen=True)
class Place:
    """The place of an exercise or a question in the diary.

    Attributes:
        lesson: The lesson's key, such as "01b".
        name: The exercise's name, or the question's text.
        of: The number of exercises or questions in that lesson.
    """

    lesson: str
    name: str
    of: int


def today() -> date:
    """Return today's date in UTC, so travel and daylight saving time do not shift due dates."""
    return datetime.now(UTC).date()


# ---------------------------------------------------------------- writing


def record_exercise(place: Place, day: date | None = None) -> str:
    """Record the day on which an exercise was first passed; `day` defaults to today.

    Returns:
        The message from `update_diary` for the learner, or "" if there is none.
    """

    def note(record: Record) -> None:
        done = record.setdefault(place.lesson, LessonRecord())
        done.exercises.setdefault(place.name, day or today())
        done.exercises_of = place.of

    return update_diary(note)


def record_answer(place: Place, right: bool, day: date | None = None) -> str:
    """Record whether a question was answered correctly; `day` defaults to today.

    Returns:
        The message from `update_diary` for the learner, or "" if there is none.
    """

    def note(record: Record) -> None:
        done = record.setdefault(place.lesson, LessonRecord())
        before = done.questions.get(place.name)
        done.questions[place.name] = update_question(before, right, day or today())
        done.questions_of = place.of

    return update_diary(note)


def drop_questions(gone: Iterable[tuple[str, str]]) -> str:
    """Remove questions from the diary; each question is given as a pair (lesson, text).

    Returns:
        The message from `update_diary` for the learner, or "" if there is none.
    """

    def note(record: Record) -> None:
        for lesson, text in gone:
            record.get(lesson, LessonRecord()).questions.pop(text, None)

    return update_diary(note)


def update_diary(note: Callable[[Record], None]) -> str:
    """Let `note` change the diary; on failure, return a message instead of raising an error.

    Returns:
        A message for the learner if the file was created or could not be written, and ""
        otherwise. Each error is reported only once.
    """
    try:
        path = None if is_off() else find_diary()
        if path is None or not change_record(path, note):
            return ""
        shows = "To see it, run `progress.show()` in lesson 00"
        where = f"stored in {FILE} next to the notebooks and never sent anywhere"
        return f"(Your progress is {where}. {shows}.)"
    except (OSError, ValueError) as error:
        complaint = f"(Your progress was not saved: {format_error(error)})"
        if complaint in SAID:
            return ""
        SAID.add(complaint)
        return complaint


def format_error(error: OSError | ValueError) -> str:
    """Return an error's message on one line; for an OSError, it starts with the file's name."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or FILE}: {error.strerror}"
    return " ".join(str(error).split())


# ---------------------------------------------------------------- reading


def load_record() -> Record:
    """Load the learner's record, which is empty if the diary is off or does not exist.

    Raises:
        ValueError: If the file is damaged, or was not written by this module.
    """
    path = None if is_off() else find_diary()
    return {} if path is None else read_record(path)


def due_questions(record: Record, day: date) -> list[tuple[str, str]]:
    """Return the questions due by this day as pairs (lesson, text), the longest overdue first."""
    found = [
        (standing.due, lesson, text)
        for lesson, done in sorted(record.items())
        for text, standing in done.questions.items()
        if standing.due is not None and standing.is_due(day)
    ]
    return [(lesson, text) for _, lesson, text in sorted(found, key=lambda one: one[:2])]


def format_progress(day: date | None = None) -> str:
    """Return a report on the learner's progress and the questions due by `day` (default: today).

    Raises:
        ValueError: If the file is damaged, or was not written by this module.
    """
    if not is_off() and find_diary() is None:
        return NOWHERE
    record = load_record()
    return format_report(record, day or today()) if record else NOTHING


def format_report(record: Record, day: date) -> str:
    """Return a text table of the started lessons, followed by the questions due by `day`."""
    lines = ["lesson   exercises   quiz"]
    for lesson, done in sorted(record.items()):
        passed = format_share(len(done.exercises), done.exercises_of)
        quiz = format_share(len(done.questions), done.questions_of)
        if done.questions:
            quiz += f", {sum(one.right for one in done.questions.values())} right on the first try"
        lines.append(f"{escape_for_terminal(lesson):>6}   {passed:9}   {quiz}".rstrip())
    asked = due_questions(record, day)
    lines += ["", f"To review today: {len(asked) or 'no'} question{'s' * (len(asked) != 1)}."]
    for lesson, text in asked[:SHOWN]:
        lines.append(f"    {escape_for_terminal(lesson)}  {escape_for_terminal(text)}")
    if len(asked) > SHOWN:
        lines.append(f"    and {len(asked) - SHOWN} more")
    later = [one.due for done in record.values() for one in done.questions.values()]
    to_come = sorted(one for one in later if one is not None and one > day)
    if to_come:
        lines.append(f"Next: {to_come.count(to_come[0])} on {to_come[0]}.")
    return "\n".join(lines)


def format_share(some: int, every: int) -> str:
    """Return a string such as "3 of 5", or a dash if `every` is 0."""
    return f"{some} of {every}" if every else "–"
