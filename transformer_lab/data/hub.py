"""Sentence pairs of Hugging Face's `datasets`: from its hub, streamed or kept, or from a folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.text_files import pair_of_row

ROWS_AT_ONCE = 1_000
SAVED = ("dataset_dict.json", "state.json")
"""Files by which a folder is known that `save_to_disk` wrote."""


@dataclass(frozen=True)
class Hub:
    """A dataset whose rows are sentence pairs, with the columns or languages of its two sides."""

    name: str
    columns: tuple[str, str]
    parts: dict[str, Any]

    @property
    def identity(self) -> str:
        """What changes when the dataset does: the library's own sum, or of a stream its version."""
        train = self.parts["train"]
        info = train.info
        version = f"{info.dataset_name} {info.config_name} {info.version} {info.dataset_size}"
        return f"{self.name} {self.columns} {getattr(train, '_fingerprint', version)}"

    def pairs(self, part: str, skip_bad: bool) -> Iterator[Pair | None]:
        """The pairs of a part; with `skip_bad`, None for a row that is none."""
        number = 0
        for rows in self.parts[part].iter(batch_size=ROWS_AT_ONCE):
            for values in zip(*rows.values(), strict=True):
                number += 1
                row = dict(zip(rows, values, strict=True))
                try:
                    yield pair_of_row(row, self.columns, f"{self.name}, {part}, row {number}")
                except ValueError:
                    if not skip_bad:
                        raise
                    yield None

    def held(self, skip_bad: bool) -> Splits[Pair] | None:
        """Validation and test, where the dataset has both."""
        if not {"validation", "test"} <= self.parts.keys():
            return None
        validation, test = (
            [pair for pair in self.pairs(part, skip_bad) if pair is not None]
            for part in ("validation", "test")
        )
        return Splits([], validation, test)


def open_hub(name: str, columns: tuple[str, str] | None, *, stream: bool = False) -> Hub:
    """Open a dataset: "NAME", "NAME/CONFIG" or "OWNER/NAME/CONFIG" on the hub, or a folder.

    Of two parts the second is a configuration if it is a pair of languages, as in "wmt14/de-en".

    Raises:
        ValueError: If it cannot be had, has no "train", or not these columns; the message says how
            to get the library if that is missing.
    """
    try:
        import datasets
    except ImportError:
        expected = 'pip install "transformer-lab[corpora]" for it'
        check("corpus", name, expected, holds=False)
    folder = Path(name)
    try:
        if any((folder / file).is_file() for file in SAVED):
            found = datasets.load_from_disk(str(folder))
        elif folder.is_dir():
            found = datasets.load_dataset(str(folder), streaming=stream)
        else:
            found = datasets.load_dataset(*hub_name(name), streaming=stream)
    except Exception as error:  # the library and the network raise what they like
        raise ValueError(f"{name} cannot be opened by datasets: {error}") from error
    parts = dict(found) if isinstance(found, dict) else {"train": found}
    check("splits", sorted(parts), "'train' among them", "train" in parts)
    features = parts["train"].features or {}
    sides = features.get("translation", features)  # named languages, or columns
    there = sorted(getattr(sides, "languages", None) or sides)
    if columns is None:
        raise ValueError(f"{name} has {there}; expected two of them in --source and --target")
    missing = [column for column in columns if there and column not in there]
    check("columns", columns, f"two of {there}", not missing)
    return Hub(name, columns, parts)


def hub_name(name: str) -> tuple[str, ...]:
    """The name on the hub, and the configuration if there is one."""
    parts = name.split("/")
    configured = len(parts) == 3 or (len(parts) == 2 and "-" in parts[1] and len(parts[1]) <= 11)
    return ("/".join(parts[:-1]), parts[-1]) if configured else (name,)
