"""Parse corpus names: split off the columns, and drop the folder from a path.

`data.corpus` defines these names. Code that saves or displays a translator drops the folder first.
"""

import re
from pathlib import Path

HUB_KINDS = ("hf", "stream")
"""The prefixes for Hugging Face datasets: "hf" downloads the dataset, "stream" streams it."""
CSV = "csv"
"""The prefix for a CSV file, or for a folder of CSV files."""


def parse_columns(name: str) -> tuple[str, tuple[str, str] | None]:
    """Split "NAME@SOURCE,TARGET" into the name and the two columns (None if not given)."""
    found = re.fullmatch(r"(.+)@([^@,/]+),([^@,/]+)", name, re.DOTALL)
    if found is None or Path(name).exists():
        return name, None
    return found[1], (found[2], found[3])


def drop_folder(name: str) -> str:
    """Return a corpus's name without its folder, because the path may be private.

    `drop_folder("csv:/home/ada/pairs.csv@en,fr")` is "csv:pairs.csv@en,fr". Names without a folder
    are returned unchanged.
    """
    kind = next((f"{kind}:" for kind in (CSV, *HUB_KINDS) if name.startswith(f"{kind}:")), "")
    place = name.removeprefix(kind)
    return kind + Path(place).name if Path(place).is_absolute() else name


def names_a_place(name: str) -> bool:
    """Return whether a corpus can be found by this name.

    The result is False for a file name from which `drop_folder` has removed the folder.
    """
    place, _ = parse_columns(name)
    kind, _, rest = place.partition(":")
    if kind in ("debian", *HUB_KINDS):
        return bool(rest)
    return name == "world" or Path(place.removeprefix(f"{CSV}:")).is_absolute()
