"""Read the rows of a table of sentence pairs, and find the two columns with the sentences.

`text_files` uses this module. `read_rows` splits lines at tabs, or reads CSV. `detect_layout` looks
at the first rows and chooses the columns by name or by number, or takes the first two.
"""

import contextlib
import csv
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any

from transformer_lab.config import describe_count, join_with_and
from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.packed import TextFile, read_lines, text_suffix
from transformer_lab.data.text import remove_invisible, to_nfc

Cells = list[bytes]
Row = tuple[int, Cells | str]
"""A line number, with either the line's cells or a str that says what is wrong with the line."""

ADD_CSV = "add --csv on the command line, or is_csv=True in Python"
"""Advice for error messages about a file with commas."""
ROWS_LOOKED_AT = 200
"""The number of rows used to detect the layout of a table."""
MIN_ROWS = 5
"""The minimum number of rows needed to judge what a column holds."""
NUMBER_SHARE = 0.9
"""A column holds numbers (or ids) if at least this share of its cells are numbers (or ids).

The remaining cells may come from bad lines.
"""
LABEL_SHARE = 0.05
"""A column holds labels, such as domains, if at most this share of its cells are distinct."""
NUMBER = re.compile(r"[-+]?\d[\d.,:]*")
CODE = re.compile(r"[a-z]{2,3}(?=[_-][a-z]+$)")
ID = re.compile(
    r"(?=.*\d)[\W\d_]+"  # no letters, as in a date, a percentage or a number in brackets
    r"|(?=.*[\d_\\/@{}=|#])[!-~]+"  # one word with special characters, such as a URL
    r"|[^.]*\.[A-Za-z]\w{1,3}"  # the name of a file
)
MISSING_VALUES = {"", "nan", "na", "n/a", "null", "none"}
"""Strings that stand for a missing value in a column of numbers."""
CODES = (
    "ara bul cat ces chi cmn cze dan deu dut ell eng est fas fin fra fre ger gre heb hin hun ind ita "
    "jpn kor lav lit nld per pol por ron rum rus slk slo spa swe tha tur ukr vie zho"
).split()
"""Three-letter language codes (ISO 639-2 and 639-3)."""
OWN_NAMES = (
    "anglais français englisch deutsch inglés español inglese italiano inglês português engels "
    "nederlands angielski polski английский русский 英文 中文 英語 日本語 영어 한국어"
).split()
HEADERS = {
    *("source", "target", "src", "tgt", "trg", "text", "sentence", "sentences", "translation"),
    *("sentence1", "sentence2", "source_text", "target_text", "input", "output", "original"),
    *("source_sentence", "target_sentence", "id", "index", "lang", "language", "translated"),
    *(
        "sent",
        "orig",
        "trans",
        "phrase",
        "traduction",
        "question",
        "answer",
        "column",
        "col",
        "txt",
    ),
    *("premise", "hypothesis", "reference", "ref", "mt", "latn", "cyrl", "hans", "hant", "jpan"),
    *(name.lower() for name in LANGUAGES.values()),
    *(*LANGUAGES, *CODES, *OWN_NAMES),
}
"""Words that are common in column names, in lower case."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of source and target, counted from 0, and all column names if there is a header.

    A row with more columns than `width` is bad: either a text contains a tab, or the header belongs
    to a different table.
    """

    source: int
    target: int
    header: tuple[str, ...] = ()
    width: int = sys.maxsize

    def __str__(self) -> str:
        sides = [
            f"column {place + 1}"
            + "".join(f", {name!r}" for name in self.header[place : place + 1])
            for place in (self.source, self.target)
        ]
        said = f"source is {sides[0]}; target is {sides[1]}"
        return said + ("; the first line is a header" if self.header else "")


# --- read the rows ------------------------------------------------------------------------------


