"""Read sentence pairs from tables, JSON lines or two parallel files, compressed or not.

`corpus` and `folders` read files through this module. `PairFile` first finds the file or files for
a path, and then reads them. This module has one section for each of these two steps.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from glob import escape
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from transformer_lab.config import describe_type, join_with_and
from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.packed import (
    LONGEST_LINE,
    PACKED_SUFFIXES,
    TABLE_SUFFIXES,
    TextFile,
    detect_packing,
    list_zip_members,
    read_lines,
    read_raw_lines,
    refuse_other_forms,
    strip_packing_suffix,
    text_suffix,
)
from transformer_lab.data.pair import Pair
from transformer_lab.data.tables import (
    Layout,
    Row,
    count_columns,
    detect_layout,
    normalise_column_name,
    read_rows,
    take_first_rows,
)
from transformer_lab.data.text import check_visible_text

COLUMNS = ("source", "target")
"""The default keys for source and target in JSON lines."""
JSON_LINES = (".jsonl", ".ndjson", ".json")
FEW_FAULTS = 10
"""The number of bad lines that are tolerated even in a file with hardly any good ones."""
SKIP = "To leave out bad lines, use --skip-bad, or skip_bad=True in Python"


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The pairs in a file, how many bad lines were left out, and what is wrong with those lines.

    `faults` maps the first fault of each kind to the number of faults of that kind.
    """

    pairs: list[Pair]
    left_out: int
    faults: Mapping[str, int] = field(default_factory=dict, compare=False)


def read_pairs(
    path: Path | str,
    columns: tuple[str, str] | None = None,
    *,
    skip_bad: bool = False,
    is_csv: bool = False,
) -> ReadResult:
    """Read all sentence pairs in a UTF-8 file; see `iterate_pairs` for the formats.

    With `skip_bad`, bad lines are left out and counted.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a line is bad and `skip_bad` is False, the file is damaged, there are no
            pairs, or more than half of the lines would be left out.
    """
    pairs, faults = [], []
    for pair in PairFile(Path(path), columns, is_csv):
        if isinstance(pair, Pair):
            pairs.append(pair)
        elif not skip_bad:
            raise ValueError(f"{pair}. {SKIP}")
        else:
            faults.append(pair)
    if not pairs:
        why = f". Number of bad lines: {len(faults):,}. The first: {faults[0]}" if faults else ""
        raise ValueError(f"{path} has no readable pairs; expected at least one{why}")
    first = faults[0] if faults else ""
    refuse_mostly_bad(str(path), len(faults), len(pairs) + len(faults), first)
    return ReadResult(pairs, len(faults), count_kinds(faults))


def refuse_mostly_bad(name: str, bad: int, lines: int, first: str = "") -> None:
    """Raise a ValueError if more than half the lines, and more than `FEW_FAULTS`, are bad."""
    if bad > max(lines - bad, FEW_FAULTS):
        seen = f". The first is {first}" if first else ""
        raise ValueError(f"{name}: {bad:,} of {lines:,} lines are bad; expected at most half{seen}")


def count_kinds(faults: Sequence[str]) -> dict[str, int]:
    """Return the first fault of each kind, with the number of faults of that kind.

    Two faults are of the same kind if their messages differ only in line numbers and other numbers.
    """
    kinds: dict[str, list[str]] = {}
    for fault in faults:
        kinds.setdefault(re.sub(r"\b\d\w*", "", fault.partition(": ")[2]), []).append(fault)
    return {found[0]: len(found) for found in kinds.values()}


def iterate_pairs(
    path: Path | str,
    columns: tuple[str, str] | None = None,
    *,
    skip_bad: bool = False,
    is_csv: bool = False,
) -> Iterator[Pair | None]:
    """Yield the pairs in a file one by one; with `skip_bad`, yield None for each bad line.

    A file whose name ends in .jsonl, .ndjson or .json is read as JSON lines, and any other file as
    a tab-separated table. In JSON, `columns` are the keys of the object, or of the object under
    "translation". In a table, they are names from the header, or numbers counted from 1; the
    default is the first two columns. With `is_csv`, a table is read as CSV, with commas and quotes.

    Two parallel files, such as corpus.en and corpus.fr, are read line by line: `path` is "corpus"
    or one of the two files, and `columns` are the suffixes.

    A file may be compressed as .gz or .zst, or packed in a .zip. Windows line endings, a byte-order
    mark and empty lines at the end are allowed. The text is returned in NFC.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a line is bad and `skip_bad` is False, a column is missing, a compressed file
            is damaged, or the file's format is not supported. A line is bad if it is not UTF-8, or
            lacks a side.
    """
    for pair in PairFile(Path(path), columns, is_csv):
        if isinstance(pair, Pair):
            yield pair
        elif not skip_bad:
            raise ValueError(f"{pair}. {SKIP}")
        else:
            yield None


