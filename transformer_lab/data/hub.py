"""Read sentence pairs with Hugging Face's library `datasets`, from the Hub or from a folder.

`corpus` uses this module for "hf:NAME", "stream:NAME" and folders of Parquet or Arrow files. The
library is optional; `transformer-lab[corpora]` installs it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformer_lab.config import check_choice, join_with_and
from transformer_lab.data.folders import SAVED_DATASET_FILES
from transformer_lab.data.large import HELD_OUT_SPLITS, HeldOutPairs
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import check_train_split
from transformer_lab.data.text_files import SKIP, pair_from_row

ROWS_AT_ONCE = 1_000
"""The number of rows that are read from a dataset at a time."""
LANGUAGES = re.compile(r"(\w+[-_])?[a-z]{2,3}(-|_|_to_)[a-z]{2,3}")
"""The pattern for a configuration that names two languages, such as "iwslt2017-de-en"."""


@dataclass(frozen=True)
class HubDataset:
    """A dataset whose rows are sentence pairs.

    Attributes:
        name: The dataset's name on the Hub, or the path of its folder.
        columns: The columns or languages of the source and the target.
        parts: The `datasets` object for each split.
        versions: A fingerprint for each split, which changes whenever the split does.
    """

    name: str
    columns: tuple[str, str]
    parts: dict[str, Any]
    versions: dict[str, str]

    @property
    def cache_key(self) -> str:
        """A cache key that changes if the rows change or different columns are read."""
        read = {
            part: self.versions[part] for part in ("train", *HELD_OUT_SPLITS) if part in self.parts
        }
        return f"{self.name} {self.columns} {read}"

    @property
    def form(self) -> str:
        """A one-line description of how the rows are read."""
        source, target = self.columns
        return f"rows of a dataset; source is {source!r}; target is {target!r}"

    def pairs(self, part: str, skip_bad: bool) -> Iterator[Pair | None]:
        """Yield the pairs of a split; with `skip_bad`, yield None for each bad row."""
        number = 0
        for rows in self.parts[part].iter(batch_size=ROWS_AT_ONCE):
            for values in zip(*rows.values(), strict=True):
                number += 1
                row = dict(zip(rows, values, strict=True))
                try:
                    yield pair_from_row(row, self.columns, f"{self.name}, {part}, row {number}")
                except ValueError as error:
                    if not skip_bad:
                        raise ValueError(f"{error}. {SKIP}") from None
                    yield None

    def read_held_out(self, skip_bad: bool) -> HeldOutPairs:
        """Return the dataset's validation and test pairs, if any; None stands for a bad row."""
        found = {
            part: list(self.pairs(part, skip_bad)) for part in HELD_OUT_SPLITS if part in self.parts
        }
        return {part: pairs for part, pairs in found.items() if any(pairs)}


def open_hub_dataset(
    name: str, columns: tuple[str, str] | None, *, stream: bool = False
) -> HubDataset:
    """Open a dataset from a folder or from the Hub.

    On the Hub, `name` is "NAME", "OWNER/NAME", "NAME/CONFIG" or "OWNER/NAME/CONFIG". A name with
    two parts is read as "NAME/CONFIG" if the second part names two languages, as in "wmt14/de-en",
    and as "OWNER/NAME" otherwise. If that does not work, the other reading is tried.

    Raises:
        ValueError: If the dataset cannot be opened, has no "train" split, or lacks these columns;
            if `columns` is None; or if the library is missing. In that last case, the message says
            how to install it.
    """
    if find_spec("datasets") is None:
        install = 'pip install "transformer-lab[corpora]"'
        raise ValueError(
            f"{name} needs the package `datasets`, which is not installed. Install it with {install}"
        )
    try:
        parts, versions = load_splits_and_versions(name, stream)
    except Exception as error:  # the library and the network raise what they like
        raise ValueError(f"{name} cannot be opened with the package `datasets`: {error}") from error
    check_train_split(name, parts)
    features = parts["train"].features or {}
    sides = features.get("translation", features)  # named languages, or columns
    there = sorted(getattr(sides, "languages", None) or sides)
    if columns is None:
        raise ValueError(
            f"no columns were chosen for {name}, which has {join_with_and(map(repr, there))}. Choose "
            "one with --source and one with --target, or use NAME@SOURCE,TARGET in Python"
        )
    for column in columns if there else ():
        check_choice("column", column, there)
    return HubDataset(name, columns, parts, versions)


def load_splits_and_versions(name: str, stream: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the `datasets` object of each split, and a fingerprint of each split."""
    import datasets

    folder = Path(name)
    if any((folder / file).is_file() for file in SAVED_DATASET_FILES):
        found = datasets.load_from_disk(str(folder))
        parts = dict(found) if isinstance(found, dict) else {"train": found}
    else:
        builder = load_builder([(str(folder),)] if folder.is_dir() else possible_names(name))
        if stream:
            # A stream has no checksum, but its files have modification times or, on the hub, a version.
            parts = dict(builder.as_streaming_dataset())
            files = builder.config.data_files or {}
            origins = {part: str(getattr(files.get(part), "origin_metadata", "")) for part in parts}
            return parts, {part: f"{builder.hash} {origins[part]}" for part in parts}
        builder.download_and_prepare()
        parts = dict(builder.as_dataset())
    return parts, {part: data._fingerprint for part, data in parts.items()}


def load_builder(readings: Sequence[tuple[str, ...]]) -> Any:
    """Return the dataset builder for the first of these names that `datasets` knows.

    If it knows none of them, the error for the first name is raised.
    """
    import datasets

    errors: list[Exception] = []
    for reading in readings:
        try:
            return datasets.load_dataset_builder(*reading)
        except ConnectionError:
            raise
        except Exception as error:  # the library raises what it likes
            errors.append(error)
    raise errors[0]


def possible_names(name: str) -> list[tuple[str, ...]]:
    """Return the possible readings of a name on the Hub, most likely first.

    Each one is (name,) or (name, configuration).
    """
    first, slash, last = name.rpartition("/")
    whole, configured = (name,), (first, last)
    if not slash:
        return [whole]
    if "/" in first:
        return [configured]
    return [configured, whole] if LANGUAGES.fullmatch(last) else [whole, configured]
