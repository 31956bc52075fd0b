"""Parse the name of a corpus: find its columns, and drop the folder that it is in.

`data.corpus` gives corpora their names. Code that saves or shows a translator shortens these names.
"""

import re
from pathlib import Path

HUB_KINDS = ("hf", "stream")
"""The prefixes for datasets on the Hugging Face Hub: downloaded as a whole, or streamed."""
CSV = "csv"
"""The prefix for a file or folder of CSV tables, with commas and quotes."""


def parse_columns(name: str) -> tuple[str, tuple[str, str] | None]:
    """Split "NAME@SOURCE,TARGET" into the name and the two columns (None if they are not given)."""
    found = re.fullmatch(r"(.+)@([^@,/]+),([^@,/]+)", name, re.DOTALL)
    if found is None or Path(name).exists():
        return name, None
    return found[1], (found[2], found[3])


def drop_folder(name: str) -> str:
    """Return a corpus's name without its folder, which other people should not see.

    `drop_folder("csv:/home/ada/pairs.csv@en,fr")` is "csv:pairs.csv@en,fr". Names without a folder
    are returned unchanged.
    """
    kind = next((f"{kind}:" for kind in (CSV, *HUB_KINDS) if name.startswith(f"{kind}:")), "")
    place = name.removeprefix(kind)
    return kind + Path(place).name if Path(place).is_absolute() else name


def names_a_place(name: str) -> bool:
    """Return whether a corpus can be found by this name.

    This is False if `drop_folder` has removed the folder of a file.
    """
    place, _ = parse_columns(name)
    kind, _, rest = place.partition(":")
    if kind in ("debian", *HUB_KINDS):
        return bool(rest)
    return name == "world" or Path(place.removeprefix(f"{CSV}:")).is_absolute()
