"""Sentence pairs in files: lines with a tab, or JSON, as they are or compressed; one after another."""

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from transformer_lab.config import check
from transformer_lab.data.pair import Pair

COLUMNS = ("source", "target")
"""What the two sides are called in JSON lines that do not name languages."""
JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The pairs that were read, and how many were left out because their line is bad."""

    pairs: list[Pair]
    left_out: int


def read_pairs(
    path: Path | str, columns: tuple[str, str] = COLUMNS, *, skip_bad: bool = False
) -> ReadResult:
    """Read a whole file of sentence pairs in UTF-8; see `pairs_in` for its forms.

    `skip_bad` leaves out bad lines and counts them.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is bad, the file is damaged, or there is no pair.
    """
    pairs, left_out = [], 0
    for pair in pairs_in(path, columns, skip_bad=skip_bad):
        if pair is None:
            left_out += 1
        else:
            pairs.append(pair)
    if not pairs:
        raise ValueError(f"{path}: no pairs ({left_out} bad lines); expected at least one")
    return ReadResult(pairs, left_out)


def pairs_in(
    path: Path | str, columns: tuple[str, str] = COLUMNS, *, skip_bad: bool = False
) -> Iterator[Pair | None]:
    """The pairs of a file, one after another; with `skip_bad`, None for a line that is bad.

    A file is read as JSON lines where its name ends in .jsonl or .ndjson, else as lines of a
    sentence, a tab and its translation; it is unpacked where it ends in .gz or .zst. A line of JSON
    has `columns` as its keys, or under "translation". In other lines columns after the second are
    not read. Windows line ends, a byte-order mark and empty lines at the end are no fault.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8, has not both sides, or an empty one; or what is packed is
            damaged.
    """
    path = Path(path)
    is_json = Path(path.name.removesuffix(".gz").removesuffix(".zst")).suffix in JSON_LINES
    for number, line in enumerate(lines_of(path), start=1):
        place = f"{path}, line {number}"
        try:
            yield pair_of_json(line, columns, place) if is_json else pair_of(line, place)
        except ValueError:
            if not skip_bad:
                raise
            yield None


def pair_of(line: bytes, place: str) -> Pair:
    """The pair of one line; a ValueError says where it is and why it is none."""
    source, tab, rest = line.partition(b"\t")
    sentence = sentence_of(source, place)
    if not tab:
        raise ValueError(f"{place}: no tab; expected a sentence, a tab and its translation")
    return Pair(sentence, sentence_of(rest.split(b"\t")[0], place))


def sentence_of(raw: bytes, place: str) -> str:
    """One side of a pair as text; a ValueError if it is not UTF-8, or empty."""
    try:
        sentence = raw.decode().strip()
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}: byte {raw[error.start]:#04x}; expected UTF-8") from None
    if not sentence:
        raise ValueError(f"{place}: an empty side; expected a sentence")
    return sentence


def pair_of_json(line: bytes, columns: tuple[str, str], place: str) -> Pair:
    """The pair of one line of JSON; a ValueError says where it is and why it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"{place}: no JSON; expected an object on each line") from None
    return pair_of_row(row, columns, place)


def pair_of_row(row: Any, columns: tuple[str, str], place: str) -> Pair:
    """The pair of a row with named columns; a ValueError says where it is and why it is none.

    Spaces, tabs and line ends within a sentence become one space each, as lines of text need it.
    """
    sides = row.get("translation", row) if isinstance(row, dict) else row
    there = sorted(map(str, sides)) if isinstance(sides, dict) else type(sides).__name__
    texts = []
    for column in columns:
        text = sides.get(column) if isinstance(sides, dict) else None
        if not isinstance(text, str):
            raise ValueError(f"{place}: no text {column!r} in {there}; expected {columns}")
        if not text.strip():
            raise ValueError(f"{place}: an empty side; expected a sentence")
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError(f"{place}: half a character; expected UTF-8")
        texts.append(" ".join(text.split()))
    return Pair(*texts)


def lines_of(path: Path) -> Iterator[bytes]:
    """The lines of a file, without empty ones after the last."""
    empty = 0
    with unpacked(path) as file:
        for number, line in enumerate(file):
            line = line.removeprefix(codecs.BOM_UTF8) if number == 0 else line
            if line.strip():
                yield from [b""] * empty
                empty = 0
                yield line.removesuffix(b"\n")
            else:
                empty += 1


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file as bytes, without its packing; a ValueError if that is damaged."""
    damaged: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile)
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as file:
                yield cast(IO[bytes], file)
        elif path.suffix == ".zst":
            zstd = zstd_for(path)
            damaged += (zstd.ZstdError,)
            with zstd.open(path) as file:
                yield file
        else:
            with path.open("rb") as file:
                yield file
    except damaged as error:
        raise ValueError(f"{path}: damaged: {error}; expected a whole {path.suffix} file") from None


def zstd_for(path: Path) -> Any:
    """The library that unpacks .zst; a ValueError says how to get it."""
    try:
        from backports import zstd
    except ImportError:
        expected = 'pip install "transformer-lab[corpora]" for .zst'
        check("corpus", str(path), expected, holds=False)
    return zstd