class PairFile:
    """A file of sentence pairs, or two parallel files.

    The files are located when the object is created, and read when you iterate over it. Iterating
    yields a `Pair` for each good line. For each bad line, it yields a str that says where the line
    is and what is wrong with it.
    """

    def __init__(self, path: Path, columns: tuple[str, str] | None = None, is_csv: bool = False):
        self.parts = find_files(path, columns)
        self.columns, self.is_csv = columns, is_csv
        self.is_json = len(self.parts) == 1 and is_json_lines(self.parts[0])

    def __iter__(self) -> Iterator[Pair | str]:
        if len(self.parts) == 2:
            return read_two_files(*self.parts)
        if self.is_json:
            return read_json_lines(self.parts[0], self.columns or COLUMNS)
        return read_table(self.parts[0], self.columns, self.is_csv)

    @property
    def form(self) -> str:
        """A one-line description of the file: its format, source and target."""
        if len(self.parts) == 2:
            one, other = (part.member or part.path.name for part in self.parts)
            return f"two files, line by line; source is {one}; target is {other}"
        if self.is_json:
            source, target = self.columns or COLUMNS
            return f"JSON lines; source is {source!r}; target is {target!r}"
        layout, _, _ = open_table(self.parts[0], self.columns, self.is_csv)
        return f"{'CSV' if self.is_csv else 'a table with tabs'}; {layout}"

    def has_at_least_bytes(self, number: int) -> bool:
        """Return whether one of the files has at least this many bytes when unpacked."""
        return any(part.has_at_least_bytes(number) for part in self.parts)

    @property
    def cache_key(self) -> str:
        """A cache key that depends on each file's size, modification time and reading options."""
        files = [(str(part), *size_and_mtime(part.path)) for part in self.parts]
        return f"{files} {self.columns} {self.is_csv}"


# --- find the file, or the two files ------------------------------------------------------------


def size_and_mtime(path: Path) -> tuple[int, int]:
    """Return a file's size in bytes, and its modification time in nanoseconds."""
    file = path.stat()
    return file.st_size, file.st_mtime_ns


def is_json_lines(part: TextFile) -> bool:
    """Return whether a file contains JSON lines, judged by its name."""
    return text_suffix(part.name) in JSON_LINES


def find_files(path: Path, columns: tuple[str, str] | None) -> tuple[TextFile, ...]:
    """Return the one file with all the pairs, or the two parallel files of source and target.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If a .zip does not hold either one table or two parallel files, or the format is
            not supported.
    """
    sides = find_side_files(path, columns) if columns else ()
    if sides:
        return sides
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    refuse_other_forms(TextFile(path))
    if detect_packing(path) != ".zip":
        return (TextFile(path),)
    names = list_zip_members(path)
    if found := find_sides_in_zip(path, names, columns or ()):
        return found
    tables = [
        name
        for name in names
        if text_suffix(name) in TABLE_SUFFIXES and "readme" not in name.lower()
    ]
    if len(tables) == 1:
        return (TextFile(path, tables[0]),)
    for name in names:
        refuse_other_forms(TextFile(path, name))
    ends = sorted(filter(None, {Path(strip_packing_suffix(name)).suffix[1:] for name in names}))
    choice = (
        f". Give two suffixes, such as {join_with_and(ends[:2])}, with --source and --target on the "
        "command line, or with columns=(...) in Python"
    )
    asked = {column.lower() for column in columns or ()}
    if len(ends) < 2 or (asked and asked <= {end.lower() for end in ends}):
        choice = ""  # there is nothing to choose, or it has been chosen
    raise ValueError(
        f"{path} contains {', '.join(sorted(names)[:9]) or 'no file'}; expected one table, or two "
        f"text files whose names differ only in the suffix{choice}"
    )


def find_sides_in_zip(path: Path, names: list[str], columns: Sequence[str]) -> tuple[TextFile, ...]:
    """Return the two parallel files in a .zip, such as a.en and a.fr.

    Return () unless there is exactly one such pair.
    """
    ends: dict[str, dict[str, str]] = {}
    for name in names:
        plain = Path(strip_packing_suffix(name))
        ends.setdefault(str(plain.with_suffix("")), {})[plain.suffix[1:].lower()] = name
    asked = [column.lower() for column in columns]
    both = [found for found in ends.values() if asked and set(asked) <= set(found)]
    return tuple(TextFile(path, both[0][end]) for end in asked) if len(both) == 1 else ()


