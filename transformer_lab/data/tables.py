"""Which two columns of a table are the sentences: by their names, by their numbers, or the first two."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
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

    Tabs separate, and quotes are text; of CSV a comma, semicolon or tab separates, whichever its
    first line has most of, and quotes enclose a text that may have those and line ends in it.
    """
    if is_csv:
        yield from csv_rows(part)
    else:
        for number, line in enumerate(lines_of(part), start=1):
            yield number, line.split(b"\t")


def csv_rows(part: Part) -> Iterator[Row]:
    """The rows of a CSV file; a faulty row counts as one for each line that it took."""
    lines = (f"{line.decode(errors='surrogateescape')}\n" for line in lines_of(part))
    first = next(lines, "")
    separator = max(",;\t", key=first.count)  # of equals the comma
    reader = csv.reader(chained(first, lines), delimiter=separator, strict=True)
    while True:
        before = reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = f"no CSV: {error}; expected quotes around a whole text, those in it doubled"
            yield from ((line + 1, fault) for line in range(before, reader.line_num))
        else:
            yield before + 1, [cell.encode(errors="surrogateescape") for cell in cells] or [b""]


def chained(first: str, others: Iterator[str]) -> Iterator[str]:
    """The first line and the others."""
    if first:
        yield first
    yield from others


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
    """What to add for a table whose columns are separated by commas, where that was not said."""
    plain = not is_csv and len(first) == 1 and any(sign in first[0] for sign in ",;")
    return ". If commas separate its columns, add --csv" if plain else ""


def looks_like_names(table: Sequence[Cells], first: Sequence[str]) -> bool:
    """Whether the first line is a header.

    Two of its cells are what columns are called, or one has no number where all cells below have.
    """
    cells = [cell.lower() for cell in first]
    called = [cell in HEADERS or is_code(cell) for cell in cells]
    if len(set(cells)) == len(cells) and sum(called) >= 2:
        return True
    below = table[1:] if first else []
    return len(below) >= ENOUGH and any(
        kind_of(below, place) == "a number" and not NUMBER.fullmatch(table[0][place])
        for place in range(min(map(len, table)))
    )


def is_code(cell: str) -> bool:
    """Whether this is a language with its country, as "pt_br"."""
    found = CODE.match(cell)
    return found is not None and found[0] in LANGUAGES


def kind_of(table: Sequence[Cells], place: int) -> str:
    """What all cells of a column are, if they are no sentences; nothing if they may be."""
    cells = [row[place] for row in table]
    if all(map(NUMBER.fullmatch, cells)):
        return "a number"
    if all(map(ID.fullmatch, cells)):
        return "an id or the name of a file"
    return f"{text_of(cells[0])!r}" if len(set(cells)) == 1 and len(cells) > 1 else ""


def refuse_ids(table: Sequence[Cells], header: tuple[str, ...], part: Part) -> None:
    """A ValueError if one of the first two columns holds no sentences; it says which may be meant."""
    below = [row for row in table[bool(header) :] if len(row) > 1]
    if len(below) < ENOUGH:
        return
    kinds = [kind_of(below, place) for place in range(min(map(len, below)))]
    wrong = next((place for place, kind in enumerate(kinds[:2]) if kind), None)
    # A column of ids, or of one text, may be meant if there are but two.
    if wrong is None or (len(kinds) == 2 and kinds[wrong] != "a number"):
        return
    if len(kinds) == 2 and wrong == 1:
        return  # a number for each sentence can be learnt
    others = [place for place, kind in enumerate(kinds) if not kind][:2]
    said = f"column {wrong + 1} is {kinds[wrong]} on every line"
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
