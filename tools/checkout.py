"""A copy of this checkout, for commands that may leave files in it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def copy_of_checkout(folder: Path) -> Path:
    """Copy this checkout to a new folder, except what git ignores and names that begin with a dot."""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    anywhere = shutil.ignore_patterns(".*", *(n.strip("/") for n in ignored if n[0] != "/"))
    at_the_root = shutil.ignore_patterns(*(n.strip("/") for n in ignored if n[0] == "/"))

    def left_out(place: str, names: list[str]) -> set[str]:
        found = anywhere(place, names)
        return found | at_the_root(place, names) if Path(place) == ROOT else found

    return Path(shutil.copytree(ROOT, folder, ignore=left_out))