def find_side_files(path: Path, columns: tuple[str, str]) -> tuple[TextFile, ...]:
    """Return the two parallel files for a path, such as corpus.en and corpus.fr.

    Return () if they do not exist.
    """
    plain = Path(strip_packing_suffix(path.name))
    one_of_them = plain.suffix[1:].lower() in map(str.lower, columns)
    if path.is_file() and not one_of_them:
        return ()
    stem = path.with_name(plain.stem if one_of_them else path.name)
    found = [file for column in columns if (file := find_side_file(stem, column))]
    return tuple(map(TextFile, found)) if len(found) == 2 else ()


def find_side_file(stem: Path, column: str) -> Path | None:
    """Return the file for one side, such as corpus.en.gz, ignoring case if necessary.

    Return None if there is no such file.
    """
    names = [f"{stem.name}.{column}{packing}" for packing in ("", *PACKED_SUFFIXES)]
    files = [stem.with_name(name) for name in names]
    if not any(file.is_file() for file in files):
        lower = [name.lower() for name in names]
        files = sorted(file for file in stem.parent.glob("*") if file.name.lower() in lower)
    return next((file for file in files if file.is_file()), None)


def list_side_suffixes(path: Path) -> list[str]:
    """Return the suffixes of the files with this stem, such as "en" for corpus.en."""
    names = {strip_packing_suffix(file.name) for file in path.parent.glob(f"{escape(path.name)}.*")}
    return sorted(name.removeprefix(f"{path.name}.") for name in names)


# --- read pairs from what was found -------------------------------------------------------------


def read_two_files(source: TextFile, target: TextFile) -> Iterator[Pair | str]:
    """Yield the pairs of two parallel files, and an error message (a str) for each bad line.

    A line that is blank on one side only is bad.

    Raises:
        ValueError: If one file has fewer lines than the other.
    """
    blank = 0
    for number, sides in enumerate(
        zip_longest(read_raw_lines(source), read_raw_lines(target)), start=1
    ):
        if not any(side and side.strip() for side in sides):
            blank += 1  # blank lines at the end are not a fault
            continue
        yield from (f"{source}, line {n}: {BLANK}" for n in range(number - blank, number))
        blank = 0
        if None in sides:
            ended, longer = (source, target) if sides[0] is None else (target, source)
            raise ValueError(
                f"{ended} ends before line {number}, but {longer} continues; expected "
                "both files to have the same number of lines, so that each line has its translation"
            )
        cells = [bytes(side or b"") for side in sides]
        places = (f"{part}, line {number}" for part in (source, target))
        yield pair_from_cells(cells, Layout(0, 1), *places)


BLANK = "the line is blank; expected a sentence and its translation"


def read_table(
    part: TextFile, columns: tuple[str, str] | None, is_csv: bool
) -> Iterator[Pair | str]:
    """Yield the pairs of a table, and an error message (a str) for each bad row."""
    layout, first, rows = open_table(part, columns, is_csv)
    for number, cells in chain(first[bool(layout.header) :], rows):
        place = f"{part}, line {number}"
        yield (
            f"{place}: {cells}" if isinstance(cells, str) else pair_from_cells(cells, layout, place)
        )


def open_table(
    part: TextFile, columns: tuple[str, str] | None, is_csv: bool
) -> tuple[Layout, list[Row], Iterator[Row]]:
    """Start reading a table.

    Returns:
        The layout (the columns of source and target), the first rows (from which the layout was
        detected), and an iterator over the remaining rows.
    """
    rows = read_rows(part, is_csv)
    first = take_first_rows(rows)
    if columns is None and all(len(cells) < 2 for _, cells in first if not isinstance(cells, str)):
        refuse_one_side(part.path)
    return detect_layout(first, columns, part, is_csv), first, rows


def refuse_one_side(path: Path) -> None:
    """Raise a ValueError if a file looks like one side of a parallel corpus.

    The message says how to name both sides.
    """
    plain = Path(strip_packing_suffix(path.name))
    ends = [end for end in list_side_suffixes(path.with_name(plain.stem)) if end in LANGUAGES]
    if plain.suffix[1:] in ends and len(ends) > 1:
        raise ValueError(
            f"{path} has no tabs; expected one pair per line, with a tab between its texts. If the "
            f"file is one side of a corpus, name both sides, such as {ends[0]} and {ends[1]}, with "
            "--source and --target on the command line, or with columns=(...) in Python"
        )


