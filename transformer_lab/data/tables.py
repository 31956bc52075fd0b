"""Which two columns of a table are the sentences: by their names, by their numbers, or the first two."""

import contextlib
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.packed import Part, lines_of, suffix_of

Cells = list[bytes]
Row = tuple[int, Cells | str]
"""The number of a line, and its cells; a str says why there are none."""

PEEK = 200
"""Rows that are looked at before the first pair is read."""
ENOUGH = 5
"""Rows from which on it means something that all of them are alike."""
MOST = 0.9
"""A column is one of numbers or ids if so many of its cells are: a line may be bad."""
NUMBER = re.compile(rb"\s*[-+]?\d[\d.,:]*\s*")
CODE = re.compile(r"[a-z]{2,3}(?=[_-][a-z]+$)")
ID = re.compile(rb"(?=.*\d)[\w.:/+=#-]+", re.ASCII)
HEADERS = {
    *("source", "target", "src", "tgt", "trg", "text", "sentence", "sentences", "translation"),
    *("sentence1", "sentence2", "source_text", "target_text", "input", "output", "original"),
    *("source_sentence", "target_sentence", "id", "index", "lang", "language", "translated"),
    *(name.lower() for name in LANGUAGES.values()),
    *LANGUAGES,
}
"""What columns are called, in small letters."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of source and target in a row, from 0, and the names of all columns if it has any."""

    source: int
    target: int
    header: tuple[str, ...] = ()

    def __str__(self) -> str:
        sides = [
            f"column {place + 1}" + (f", {self.header[place]!r}" if self.header else "")
            for place in (self.source, self.target)
        ]
        said = f"source is {sides[0]}; target is {sides[1]}"
        return said + ("; the first line is a header" if self.header else "")


def rows_of(part: Part, is_csv: bool) -> Iterator[Row]:
    """The rows of a table, each with the number of its first line.

    Tabs separate, and quotes are text; of CSV a comma, semicolon or tab separates (see
    `separator_of`), and quotes enclose a text that may have those and line ends in it.
    """
    if is_csv:
        yield from csv_rows(part)
    else:
        for number, line in enumerate(lines_of(part), start=1):
            yield number, line.split(b"\t")


def csv_rows(part: Part) -> Iterator[Row]:
    """The rows of a CSV file; a faulty row counts as one for each line that it took."""
    lines = (f"{line.decode(errors='surrogateescape')}\n" for line in lines_of(part))
    first = list(islice(lines, PEEK))
    reader = csv.reader(chain(first, lines), delimiter=separator_of(first), strict=True)
    width = 0
    while True:
        before = reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = f"no CSV: {error}; expected quotes around a whole text, those in it doubled"
            yield from ((line + 1, fault) for line in range(before, reader.line_num))
            continue
        width = width or len(cells)
        if len(cells) > width:
            fault = f"{len(cells)} columns, and {width} before; expected quotes around a text with commas"
            yield before + 1, fault
        else:
            yield before + 1, [cell.encode(errors="surrogateescape") for cell in cells] or [b""]


def separator_of(lines: Sequence[str]) -> str:
    """What separates the columns of CSV: tab, comma or semicolon, by which most rows are alike."""

    def alike(separator: str) -> int:
        rows = csv.reader(lines, delimiter=separator)  # without strict it takes whatever there is
        with contextlib.suppress(csv.Error):
            widths = Counter(map(len, rows))
            return max((count for width, count in widths.items() if width > 1), default=0)
        return 0

    return max("\t,;", key=alike)


def peeked(rows: Iterator[Row]) -> list[Row]:
    """The first rows."""
    return list(islice(rows, PEEK))


def layout_of(
    rows: Sequence[Row], columns: tuple[str, str] | None, part: Part, is_csv: bool = False
) -> Layout:
    """Which columns the two sides are, from the first rows of a table.

    `columns` are names in its first line, or numbers from 1; by default the first two columns. A
    first line that looks like names is taken for them.

    Raises:
        ValueError: The table has no such columns, or a column is none of sentences.
    """
    table = [cells for _, cells in rows if not isinstance(cells, str)]
    first = [text_of(cell) for cell in table[0]] if table and table[0] is rows[0][1] else []
    width = max(map(len, table), default=0)
    if suffix_of(part.name) == ".csv" and not is_csv and width < 2:
        raise ValueError(f"{part}: no tab separates its columns; if commas do, add --csv")
    header = tuple(first) if looks_like_names(table, first) else ()
    if columns and not is_numbers(columns, first):
        return named(columns, tuple(first), part, is_csv)
    if columns:
        source, target = (int(column) - 1 for column in columns)
        if not 0 <= min(source, target) < max(source, target) < width:
            raise ValueError(
                f"{part} has {width} columns; expected {columns[0]} and {columns[1]} to be two of "
                f"them, counted from 1{comma_hint(first, is_csv)}"
            )
        return Layout(source, target, header)
    refuse_ids(table, header, part)
    return Layout(0, 1, header)


