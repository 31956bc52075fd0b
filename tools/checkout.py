"""A copy of this checkout, for whatever may leave files in it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_of_checkout(folder: Path) -> Path:
    """This checkout in a new folder, without what git ignores and what begins with a dot."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    names = shutil.ignore_patterns(".*", *(name.strip("/") for name in ignored))
    return Path(shutil.copytree(ROOT, folder, ignore=names))