def pair_from_cells(
    cells: list[bytes], layout: Layout, place: str, target_place: str = ""
) -> Pair | str:
    """Return the pair from a row's cells, or a str that says where the row is and what is wrong.

    `target_place` says where the target is, if it is in a different file.
    """
    if sum(map(len, cells)) + len(cells) > LONGEST_LINE:
        return (
            f"{place}: the line has more than {LONGEST_LINE:,} bytes; expected a sentence and "
            "its translation"
        )
    if len(cells) > layout.width and (width := count_columns(cells)) > layout.width:
        return (
            f"{place}: the line has {width} columns, but other lines have {layout.width}; "
            "expected no tabs within a text"
        )
    sides = [(cells[i] if i < len(cells) else None) for i in (layout.source, layout.target)]
    places = (place, target_place or place)
    try:
        texts = [
            None if raw is None else decode_side(raw, where)
            for raw, where in zip(sides, places, strict=True)
        ]
    except ValueError as error:
        return str(error) if any(map(bytes.strip, cells)) else f"{place}: {BLANK}"
    if texts[0] is not None and texts[1] is not None:
        return Pair(texts[0], texts[1])
    if len(cells) > 1:
        return (
            f"{place}: the line has {len(cells)} columns; expected at least "
            f"{1 + max(layout.source, layout.target)}"
        )
    expected = "a sentence and its translation, with a tab (in CSV, a comma) between them"
    return f"{place}: the line has only one column; expected {expected}"


def decode_side(raw: bytes, place: str) -> str:
    """Decode one side of a pair from UTF-8, and clean it with `clean_side`.

    Raises:
        ValueError: If the side is not UTF-8, is empty, or has no visible character.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: {describe_byte(error)}") from None
    return clean_side(text, place)


def describe_byte(error: UnicodeDecodeError) -> str:
    """Return a message about a byte that is not UTF-8, with advice on converting from Latin-1."""
    convert = "iconv -f LATIN1 -t UTF-8 FILE > NEW_FILE"
    byte = error.object[error.start]
    return (
        f"the line contains the byte {byte:#04x}; expected UTF-8. To convert a file from Latin-1: "
        f"{convert}"
    )


def clean_side(text: str, place: str) -> str:
    """Return one side of a pair as one line in NFC, without surrounding spaces.

    Raises:
        ValueError: If the side is empty, or has no visible character.
    """
    if not text.strip():
        raise ValueError(f"{place}: one side is empty; expected a sentence on each side")
    text = check_visible_text(f"{place}: one side", text).strip()
    return " ".join(text.split()) if "\t" in text or "\n" in text else text


def read_json_lines(part: TextFile, columns: tuple[str, str]) -> Iterator[Pair | str]:
    """Yield the pairs from JSON lines, and an error message (a str) for each bad line."""
    for number, line in enumerate(read_lines(part), start=1):
        try:
            yield pair_from_json(line, columns, f"{part}, line {number}")
        except ValueError as error:
            yield str(error)


def pair_from_json(line: bytes, columns: tuple[str, str], place: str) -> Pair:
    """Return the pair from one line of JSON.

    Raises:
        ValueError: If the line is not a JSON object with both texts; the message begins with
            `place`.
    """
    if not line.strip():
        raise ValueError(f"{place}: {BLANK}")
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: {describe_byte(error)}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{place}: the line is not JSON; expected one object per line") from None
    return pair_from_row(row, columns, place)


def pair_from_row(row: Any, columns: tuple[str, str], place: str) -> Pair:
    """Return the pair from a row with named columns, collapsing whitespace to single spaces.

    Raises:
        ValueError: If either text is missing or empty; the message begins with `place`.
    """
    given = row.get("translation", row) if isinstance(row, dict) else row
    asked = "text in the fields {!r} and {!r}"
    if not isinstance(given, dict):
        raise ValueError(
            f"{place}: the value is {describe_type(given)}; expected an object with "
            f"{asked.format(*columns)}"
        )
    sides = given
    if not set(columns) <= set(given):
        found = {normalise_column_name(str(name)): text for name, text in given.items()}  # in NFC
        sides = {
            **{column: found.get(normalise_column_name(column)) for column in columns},
            **given,
        }
    texts = []
    for column in columns:
        text = sides.get(column)
        if not isinstance(text, str):
            names = (
                ". Choose two fields with --source and --target, or with columns=(...) in Python"
                if columns == COLUMNS
                else ""
            )
            there = join_with_and(sorted(repr(str(name)) for name in given)) or "no field"
            fault = f"field {column!r} is {describe_type(text)}"
            if text is None and column not in given:
                fault = f"there is no field {column!r}, only {there}"
            raise ValueError(f"{place}: {fault}; expected {asked.format(*columns)}{names}")
        texts.append(" ".join(clean_side(text, place).split()))
    return Pair(*texts)
