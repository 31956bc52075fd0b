"""Read a folder of text files as one corpus, in which each file belongs to one split.

`corpus` uses this module for folders of text; `hub` reads folders of Parquet or Arrow files.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.large import HELD_OUT_SPLITS, HeldOutPairs
from transformer_lab.data.packed import (
    OTHER_FORMS,
    SUFFIX_ALIASES,
    TABLE_SUFFIXES,
    strip_packing_suffix,
    text_suffix,
)
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import check_train_split
from transformer_lab.data.text_files import PairFile, find_side_files, iterate_pairs

SAVED_DATASET_FILES = ("dataset_dict.json", "state.json")
"""Files that identify a folder written by `save_to_disk` of Hugging Face's `datasets`."""
OTHER_DATA = (".parquet", ".arrow", ".json")
"""Suffixes of files that only `datasets` can read.

Any .txt files next to them are assumed to be documentation.
"""
SPLIT_NAMES = {
    "train": re.compile(r"(?<![a-z0-9])train(ing)?(?![a-z0-9])"),
    "validation": re.compile(r"(?<![a-z0-9])(validation|valid|val|dev)(?![a-z0-9])"),
    "test": re.compile(r"(?<![a-z0-9])(test|testing|eval|evaluation)(?![a-z0-9])"),
}
"""For each split, a pattern that matches the lower-case paths of its files."""


@dataclass(frozen=True, slots=True)
class TextFolder:
    """A folder of text files with sentence pairs; `files` holds the paths for each split."""

    name: str
    files: dict[str, list[Path]]
    columns: tuple[str, str] | None
    is_csv: bool

    @property
    def cache_key(self) -> str:
        """A cache key that changes if the files change or are read with different settings."""
        files = {
            part: [self.file(p).cache_key for p in paths] for part, paths in self.files.items()
        }
        return f"{self.name} {files}"

    @property
    def form(self) -> str:
        """A one-line description of the first training file: its format, source and target."""
        return self.file(self.files["train"][0]).form

    def file(self, path: Path) -> PairFile:
        """Return the `PairFile` for one of the folder's paths."""
        return PairFile(path, self.columns, self.is_csv)

    def pairs(self, part: str, skip_bad: bool) -> Iterator[Pair | None]:
        """Yield the pairs of a split.

        With `skip_bad`, None is yielded for each bad line. Otherwise, a bad line raises a
        ValueError.
        """
        return chain.from_iterable(
            iterate_pairs(path, self.columns, skip_bad=skip_bad, is_csv=self.is_csv)
            for path in self.files[part]
        )

    def read_held_out(self, skip_bad: bool) -> HeldOutPairs:
        """Return the folder's validation and test pairs, if any; None stands for a bad line."""
        found = {
            part: list(self.pairs(part, skip_bad)) for part in HELD_OUT_SPLITS if part in self.files
        }
        return {part: pairs for part, pairs in found.items() if any(pairs)}


def find_text_folder(
    name: str,
    columns: tuple[str, str] | None = None,
    is_csv: bool = False,
    *,
    to_train: bool = True,
) -> TextFolder | None:
    """Find the text files in a folder, and assign each one to a split.

    A file belongs to the split that its path mentions: "train", "validation" (or "val", "dev") or
    "test" (or "eval"). All other files are for training. Subfolders are read only if their names
    mention a split. With `to_train`, there must be training files.

    Returns:
        The folder, or None if it has no text files, or holds Parquet or Arrow files instead.

    Raises:
        ValueError: If `to_train` is set but there are no training files; if text files are in a
            subfolder that is not named after a split; if different formats are mixed; or if there
            is one file per language but no languages were given.
    """
    folder = Path(name)
    if any((folder / file).is_file() for file in SAVED_DATASET_FILES):
        return None
    others = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in OTHER_DATA]
    if others:
        refuse_mixed_forms(folder, others[0])
        return None
    ignored: list[Path] = []
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith((".", "_")) for part in inside.parts):
            continue
        if len(inside.parts) > 1 and split_from_path(inside.parent) is None:
            ignored += [inside] if is_text_file(path, columns) else []
        elif is_text_file(path, columns):
            files.setdefault(split_from_path(inside) or "train", []).append(path)
    if ignored:
        known = "all tables in one folder, or in subfolders named train, validation and test"
        raise ValueError(
            f"{folder / ignored[0]} is in a subfolder that is not named after a split; "
            f"expected {known}"
        )
    if not files:
        refuse_unnamed_sides(folder)
        return None
    if to_train:
        check_train_split(str(folder), files)
    return TextFolder(name, files, columns, is_csv)


def refuse_mixed_forms(folder: Path, other: Path) -> None:
    """Raise a ValueError if the folder also holds tables, which `datasets` would silently skip."""
    tables = (
        path for path in sorted(folder.rglob("*")) if text_suffix(path.name) in TABLE_SUFFIXES
    )
    if table := next((path for path in tables if path.suffix.lower() != ".txt"), None):
        expected = "expected only one file format"
        raise ValueError(f"{folder} contains both {table.name} and {other.name}; {expected}")


def refuse_unnamed_sides(folder: Path) -> None:
    """Raise a ValueError if a folder has one file per language, but no languages were given."""
    ends = sorted({text_suffix(path.name)[1:] for path in folder.iterdir()} & set(LANGUAGES))
    if len(ends) > 1:
        raise ValueError(
            f"{folder} has a file for each language. Give two suffixes, such as {ends[0]} and "
            f"{ends[1]}, with --source and --target, or with FOLDER@SOURCE,TARGET in Python"
        )


def is_text_file(path: Path, columns: tuple[str, str] | None) -> bool:
    """Return whether a file looks like part of a text corpus, judged by its name.

    This is True for tables, JSON lines, .zip files and the source side of two parallel files. It is
    also True for files in other known formats, which are refused later with advice on conversion.
    """
    suffix = text_suffix(path.name)
    if columns and suffix == f".{columns[0].lower()}":
        return bool(find_side_files(path, columns))
    if path.stem.lower().startswith(("readme", "license")):
        return False
    return suffix in (*TABLE_SUFFIXES, ".zip") or SUFFIX_ALIASES.get(suffix, suffix) in OTHER_FORMS


def split_from_path(inside: Path) -> str | None:
    """Return the split that a path inside the folder mentions: "train", "validation" or "test".

    Return None if the path mentions none.
    """
    name = strip_packing_suffix(str(inside)).lower()
    return next((part for part, pattern in SPLIT_NAMES.items() if pattern.search(name)), None)
