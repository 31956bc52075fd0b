"""Sentence pairs in files: tables, JSON lines, or two files that go line by line; also packed."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import escape
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.packed import (
    LONGEST_LINE,
    PACKED,
    TABLES,
    Part,
    lines_of,
    members_of,
    packing_of,
    plain_name,
    raw_lines,
    refuse_other_forms,
    suffix_of,
)
from transformer_lab.data.pair import Pair
from transformer_lab.data.tables import Layout, Row, layout_of, name_of, peeked, rows_of, width_of
from transformer_lab.data.text import read_text

COLUMNS = ("source", "target")
"""What the two sides are called in JSON lines that do not name languages."""
JSON_LINES = (".jsonl", ".ndjson", ".json")
SKIP = "--skip-bad leaves bad lines out"


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The pairs that were read, how many were left out because their line is bad, and the first why."""

    pairs: list[Pair]
    left_out: int
    first_fault: str = field(default="", compare=False)


def read_pairs(
    path: Path | str,
    columns: tuple[str, str] | None = None,
    *,
    skip_bad: bool = False,
    is_csv: bool = False,
) -> ReadResult:
    """Read all sentence pairs of a file in UTF-8; see `pairs_in` for its forms.

    `skip_bad` leaves out bad lines and counts them.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is bad, the file is damaged, or there is no pair.
    """
    pairs, faults = [], []
    for pair in PairFile(Path(path), columns, is_csv):
        if isinstance(pair, Pair):
            pairs.append(pair)
        elif not skip_bad:
            raise ValueError(f"{pair} ({SKIP})")
        else:
            faults.append(pair)
    first = faults[0] if faults else ""
    if not pairs:
        why = f"; the first: {first}" if first else ""
        raise ValueError(f"{path}: no pairs ({len(faults)} bad lines{why}); expected at least one")
    return ReadResult(pairs, len(faults), first)


def pairs_in(
    path: Path | str,
    columns: tuple[str, str] | None = None,
    *,
    skip_bad: bool = False,
    is_csv: bool = False,
) -> Iterator[Pair | None]:
    """The pairs of a file, one after another; with `skip_bad`, None for a line that is bad.

    A file is read as JSON lines where its name ends in .jsonl, .ndjson or .json, else as a table, whose
    columns are separated by tabs. JSON has `columns` as its keys, or under "translation"; a table
    has them as names in its first line, or they are numbers of its columns, from 1. Without them a
    table's first two columns are the pair. `is_csv` reads a table with commas and quotes.

    Two files go line by line, as corpus.en and corpus.fr: `path` is "corpus" or one of them, and
    `columns` are the ends of their names. All of these may be packed as .gz or .zst, or lie in a
    .zip. Windows line ends, a byte-order mark and empty lines at the end are no fault; text comes
    out in NFC.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8, has not both sides, or an empty one; the columns are not
            there; what is packed is damaged; or it is no text, or of a form that is not read.
    """
    for pair in PairFile(Path(path), columns, is_csv):
        if isinstance(pair, Pair):
            yield pair
        elif not skip_bad:
            raise ValueError(f"{pair} ({SKIP})")
        else:
            yield None


class PairFile:
    """A file of pairs, or two of one side each, found and its columns known before it is read.

    Iterating gives each pair, or a str that says which line is bad, and why. `form` says how it is
    read.
    """

    def __init__(self, path: Path, columns: tuple[str, str] | None = None, is_csv: bool = False):
        self.parts = parts_of(path, columns)
        self.columns, self.is_csv = columns, is_csv
        self.is_json = len(self.parts) == 1 and is_json(self.parts[0])

    def __iter__(self) -> Iterator[Pair | str]:
        if len(self.parts) == 2:
            return pairs_of_two(*self.parts)
        if self.is_json:
            return pairs_of_json(self.parts[0], self.columns or COLUMNS)
        return pairs_of_table(self.parts[0], self.columns, self.is_csv)

    @property
    def form(self) -> str:
        """How it is read, in a line: its kind, and what is source and target there."""
        if len(self.parts) == 2:
            one, other = (part.member or part.path.name for part in self.parts)
            return f"two files, line by line; source is {one}; target is {other}"
        if self.is_json:
            source, target = self.columns or COLUMNS
            return f"JSON lines; source is {source!r}; target is {target!r}"
        layout, _, _ = opened_table(self.parts[0], self.columns, self.is_csv)
        return f"{'CSV' if self.is_csv else 'a table with tabs'}; {layout}"

    def bytes_at_least(self, number: int) -> bool:
        """Whether one of its files has so many bytes once it is unpacked."""
        return any(part.bytes_at_least(number) for part in self.parts)

    @property
    def identity(self) -> str:
        """What changes when what is read does: its files, with sizes and times, and its columns."""
        files = [(str(part), *file_version(part.path)) for part in self.parts]
        return f"{files} {self.columns} {self.is_csv}"