def is_numbers(columns: tuple[str, str], first: Sequence[str]) -> bool:
    """Whether columns are asked for by their numbers: they are no names in the first line."""
    are_numbers = all(column.isascii() and column.isdigit() for column in columns)
    return are_numbers and not set(columns) <= set(first)


def named(columns: tuple[str, str], first: tuple[str, ...], part: Part, is_csv: bool) -> Layout:
    """The places of columns that the first line names, if need be in other capitals."""
    places = []
    for column in columns:
        found = [i for i, name in enumerate(first) if name == column] or [
            i for i, name in enumerate(first) if name.casefold() == column.casefold()
        ]
        if len(found) != 1:
            often = "more than one" if found else "no"
            reads = ", ".join(repr(name)[:40] for name in first[:9]) or "nothing"
            raise ValueError(
                f"{part} has {often} column {column!r}: its first line reads {reads}; expected the "
                f"names of two of its columns, or their numbers, as in --source 1 --target 2"
                f"{comma_hint(first, is_csv)}"
            )
        places += found
    if places[0] == places[1]:
        raise ValueError(f"{part}: {columns} are the same column; expected two")
    return Layout(places[0], places[1], first)


def comma_hint(first: Sequence[str], is_csv: bool) -> str:
    """What to add for a table that has commas or quotes, where that was not said."""
    commas = len(first) == 1 and any(sign in first[0] for sign in ",;")
    quotes = any(len(name) > 1 and name[0] == name[-1] == '"' for name in first)
    said = ". If commas separate its columns, or quotes enclose its texts, add --csv"
    return said if not is_csv and (commas or quotes) else ""


def looks_like_names(table: Sequence[Cells], first: Sequence[str]) -> bool:
    """Whether the first line is a header.

    Two of its cells are what columns are called, or one has no number where all cells below have.
    """
    cells = [cell.lower() for cell in first]
    called = [set(re.split(r"[\s_]+", cell)) <= HEADERS or is_code(cell) for cell in cells]
    if len(set(cells)) == len(cells) and sum(called) >= 2:
        return True
    below = table[1:] if first else []
    return len(below) >= ENOUGH and any(
        kind_of(below, place).startswith("a number") and not NUMBER.fullmatch(table[0][place])
        for place in range(min(map(len, table)))
    )


def is_code(cell: str) -> bool:
    """Whether this is a language with its country, as "pt_br"."""
    found = CODE.match(cell)
    return found is not None and found[0] in LANGUAGES


def kind_of(table: Sequence[Cells], place: int) -> str:
    """What the cells of a column are, and on how many lines, if they are no sentences; else nothing."""
    cells = [row[place] for row in table]
    same = re.compile(re.escape(cells[0]))
    for pattern, kind in (
        (NUMBER, "a number"),
        (ID, "an id or the name of a file"),
        (same, repr(text_of(cells[0]))),
    ):
        count = len([cell for cell in cells if pattern.fullmatch(cell)])
        if count == len(cells):
            return f"{kind} on every line"
        if count >= MOST * len(cells) and pattern is not same:
            return f"{kind} on {count} of {len(cells)} lines"
    return ""


def refuse_ids(table: Sequence[Cells], header: tuple[str, ...], part: Part) -> None:
    """A ValueError if one of the first two columns holds no sentences; it says which may be meant."""
    below = [row for row in table[bool(header) :] if len(row) > 1]
    if len(below) < ENOUGH:
        return
    kinds = [kind_of(below, place) for place in range(min(map(len, below)))]
    wrong = next((place for place, kind in enumerate(kinds[:2]) if kind), None)
    # A column of ids, or of one text, may be meant if there are but two.
    if wrong is None or (len(kinds) == 2 and not kinds[wrong].startswith("a number")):
        return
    if len(kinds) == 2 and wrong == 1:
        return  # a number for each sentence can be learnt
    others = [place for place, kind in enumerate(kinds) if not kind][:2]
    said = f"column {wrong + 1} is {kinds[wrong]}"
    if len(others) < 2:
        raise ValueError(f"{part}: {said}; expected a sentence and its translation")
    names = [header[place] if header else str(place + 1) for place in others]
    numbers = " and ".join(str(place + 1) for place in others)
    raise ValueError(
        f"{part}: {said}; did you mean columns {numbers}? "
        f"Then say --source {names[0]} --target {names[1]}"
    )


def text_of(cell: Any) -> str:
    """A cell of the first line as text, whatever its bytes are."""
    return cell.decode(errors="backslashreplace").strip()