def read_rows(part: TextFile, is_csv: bool) -> Iterator[Row]:
    """Yield the rows of a table, each with the number of its first line.

    By default, columns are separated by tabs, and quotes are part of the text. In CSV, the
    separator is a comma, semicolon or tab (see `detect_separator`), and a quoted cell may contain
    separators and line breaks.
    """
    if is_csv:
        yield from read_csv_rows(part)
    else:
        for number, line in enumerate(read_lines(part), start=1):
            yield number, line.split(b"\t")


def read_csv_rows(part: TextFile) -> Iterator[Row]:
    """Yield the rows of a CSV file, with an error message in place of the cells of a bad row.

    A row that is not valid CSV yields one error message for each of its lines.
    """
    lines = (f"{line.decode(errors='surrogateescape')}\n" for line in read_lines(part))
    first = list(islice(lines, ROWS_LOOKED_AT))
    reader = csv.reader(chain(first, lines), delimiter=detect_separator(first), strict=True)
    width = 0
    while True:
        before = reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fault = (
                f"the line is not valid CSV: {error}; expected quotes around the whole text, and "
                "doubled quotes inside it"
            )
            yield from ((line + 1, fault) for line in range(before, reader.line_num))
            continue
        width = width or len(cells)
        if len(cells) > width:
            fault = (
                f"the line has {len(cells)} columns, but earlier lines have {width}; expected "
                "quotes around any text that contains commas"
            )
            yield before + 1, fault
        else:
            yield before + 1, [cell.encode(errors="surrogateescape") for cell in cells] or [b""]


def detect_separator(lines: Sequence[str]) -> str:
    """Return the separator (tab, comma or semicolon) that gives the most rows the same width."""

    def alike(separator: str) -> int:
        rows = csv.reader(lines, delimiter=separator)  # without `strict`, it accepts anything
        with contextlib.suppress(csv.Error):
            widths = Counter(map(len, rows))
            return max((count for width, count in widths.items() if width > 1), default=0)
        return 0

    return max("\t,;", key=alike)


# --- find the columns of source and target ------------------------------------------------------


def take_first_rows(rows: Iterator[Row]) -> list[Row]:
    """Return the first rows, which are used to detect the layout."""
    return list(islice(rows, ROWS_LOOKED_AT))


def detect_layout(
    rows: Sequence[Row], columns: tuple[str, str] | None, part: TextFile, is_csv: bool = False
) -> Layout:
    """Detect the source and target columns of a table from its first rows.

    `columns` are names from the header, or numbers counted from 1; the default is the first two
    columns. If the first line looks like column names, it is treated as a header.

    Raises:
        ValueError: If the columns do not exist, the default columns do not hold sentences, or the
            header has too few names.
    """
    table = [cells for _, cells in rows if not isinstance(cells, str)]
    has_first = bool(table) and table[0] is rows[0][1]
    first = [decode_cell(cell) for cell in table[0][: count_columns(table[0])]] if has_first else []
    most, width = max(map(len, table), default=0), max(usual_width(table), len(first))
    if text_suffix(part.name) == ".csv" and not is_csv and most < 2:
        raise ValueError(f"{part} has no tabs. If commas separate its columns, {ADD_CSV}")
    header = tuple(first) if has_header(table, first) else ()
    if columns and are_column_numbers(columns, first):
        source, target = (int(column) - 1 for column in columns)
        if not 0 <= min(source, target) < max(source, target) < most:
            expected = "at least two columns"
            if most == 2:
                expected = "columns 1 and 2, because the file has only two columns"
            elif most > 2:
                expected = (
                    f"two distinct numbers from 1 to {most}, because there are {most} columns"
                )
            raise ValueError(
                f"columns {columns[0]} and {columns[1]} of {part} cannot be used; expected "
                f"{expected}{csv_hint(first, is_csv)}"
            )
        return Layout(source, target, header, max(width, source + 1, target + 1))
    found = Layout(0, 1, header, width)
    if columns:
        found = find_named_columns(columns, tuple(first), part, is_csv)
    else:
        refuse_id_columns(table, header, part)
    if found.header and len(first) < width:
        raise ValueError(
            f"{part}: the first line names {describe_count(len(first), 'column')}, but the lines "
            f"below have {width}; name them all, or choose two by number, as in "
            f"{name_columns(width - 1, width)}"
        )
    return found


