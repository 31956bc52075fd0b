"""The small file beside the notebooks that holds what a learner has done: where it is, and what is in it.

Nothing else reads it, and nothing sends it anywhere. Where notebooks run by themselves, to be built or
tested, `TRANSFORMER_LAB_PROGRESS=off` stands in the environment: then the file is neither written nor
read, so that no output that is stored can hang on it.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.files import write_atomically
from transformer_lab.lock import FolderLock
from transformer_lab.spacing import GAPS, Standing

FILE = ".progress.json"
SWITCH = "TRANSFORMER_LAB_PROGRESS"
HEAD = {"course": "transformer_lab", "version": 1}
PATIENCE = 5.0  # seconds; the lock is held for some milliseconds, by another notebook's kernel


@dataclass
class Done:
    """What was done of a lesson: exercises by name, with the day; questions by their text.

    `exercises_of` and `questions_of` are how many the lesson has, or 0 while none was done.
    """

    exercises: dict[str, date] = field(default_factory=dict)
    exercises_of: int = 0
    questions: dict[str, Standing] = field(default_factory=dict)
    questions_of: int = 0


Record = dict[str, Done]
"""By the lesson's number: "01" and so on."""


def is_off() -> bool:
    """Whether nothing is to be kept, and nothing to be read."""
    return os.environ.get(SWITCH, "").lower() == "off"


def where() -> Path | None:
    """The file's place: beside the lessons, in this folder or in its `notebooks`; None without any."""
    for folder in (Path.cwd(), Path.cwd() / "notebooks"):
        if any(folder.glob("[0-9][0-9]_*.ipynb")):
            return folder / FILE
    return None


def change(path: Path, note: Callable[[Record], None]) -> bool:
    """Let `note` change the record in the file; whether this is what has made the file.

    Raises:
        ValueError: If the file is damaged or not ours, or others never stop writing to it.
        OSError: Without room or permission.
    """
    with alone(path.parent):
        record = read(path)
        before = written(record)
        note(record)
        if written(record) == before:
            return False
        is_new = not path.exists()
        write_atomically(path, written(record))
        return is_new


def forget(path: Path) -> bool:
    """Delete the file; whether there was one. The same errors as from `change`."""
    if not path.exists():
        return False
    with alone(path.parent):
        read(path)
        path.unlink()
    return True


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Inside the block no other kernel writes to this folder; it is waited for."""
    until, lock = time.monotonic() + PATIENCE, FolderLock(folder)
    while not lock.held:
        try:
            lock.take()
        except ValueError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
    try:
        yield
    finally:
        lock.release()


# ---------------------------------------------------------------- what is in it


def read(path: Path) -> Record:
    """The record in a file; an empty one if there is no file.

    Raises:
        ValueError: If the file is damaged, or was not written by this.
    """
    if not path.exists():
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        record = {number: done_of(lesson) for number, lesson in told["lessons"].items()}
        # As text: to Python 1, 1.0 and True are equal. What we would not write is not ours.
        ours = json.dumps(as_json(record), sort_keys=True)
        is_ours = json.dumps(told, sort_keys=True) == ours
        written(record)  # fails at half a character, which JSON can hold and a file cannot
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, AttributeError):
        is_ours = False
    if not is_ours:
        left = "it is left as it is; move it away, or delete it, to begin anew"
        raise ValueError(f"{path} is damaged, or no record of this course: {left}")
    return record


def done_of(lesson: dict[str, Any]) -> Done:
    """What was done of a lesson, from JSON; an error of some kind if that is not ours."""
    return Done(
        {name: date.fromisoformat(day) for name, day in lesson["exercises"].items()},
        int(lesson["exercises_of"]),
        {text: standing_of(told) for text, told in lesson["questions"].items()},
        int(lesson["questions_of"]),
    )


def standing_of(told: dict[str, Any]) -> Standing:
    """How a question stands, from JSON; an error of some kind if that is not ours."""
    due = None if told["due"] is None else date.fromisoformat(told["due"])
    steps = int(told["steps"])
    check("steps", steps, "as many as there are gaps", 0 <= steps <= len(GAPS))
    check("due", due, "a day, or None at the end", (due is None) == (steps == len(GAPS)))
    return Standing(date.fromisoformat(told["first"]), bool(told["right"]), steps, due)


def as_json(record: Record) -> dict[str, Any]:
    """The record as it is written: dates as text."""
    return {**HEAD, "lessons": {number: plain(record[number]) for number in sorted(record)}}


def plain(done: Done) -> dict[str, Any]:
    """What was done of a lesson, for JSON."""
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


def written(record: Record) -> bytes:
    """The bytes of the file."""
    return (json.dumps(as_json(record), ensure_ascii=False, indent=1) + "\n").encode()
