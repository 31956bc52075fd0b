"""Which two columns of a table are the sentences: by their names, by their numbers, or the first two."""

import contextlib
import csv
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.packed import Part, lines_of, suffix_of
from transformer_lab.data.text import composed, without_invisible

Cells = list[bytes]
Row = tuple[int, Cells | str]
"""The number of a line, and its cells; a str says why there are none."""

PEEK = 200
"""Rows that are looked at before the first pair is read."""
ENOUGH = 5
"""Rows from which on it means something that all of them are alike."""
MOST = 0.9
"""A column is one of numbers or ids if so many of its cells are: a line may be bad."""
FEW = 0.05
"""A column is one of labels, as of domains, if it has no more different cells for each line."""
NUMBER = re.compile(r"[-+]?\d[\d.,:]*")
CODE = re.compile(r"[a-z]{2,3}(?=[_-][a-z]+$)")
ID = re.compile(
    r"(?=.*\d)[\W\d_]+"  # without a letter, as a date, a share or a number in brackets
    r"|(?=.*[\d_\\/@{}=|#])[!-~]+"  # one word with signs in it, as a URL
    r"|[^.]*\.[A-Za-z]\w{1,3}"  # the name of a file
)
NOTHING = {"", "nan", "na", "n/a", "null", "none"}
"""What stands in a column of numbers where there is none."""
CODES = (
    "ara bul cat ces chi cmn cze dan deu dut ell eng est fas fin fra fre ger gre heb hin hun ind ita "
    "jpn kor lav lit nld per pol por ron rum rus slk slo spa swe tha tur ukr vie zho"
).split()
"""The languages in three letters."""
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
"""What columns are called, in small letters."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of source and target in a row, from 0, and the names of all columns if it has any.

    A row of more columns than `width` is bad: a tab stands in a text, or the names are of others.
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
    has_first = bool(table) and table[0] is rows[0][1]
    first = [text_of(cell) for cell in table[0][: width_of(table[0])]] if has_first else []
    most, width = max(map(len, table), default=0), max(usual_width(table), len(first))
    if suffix_of(part.name) == ".csv" and not is_csv and most < 2:
        raise ValueError(f"{part}: no tab separates its columns; if commas do, add --csv")
    header = tuple(first) if looks_like_names(table, first) else ()
    if columns and is_numbers(columns, first):
        source, target = (int(column) - 1 for column in columns)
        if not 0 <= min(source, target) < max(source, target) < most:
            raise ValueError(
                f"{part} has {most} columns; expected {columns[0]} and {columns[1]} to be two of "
                f"them, counted from 1{comma_hint(first, is_csv)}"
            )
        return Layout(source, target, header, max(width, source + 1, target + 1))
    found = Layout(0, 1, header, width)
    if columns:
        found = named(columns, tuple(first), part, is_csv)
    else:
        refuse_ids(table, header, part)
    if found.header and len(first) < width:
        raise ValueError(
            f"{part}: its first line names {len(first)} columns, and the lines below have {width}; "
            f"expected a name for each, or numbers, as in --source {width - 1} --target {width}"
        )
    return found


def usual_width(table: Sequence[Cells]) -> int:
    """The columns of the widest row but for the few that are wider than nearly all."""
    widths = sorted(map(width_of, table))
    return widths[math.ceil(MOST * len(widths)) - 1] if widths else 0


def width_of(cells: Cells) -> int:
    """How many columns a row has, without the empty ones at its end."""
    return max((place for place, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def is_numbers(columns: tuple[str, str], first: Sequence[str]) -> bool:
    """Whether columns are asked for by their numbers: they are no names in the first line."""
    are_numbers = all(column.isascii() and column.isdigit() for column in columns)
    return are_numbers and not set(columns) <= set(first)


def named(columns: tuple[str, str], first: tuple[str, ...], part: Part, is_csv: bool) -> Layout:
    """The places of columns that the first line names, if need be in other capitals."""
    places = []
    for column in map(name_of, columns):
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
    return Layout(places[0], places[1], first, len(first))


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
    if len(set(cells)) == len(cells) and sum(map(is_column_name, cells)) >= 2:
        return True
    below = table[1:] if first else []
    if len(below) < ENOUGH:
        return False
    width = min(len(cells), *map(len, below))
    are_numbers = [kind_of(below, place).startswith("a number") for place in range(width)]
    counted = [[str(place + start) for place in range(len(cells))] for start in (0, 1)]
    if len(cells) > 1 and cells in counted and not any(are_numbers):
        return True  # a table that was written without names of its own
    numbers = [bool(NUMBER.fullmatch(cell)) or cell in NOTHING - {""} for cell in cells[:width]]
    return any(below > first for below, first in zip(are_numbers, numbers, strict=True))


def is_column_name(cell: str) -> bool:
    """Whether columns are called so: "Sentence (EN)", "text_eng", "eng_Latn"; a sentence ends."""
    words = set(re.split(r"[\W\d_]+", cell)) - {""}
    is_code = (found := CODE.match(cell)) is not None and found[0] in {*LANGUAGES, *CODES}
    return is_code or (bool(words) and words <= HEADERS and cell[-1] not in ".!?")


def kind_of(table: Sequence[Cells], place: int) -> str:
    """What the cells of a column are, and on how many lines, if they are no sentences; else nothing."""
    cells = [text_of(row[place]) for row in table]
    if len(set(cells)) == 1:
        return f"{cells[0]!r} on every line"
    numbers = [bool(NUMBER.fullmatch(c)) or c.lower() in NOTHING for c in cells]
    ids = [bool(ID.fullmatch(cell)) for cell in cells]
    for are, kind in ((numbers, "a number"), (ids, "an id or the name of a file")):
        if all(are):
            return f"{kind} on every line"
        if sum(are) >= MOST * len(cells):
            return f"{kind} on {sum(are)} of {len(cells)} lines"
    few = len(set(cells)) <= FEW * len(cells)
    return f"one of {len(set(cells))} labels on every line" if few else ""


def refuse_ids(table: Sequence[Cells], header: tuple[str, ...], part: Part) -> None:
    """A ValueError if one of the first two columns holds no sentences; it says which may be meant."""
    below = [row for row in table[bool(header) :] if len(row) > 1]
    if len(below) < ENOUGH:
        return
    width = usual_width(below)
    kinds = [kind_of([r for r in below if len(r) >= width], place) for place in range(width)]
    wrong = next((place for place, kind in enumerate(kinds[:2]) if kind), None)
    others = [place for place, kind in enumerate(kinds) if not kind][:2]
    # A column of ids, or of one text, may be meant if there are but two.
    if wrong is None or (len(kinds) == 2 and not kinds[wrong].startswith("a number")):
        return
    if len(kinds) == 2 and wrong == 1:
        return  # a number for each sentence can be learnt
    if len(others) < 2 and kinds[wrong].startswith("one of"):
        return  # a column of few words may be one to translate
    said = f"column {wrong + 1} is {kinds[wrong]}"
    if len(others) < 2:
        raise ValueError(f"{part}: {said}; expected a sentence and its translation")
    names = [header[p] if len(header) == width else str(p + 1) for p in others]
    numbers = " and ".join(str(place + 1) for place in others)
    raise ValueError(
        f"{part}: {said}; did you mean columns {numbers}? "
        f"Then say --source {names[0]} --target {names[1]}"
    )


def text_of(cell: Any) -> str:
    """A cell as text, whatever its bytes are, for a look at it."""
    return name_of(cell.decode(errors="backslashreplace"))


def name_of(text: str) -> str:
    """The name of a column in the one form in which names are compared."""
    return composed(without_invisible(text)).strip()