def file_version(path: Path) -> tuple[int, int]:
    """The size of a file, and when it was changed."""
    file = path.stat()
    return file.st_size, file.st_mtime_ns


def is_json(part: Part) -> bool:
    """Whether it has JSON lines, by its name."""
    return suffix_of(part.name) in JSON_LINES


def parts_of(path: Path, columns: tuple[str, str] | None) -> tuple[Part, ...]:
    """The file of a table, or those of source and target; a ValueError says what is missing."""
    sides = sides_of(path, columns) if columns else ()
    if sides:
        return sides
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    refuse_other_forms(Part(path))
    if packing_of(path) != ".zip":
        return (Part(path),)
    names = members_of(path)
    if found := members_of_sides(path, names, columns or ()):
        return found
    tables = [name for name in names if suffix_of(name) in TABLES and "readme" not in name.lower()]
    if len(tables) == 1:
        return (Part(path, tables[0]),)
    for name in names:
        refuse_other_forms(Part(path, name))
    ends = sorted(filter(None, {Path(plain_name(name)).suffix[1:] for name in names}))
    raise ValueError(
        f"{path} holds {', '.join(sorted(names)[:9]) or 'no file'}; expected one table, or two files "
        f"whose ends --source and --target name, out of {', '.join(ends) or 'none'}"
    )


def members_of_sides(path: Path, names: list[str], columns: Sequence[str]) -> tuple[Part, ...]:
    """The two sides of the one corpus in a .zip, as a.en and a.fr; nothing if there is not just one."""
    ends: dict[str, dict[str, str]] = {}
    for name in names:
        plain = Path(plain_name(name))
        ends.setdefault(str(plain.with_suffix("")), {})[plain.suffix[1:].lower()] = name
    asked = [column.lower() for column in columns]
    both = [found for found in ends.values() if asked and set(asked) <= set(found)]
    return tuple(Part(path, both[0][end]) for end in asked) if len(both) == 1 else ()


def sides_of(path: Path, columns: tuple[str, str]) -> tuple[Part, ...]:
    """The two files of a corpus, as corpus.en and corpus.fr; nothing if there are no such two."""
    plain = Path(plain_name(path.name))
    one_of_them = plain.suffix[1:].lower() in map(str.lower, columns)
    if path.is_file() and not one_of_them:
        return ()
    stem = path.with_name(plain.stem if one_of_them else path.name)
    found = [file for column in columns if (file := side_file(stem, column))]
    return tuple(map(Part, found)) if len(found) == 2 else ()


def side_file(stem: Path, column: str) -> Path | None:
    """The file of one side, if need be in other capitals; None if there is none."""
    names = [f"{stem.name}.{column}{packing}" for packing in ("", *PACKED)]
    files = [stem.with_name(name) for name in names]
    if not any(file.is_file() for file in files):
        lower = [name.lower() for name in names]
        files = sorted(file for file in stem.parent.glob("*") if file.name.lower() in lower)
    return next((file for file in files if file.is_file()), None)


def siblings_of(path: Path) -> list[str]:
    """The ends of the names of files that lie beside each other as two sides do: en, fr."""
    names = {plain_name(file.name) for file in path.parent.glob(f"{escape(path.name)}.*")}
    return sorted(name.removeprefix(f"{path.name}.") for name in names)


def pairs_of_two(source: Part, target: Part) -> Iterator[Pair | str]:
    """The pairs of two files that have as many lines; a blank line on one side is bad."""
    blank = 0
    for number, sides in enumerate(zip_longest(raw_lines(source), raw_lines(target)), start=1):
        if not any(side and side.strip() for side in sides):
            blank += 1  # at the end this is no fault
            continue
        yield from (f"{source}, line {n}: {BLANK}" for n in range(number - blank, number))
        blank = 0
        if None in sides:
            ended, longer = (source, target) if sides[0] is None else (target, source)
            raise ValueError(
                f"{ended} ends before line {number}, and {longer} goes on; expected as many lines "
                "in both, each with the other's translation"
            )
        cells = [bytes(side or b"") for side in sides]
        yield pair_of(cells, Layout(0, 1), f"{source}, line {number}")


BLANK = "an empty side: the line is blank; expected a sentence and its translation"


