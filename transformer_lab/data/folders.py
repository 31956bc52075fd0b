"""A folder of text files: read by the same rules as a file, and divided by the names of its files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from transformer_lab.config import check
from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.large import PARTS, Held
from transformer_lab.data.packed import OTHER_FORMS, SAME_FORMS, TABLES, plain_name, suffix_of
from transformer_lab.data.pair import Pair
from transformer_lab.data.text_files import PairFile, pairs_in, sides_of

SAVED = ("dataset_dict.json", "state.json")
"""Files by which a folder is known that `save_to_disk` of Hugging Face's library wrote."""
OTHER_DATA = (".parquet", ".arrow", ".json")
"""Files that only that library reads: text that lies beside them is about them."""
NAMES = {
    "train": re.compile(r"(?<![a-z0-9])train(ing)?(?![a-z0-9])"),
    "validation": re.compile(r"(?<![a-z0-9])(validation|valid|val|dev)(?![a-z0-9])"),
    "test": re.compile(r"(?<![a-z0-9])(test|testing|eval|evaluation)(?![a-z0-9])"),
}
"""What a file's path has in it, in small letters, if its pairs are of this part."""


@dataclass(frozen=True, slots=True)
class TextFolder:
    """A folder whose text files are sentence pairs; `files` are those of each part."""

    name: str
    files: dict[str, list[Path]]
    columns: tuple[str, str] | None
    is_csv: bool

    @property
    def identity(self) -> str:
        """What changes when what is read of the folder does."""
        files = {part: [self.file(p).identity for p in paths] for part, paths in self.files.items()}
        return f"{self.name} {files}"

    @property
    def form(self) -> str:
        """How its first file of training pairs is read."""
        return self.file(self.files["train"][0]).form

    def file(self, path: Path) -> PairFile:
        """One of its files."""
        return PairFile(path, self.columns, self.is_csv)

    def pairs(self, part: str, skip_bad: bool) -> Iterator[Pair | None]:
        """The pairs of a part; with `skip_bad`, None for a line that is bad."""
        return chain.from_iterable(
            pairs_in(path, self.columns, skip_bad=skip_bad, is_csv=self.is_csv)
            for path in self.files[part]
        )

    def held(self, skip_bad: bool) -> Held:
        """Validation and test, as far as the folder has pairs of them; None stands for a bad line."""
        found = {part: list(self.pairs(part, skip_bad)) for part in PARTS if part in self.files}
        return {part: pairs for part, pairs in found.items() if any(pairs)}


def text_folder(
    name: str, columns: tuple[str, str] | None = None, is_csv: bool = False
) -> TextFolder | None:
    """The text files of a folder; None if it holds a dataset in another form, as Parquet or Arrow.

    Files whose path says "train", "validation" or "test" (or "dev", "val", "eval") are that part;
    the others are trained on. Of folders in it only those with such a name are read. A ValueError if
    nothing is trained on.
    """
    folder = Path(name)
    if any((folder / file).is_file() for file in SAVED):
        return None
    others = [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in OTHER_DATA]
    if others:
        refuse_mixture(folder, others[0])
        return None
    ignored: list[Path] = []
    files: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or any(part.startswith((".", "_")) for part in inside.parts):
            continue
        if len(inside.parts) > 1 and part_of(inside.parent) is None:
            ignored += [inside] if is_text(path, columns) else []
        elif is_text(path, columns):
            files.setdefault(part_of(inside) or "train", []).append(path)
    if ignored:
        known = "its tables beside each other, or in folders called train, validation and test"
        raise ValueError(f"{folder} has {ignored[0]}, whose folder names no part; expected {known}")
    if not files:
        check_sides(folder)
        return None
    check("splits", sorted(files), "'train' among them", "train" in files)
    return TextFolder(name, files, columns, is_csv)


def refuse_mixture(folder: Path, other: Path) -> None:
    """A ValueError if tables lie beside files that `datasets` reads, which would leave them out."""
    tables = (path for path in sorted(folder.rglob("*")) if suffix_of(path.name) in TABLES)
    if table := next((path for path in tables if path.suffix.lower() != ".txt"), None):
        expected = "expected files of one form"
        raise ValueError(f"{folder} has {table.name} and {other.name}; {expected}")


def check_sides(folder: Path) -> None:
    """A ValueError if a folder holds one file for each of several languages, and these are not named."""
    ends = sorted({suffix_of(path.name)[1:] for path in folder.iterdir()} & set(LANGUAGES))
    if len(ends) > 1:
        expected = f"expected --source and --target to be two of {', '.join(ends)}"
        raise ValueError(f"{folder} has files of one side each, which are not named; {expected}")


def is_text(path: Path, columns: tuple[str, str] | None) -> bool:
    """Whether a file is read here, or refused with the way to convert it.

    It is a table, has JSON lines, or is the source's side of two files.
    """
    suffix = suffix_of(path.name)
    if columns and suffix == f".{columns[0].lower()}":
        return bool(sides_of(path, columns))
    if path.stem.lower().startswith(("readme", "license")):
        return False
    return suffix in (*TABLES, ".zip") or SAME_FORMS.get(suffix, suffix) in OTHER_FORMS


def part_of(inside: Path) -> str | None:
    """The part that a path within the folder names, if it names one."""
    name = plain_name(str(inside)).lower()
    return next((part for part, pattern in NAMES.items() if pattern.search(name)), None)
