"""A lesson's key: the part of its notebook's name before the first underscore, such as "01" or "01b".

A lesson's package, its tests and its row in every table have the same key. A letter marks a lesson
that continues the one before it, such as "01b". A lesson's evidence has the same name as the
lesson, is in the folder `evidence`, and is not a lesson itself.
"""

import re
from pathlib import Path

KEY = r"\d\d[a-z]?"
"""The pattern for a key."""
EVIDENCE = "evidence"
"""The folder, next to the lessons, for the notebooks that say how sure we are."""


def lesson_key(path: Path) -> str:
    """Return the key of a notebook or of a lesson's folder, or "" if it is not a lesson."""
    return "" if path.parent.name == EVIDENCE else find_key(path)


def find_key(path: Path) -> str:
    """Return the key of the lesson that a page belongs to, either as the lesson or as its evidence."""
    found = re.match(rf"(?:lesson_)?({KEY})(?:_|$)", path.name)
    return found.group(1) if found else ""


def find_lessons(folder: Path) -> list[Path]:
    """Return the notebooks of the lessons in a folder, in the order of their keys."""
    return sorted(path for path in folder.glob("*_*.ipynb") if lesson_key(path))
