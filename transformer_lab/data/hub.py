"""Sentence pairs of Hugging Face's `datasets`: from its hub, streamed or kept, or from a folder."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data.folders import SAVED
from transformer_lab.data.large import PARTS, Held
from transformer_lab.data.pair import Pair
from transformer_lab.data.text_files import SKIP, pair_of_row

ROWS_AT_ONCE = 1_000
LANGUAGES = re.compile(r"(\w+[-_])?[a-z]{2,3}(-|_|_to_)[a-z]{2,3}")
"""A configuration that names two languages, as "de-en", "az_to_en" or "iwslt2017-de-en"."""


@dataclass(frozen=True)
class Hub:
    """A dataset whose rows are sentence pairs, with the columns or languages of its two sides."""

    name: str
    columns: tuple[str, str]
    parts: dict[str, Any]
    versions: dict[str, str]
    """Of each part what changes when it does."""

    @property
    def identity(self) -> str:
        """What changes when what is read of the dataset does."""
        read = {part: self.versions[part] for part in ("train", *PARTS) if part in self.parts}
        return f"{self.name} {self.columns} {read}"

    @property
    def form(self) -> str:
        """How its rows are read."""
        source, target = self.columns
        return f"rows of a dataset; source is {source!r}; target is {target!r}"

    def pairs(self, part: str, skip_bad: bool) -> Iterator[Pair | None]:
        """The pairs of a part; with `skip_bad`, None for a row that is none."""
        number = 0
        for rows in self.parts[part].iter(batch_size=ROWS_AT_ONCE):
            for values in zip(*rows.values(), strict=True):
                number += 1
                row = dict(zip(rows, values, strict=True))
                try:
                    yield pair_of_row(row, self.columns, f"{self.name}, {part}, row {number}")
                except ValueError as error:
                    if not skip_bad:
                        raise ValueError(f"{error} ({SKIP})") from None
                    yield None

    def held(self, skip_bad: bool) -> Held:
        """Validation and test, as far as the dataset has pairs of them; None stands for a bad row."""
        found = {part: list(self.pairs(part, skip_bad)) for part in PARTS if part in self.parts}
        return {part: pairs for part, pairs in found.items() if any(pairs)}


def open_hub(name: str, columns: tuple[str, str] | None, *, stream: bool = False) -> Hub:
    """Open a dataset: "NAME", "NAME/CONFIG" or "OWNER/NAME/CONFIG" on the hub, or a folder.

    Of two parts the second is a configuration if it names two languages, as in "wmt14/de-en"; if the
    dataset cannot be opened so, the name is read the other way.

    Raises:
        ValueError: If it cannot be had, has no "train", or not these columns; the message says how
            to get the library if that is missing.
    """
    expected = 'pip install "transformer-lab[corpora]" for it'
    check("corpus", name, expected, find_spec("datasets") is not None)
    try:
        parts, versions = opened(name, stream)
    except Exception as error:  # the library and the network raise what they like
        raise ValueError(f"{name} cannot be opened by datasets: {error}") from error
    check("splits", sorted(parts), "'train' among them", "train" in parts)
    features = parts["train"].features or {}
    sides = features.get("translation", features)  # named languages, or columns
    there = sorted(getattr(sides, "languages", None) or sides)
    if columns is None:
        raise ValueError(f"{name} has {there}; expected two of them in --source and --target")
    missing = [column for column in columns if there and column not in there]
    check("columns", columns, f"two of {there}", not missing)
    return Hub(name, columns, parts, versions)


def opened(name: str, stream: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The parts of a dataset, and for each of them what changes when it does."""
    import datasets

    folder = Path(name)
    if any((folder / file).is_file() for file in SAVED):
        found = datasets.load_from_disk(str(folder))
        parts = dict(found) if isinstance(found, dict) else {"train": found}
    else:
        builder = builder_of([(str(folder),)] if folder.is_dir() else readings_of(name))
        if stream:
            # A stream has no sum. Its files have the times when they changed, on the hub a version.
            parts = dict(builder.as_streaming_dataset())
            files = builder.config.data_files or {}
            origins = {part: str(getattr(files.get(part), "origin_metadata", "")) for part in parts}
            return parts, {part: f"{builder.hash} {origins[part]}" for part in parts}
        builder.download_and_prepare()
        parts = dict(builder.as_dataset())
    return parts, {part: data._fingerprint for part, data in parts.items()}


def builder_of(readings: Sequence[tuple[str, ...]]) -> Any:
    """What `datasets` builds the first of these from that it knows; the first error if it knows none."""
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


def readings_of(name: str) -> list[tuple[str, ...]]:
    """A name on the hub, with the configuration if there is one; the likelier reading first."""
    first, slash, last = name.rpartition("/")
    whole, configured = (name,), (first, last)
    if not slash:
        return [whole]
    if "/" in first:
        return [configured]
    return [configured, whole] if LANGUAGES.fullmatch(last) else [whole, configured]