def pairs_of_table(
    part: Part, columns: tuple[str, str] | None, is_csv: bool
) -> Iterator[Pair | str]:
    """The pairs of a table, without its header."""
    layout, first, rows = opened_table(part, columns, is_csv)
    for number, cells in chain(first[bool(layout.header) :], rows):
        place = f"{part}, line {number}"
        yield f"{place}: {cells}" if isinstance(cells, str) else pair_of(cells, layout, place)


def opened_table(
    part: Part, columns: tuple[str, str] | None, is_csv: bool
) -> tuple[Layout, list[Row], Iterator[Row]]:
    """Which columns are the pair, the rows that were looked at for it, and those after them."""
    rows = rows_of(part, is_csv)
    first = peeked(rows)
    if columns is None and all(len(cells) < 2 for _, cells in first if not isinstance(cells, str)):
        refuse_one_side(part.path)
    return layout_of(first, columns, part, is_csv), first, rows


def refuse_one_side(path: Path) -> None:
    """A ValueError if a file without columns is one side of a corpus whose other lies beside it."""
    plain = Path(plain_name(path.name))
    ends = [end for end in siblings_of(path.with_name(plain.stem)) if end in LANGUAGES]
    if plain.suffix[1:] in ends and len(ends) > 1:
        raise ValueError(
            f"{path} has no tab in it; expected pairs. If it is one side of a corpus, name both: "
            f"--source and --target are two of {', '.join(ends)}"
        )


def pair_of(cells: list[bytes], layout: Layout, place: str) -> Pair | str:
    """The pair in the cells of a row, or where it is and why it is none."""
    if sum(map(len, cells)) + len(cells) > LONGEST_LINE:
        return f"{place}: more than {LONGEST_LINE:,} bytes; expected a sentence and its translation"
    if len(cells) > layout.width and (width := width_of(cells)) > layout.width:
        return f"{place}: {width} columns, and {layout.width} elsewhere; expected no tab in a text"
    sides = [(cells[i] if i < len(cells) else None) for i in (layout.source, layout.target)]
    try:
        texts = [None if raw is None else text_of(raw, place) for raw in sides]
    except ValueError as error:
        return str(error) if any(map(bytes.strip, cells)) else f"{place}: {BLANK}"
    if texts[0] is not None and texts[1] is not None:
        return Pair(texts[0], texts[1])
    if len(cells) > 1:
        return f"{place}: {len(cells)} columns; expected at least {1 + max(layout.source, layout.target)}"
    expected = "expected a sentence, a tab and its translation"
    return f"{place}: no tab; {expected}"


def text_of(raw: bytes, place: str) -> str:
    """One side of a pair; a ValueError if it is not UTF-8, or empty."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: byte {raw[error.start]:#04x}; expected UTF-8") from None
    return side_of(text, place)


def side_of(text: str, place: str) -> str:
    """A side of a pair, through the door for text, on one line and without spaces around it."""
    if not text.strip():
        raise ValueError(f"{place}: an empty side; expected a sentence")
    text = read_text(f"{place}: a side", text).strip()
    return " ".join(text.split()) if "\t" in text or "\n" in text else text


def pairs_of_json(part: Part, columns: tuple[str, str]) -> Iterator[Pair | str]:
    """The pairs of JSON lines."""
    for number, line in enumerate(lines_of(part), start=1):
        try:
            yield pair_of_json(line, columns, f"{part}, line {number}")
        except ValueError as error:
            yield str(error)


def pair_of_json(line: bytes, columns: tuple[str, str], place: str) -> Pair:
    """The pair of one line of JSON; a ValueError says where it is and why it is none."""
    if not line.strip():
        raise ValueError(f"{place}: {BLANK}")
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: byte {line[error.start]:#04x}; expected UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{place}: no JSON; expected an object on each line") from None
    return pair_of_row(row, columns, place)


def pair_of_row(row: Any, columns: tuple[str, str], place: str) -> Pair:
    """The pair of a row with named columns; a ValueError says where it is and why it is none.

    Spaces, tabs and line ends within a sentence become one space each, as lines of text need it.
    """
    sides = row.get("translation", row) if isinstance(row, dict) else row
    there = sorted(map(str, sides)) if isinstance(sides, dict) else type(sides).__name__
    if isinstance(sides, dict) and not set(columns) <= set(sides):
        found = {name_of(str(name)): text for name, text in sides.items()}  # in NFC
        sides = {**{column: found.get(name_of(column)) for column in columns}, **sides}
    texts = []
    for column in columns:
        text = sides.get(column) if isinstance(sides, dict) else None
        if not isinstance(text, str):
            names = ": name two with --source and --target" if columns == COLUMNS else ""
            raise ValueError(f"{place}: no text {column!r} in {there}; expected {columns}{names}")
        texts.append(" ".join(side_of(text, place).split()))
    return Pair(*texts)
