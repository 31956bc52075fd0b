"""A lesson's key: the part of its notebook's name before the first underscore, such as "01b".

A lesson's package, its tests and its row in every table have the same key. A letter marks a lesson
that continues the previous one: "01b" continues "01". A lesson's evidence is a notebook of the same
name in the folder `evidence`; it is not a lesson itself.
"""

import re
from pathlib import Path

KEY = r"\d\d[a-z]?"
"""The regular expression that matches a key."""
EVIDENCE = "evidence"
"""The name of the folder with notebooks that show how certain the lessons' results are."""


def lesson_key(path: Path) -> str:
    """Return the key of a lesson's notebook or folder, or "" if the path is neither."""
    return "" if path.parent.name == EVIDENCE else find_key(path)


def find_key(path: Path) -> str:
    """Return the key in the name of a lesson or an evidence notebook, or "" if it has none."""
    found = re.match(rf"(?:lesson_)?({KEY})(?:_|$)", path.name)
    return found.group(1) if found else ""


def find_lessons(folder: Path) -> list[Path]:
    """Return the lesson notebooks in a folder, sorted by key."""
    return sorted(path for path in folder.glob("*_*.ipynb") if lesson_key(path))