def usual_width(table: Sequence[Cells]) -> int:
    """Return a table's usual number of columns (the 90th percentile over its rows)."""
    widths = sorted(map(count_columns, table))
    return widths[math.ceil(NUMBER_SHARE * len(widths)) - 1] if widths else 0


def count_columns(cells: Cells) -> int:
    """Return a row's number of columns, not counting empty ones at the end."""
    return max((place for place, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def are_column_numbers(columns: tuple[str, str], first: Sequence[str]) -> bool:
    """Return whether `columns` are column numbers rather than all-digit names in the first line."""
    are_numbers = all(column.isascii() and column.isdigit() for column in columns)
    return are_numbers and not set(columns) <= set(first)


def find_named_columns(
    columns: tuple[str, str], first: tuple[str, ...], part: TextFile, is_csv: bool
) -> Layout:
    """Return the layout for columns given by their names in the header.

    If there is no exact match, case is ignored.

    Raises:
        ValueError: If a name is missing or occurs twice, or both names refer to the same column.
    """
    places = []
    for column in map(normalise_column_name, columns):
        found = [i for i, name in enumerate(first) if name == column] or [
            i for i, name in enumerate(first) if name.casefold() == column.casefold()
        ]
        if len(found) != 1:
            often = "more than one" if found else "no"
            reads = ", ".join(repr(name)[:40] for name in first[:9]) or "nothing"
            raise ValueError(
                f"{part} has {often} column {column!r} (its first line reads {reads}); expected "
                f"the names or the numbers of two columns, as in {name_columns(1, 2)}"
                f"{csv_hint(first, is_csv)}"
            )
        places += found
    if places[0] == places[1]:
        same = join_with_and(map(repr, columns))
        raise ValueError(f"{part}: {same} name the same column; expected two distinct columns")
    return Layout(places[0], places[1], first, len(first))


def name_columns(source: object, target: object) -> str:
    """Return advice on how to select the two columns, on the command line and in Python."""
    return f'--source {source} --target {target}, or columns=("{source}", "{target}") in Python'


def csv_hint(first: Sequence[str], is_csv: bool) -> str:
    """Return a hint to add --csv if the first line has commas or quotes, and "" otherwise.

    The hint is meant for an error message.
    """
    commas = len(first) == 1 and any(sign in first[0] for sign in ",;")
    quotes = any(len(name) > 1 and name[0] == name[-1] == '"' for name in first)
    said = f". If commas separate its columns, or quotes enclose its texts, {ADD_CSV}"
    return said if not is_csv and (commas or quotes) else ""


def has_header(table: Sequence[Cells], first: Sequence[str]) -> bool:
    """Return whether the first line of a table is a header.

    It counts as a header if at least two of its cells are common column names, if it numbers the
    columns, or if one of its cells is not a number although nearly all cells below it are numbers.
    """
    cells = [cell.lower() for cell in first]
    if len(set(cells)) == len(cells) and sum(map(is_column_name, cells)) >= 2:
        return True
    below = table[1:] if first else []
    if len(below) < MIN_ROWS:
        return False
    width = min(len(cells), *map(len, below))
    are_numbers = [
        describe_non_sentences(below, place).startswith("a number") for place in range(width)
    ]
    counted = [[str(place + start) for place in range(len(cells))] for start in (0, 1)]
    if len(cells) > 1 and cells in counted and not any(are_numbers):
        return True  # a table that was written without names of its own
    numbers = [
        bool(NUMBER.fullmatch(cell)) or cell in MISSING_VALUES - {""} for cell in cells[:width]
    ]
    return any(below > first for below, first in zip(are_numbers, numbers, strict=True))


def is_column_name(cell: str) -> bool:
    """Return whether a cell looks like a column name, such as "Sentence (EN)" or "eng_Latn"."""
    words = set(re.split(r"[\W\d_]+", cell)) - {""}
    is_code = (found := CODE.match(cell)) is not None and found[0] in {*LANGUAGES, *CODES}
    return is_code or (bool(words) and words <= HEADERS and cell[-1] not in ".!?")


def describe_non_sentences(table: Sequence[Cells], place: int) -> str:
    """Describe what a column holds instead of sentences, such as "a number on every line".

    Return "" if the column does hold sentences.
    """
    cells = [decode_cell(row[place]) for row in table]
    if len(set(cells)) == 1:
        return f"{cells[0]!r} on every line"
    numbers = [bool(NUMBER.fullmatch(c)) or c.lower() in MISSING_VALUES for c in cells]
    ids = [bool(ID.fullmatch(cell)) for cell in cells]
    for are, kind in ((numbers, "a number"), (ids, "an id or the name of a file")):
        if all(are):
            return f"{kind} on every line"
        if sum(are) >= NUMBER_SHARE * len(cells):
            return f"{kind} on {sum(are)} of {len(cells)} lines"
    few = len(set(cells)) <= LABEL_SHARE * len(cells)
    return f"only {len(set(cells))} different labels" if few else ""


def refuse_id_columns(table: Sequence[Cells], header: tuple[str, ...], part: TextFile) -> None:
    """Raise a ValueError if column 1 or 2 does not hold sentences.

    Numbers, ids, file names, labels, and the same text on every line do not count as sentences. If
    at least two columns hold sentences, the message suggests the first two.

    Tables with fewer than `MIN_ROWS` rows are not checked. In a table with two columns, only the
    first is checked, and only for increasing numbers. Numbers in any other order may be the text to
    translate.
    """
    below = [row for row in table[bool(header) :] if len(row) > 1]
    if len(below) < MIN_ROWS:
        return
    width = usual_width(below)
    kinds = [
        describe_non_sentences([r for r in below if len(r) >= width], place)
        for place in range(width)
    ]
    wrong = next((place for place, kind in enumerate(kinds[:2]) if kind), None)
    others = [place for place, kind in enumerate(kinds) if not kind][:2]
    # With only two columns, a column of ids or of one repeated text may be intended.
    if wrong is None or (len(kinds) == 2 and not kinds[wrong].startswith("a number")):
        return
    if len(kinds) == 2 and wrong == 1:
        return  # a number for each sentence can be learnt
    if len(kinds) == 2 and not counts_upwards(below):
        return  # numbers to write as words, say
    if len(others) < 2 and kinds[wrong].startswith("only"):
        return  # a column with a few words may be the one to translate
    said = f"column {wrong + 1} holds {kinds[wrong]}"
    if len(others) < 2:
        rising = (
            ". The numbers increase from line to line, as line numbers do. If they are text to be "
            "translated, shuffle the lines"
        )
        hint = rising if len(kinds) == 2 else ""
        raise ValueError(f"{part}: {said}; expected a sentence and its translation{hint}")
    names = [header[p] if len(header) == width else str(p + 1) for p in others]
    numbers = join_with_and(str(place + 1) for place in others)
    raise ValueError(
        f"{part}: {said}. Did you mean columns {numbers}? If so, use {name_columns(*names)}"
    )


def counts_upwards(rows: Sequence[Cells]) -> bool:
    """Return whether the numbers in the first column always increase, as line numbers do."""
    digits = ["".join(filter(str.isdecimal, decode_cell(row[0]))) for row in rows]
    numbers = [int(number) for number in digits if number]
    return all(one < other for one, other in pairwise(numbers))


def decode_cell(cell: Any) -> str:
    """Decode a cell for inspection, escaping any bytes that are not UTF-8."""
    return normalise_column_name(cell.decode(errors="backslashreplace"))


def normalise_column_name(text: str) -> str:
    """Return a column name in NFC, without invisible characters or surrounding spaces."""
    return to_nfc(remove_invisible(text)).strip()
