"""What a learner has done and what is to be repeated: noted by checks and quizzes, told by the course.

What is kept lies in one small file, see `progress_file.py`. A check or a quiz never fails because of
it: what hinders it is said in one line, once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from transformer_lab.progress_file import FILE, Done, Record, change, is_off, read, where
from transformer_lab.spacing import answered
from transformer_lab.streams import escaped

NOTHING = "Nothing is kept yet: pass a check or answer a quiz, and it stands here."
NOWHERE = (
    "Nothing is kept here: neither this folder nor its notebooks/ holds lessons of the course."
)
SHOWN = 10
"""So many questions of a day are named; of the others there is a number."""
SAID: set[str] = set()
"""The warnings of this process: each is given once."""


@dataclass(frozen=True)
class Place:
    """Where an exercise or a question stands: its lesson, its name, and how many that lesson has.

    The name of a question is its text.
    """

    lesson: str
    name: str
    of: int


def today() -> date:
    """The day in UTC, so that neither a journey nor the change of the clocks moves a question."""
    return datetime.now(UTC).date()


# ---------------------------------------------------------------- noted


def exercise_passed(place: Place, day: date | None = None) -> str:
    """Keep that an exercise was passed, today if no day is given; only the first time counts.

    Returns what `keep` has to say.
    """

    def note(record: Record) -> None:
        done = record.setdefault(place.lesson, Done())
        done.exercises.setdefault(place.name, day or today())
        done.exercises_of = place.of

    return keep(note)


def question_answered(place: Place, right: bool, day: date | None = None) -> str:
    """Keep that a question was answered, right or not, today if no day is given.

    Returns what `keep` has to say.
    """

    def note(record: Record) -> None:
        done = record.setdefault(place.lesson, Done())
        before = done.questions.get(place.name)
        done.questions[place.name] = answered(before, right, day or today())
        done.questions_of = place.of

    return keep(note)


def drop_questions(gone: Iterable[tuple[str, str]]) -> str:
    """Forget questions, each a lesson and a text, that the course does not ask any more.

    Returns what `keep` has to say.
    """

    def note(record: Record) -> None:
        for lesson, text in gone:
            record.get(lesson, Done()).questions.pop(text, None)

    return keep(note)


def keep(note: Callable[[Record], None]) -> str:
    """Change the record in its file; what hinders it stops nothing.

    Returns a line for the reader, or nothing: that there is a file now, or once what hinders it.
    """
    try:
        path = None if is_off() else where()
        if path is None or not change(path, note):
            return ""
        shows = "`python -m transformer_lab progress` shows it"
        return f"(Kept in {FILE} beside the notebooks, and sent nowhere: {shows}.)"
    except (OSError, ValueError) as error:
        complaint = f"(Not kept: {in_one_line(error)})"
        if complaint in SAID:
            return ""
        SAID.add(complaint)
        return complaint


def in_one_line(error: OSError | ValueError) -> str:
    """What an error says."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or FILE}: {error.strerror}"
    return " ".join(str(error).split())


# ---------------------------------------------------------------- told


def kept() -> Record:
    """What is kept: nothing if it is not to be read, or there is no place for it.

    Raises:
        ValueError: If the file is damaged, or was not written by this.
    """
    path = None if is_off() else where()
    return {} if path is None else read(path)


def due(record: Record, day: date) -> list[tuple[str, str]]:
    """The questions that come back by this day, each a lesson and a text; who waits longest, first."""
    found = [
        (standing.due, lesson, text)
        for lesson, done in sorted(record.items())
        for text, standing in done.questions.items()
        if standing.due is not None and standing.is_due(day)
    ]
    return [(lesson, text) for _, lesson, text in sorted(found, key=lambda one: one[:2])]


def told(day: date | None = None) -> str:
    """What is done and what is to be repeated on this day, or today, as text.

    Raises:
        ValueError: If the file is damaged, or was not written by this.
    """
    if not is_off() and where() is None:
        return NOWHERE
    record = kept()
    return report(record, day or today()) if record else NOTHING


def report(record: Record, day: date) -> str:
    """A table of the lessons that were begun, and the questions that come back by this day."""
    lines = ["lesson   exercises   quiz"]
    for lesson, done in sorted(record.items()):
        passed = of(len(done.exercises), done.exercises_of)
        quiz = of(len(done.questions), done.questions_of)
        if done.questions:
            quiz += f", {sum(one.right for one in done.questions.values())} right at first"
        lines.append(f"{escaped(lesson):>6}   {passed:9}   {quiz}".rstrip())
    asked = due(record, day)
    lines += ["", f"To repeat today: {len(asked) or 'no'} question{'s' * (len(asked) != 1)}."]
    lines += [f"    {escaped(lesson)}  {escaped(text)}" for lesson, text in asked[:SHOWN]]
    if len(asked) > SHOWN:
        lines.append(f"    and {len(asked) - SHOWN} more")
    later = [one.due for done in record.values() for one in done.questions.values()]
    to_come = sorted(one for one in later if one is not None and one > day)
    if to_come:
        lines.append(f"The next: {to_come.count(to_come[0])} on {to_come[0]}.")
    return "\n".join(lines)


def of(some: int, every: int) -> str:
    """A number out of another; nothing if there is none."""
    return f"{some} of {every}" if every else "–"
