"""The standard streams of a command: UTF-8 whatever the console says, and none of them missing."""

import codecs
import math
import os
import sys
import unicodedata
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from typing import Any, cast

LINES_AT_ONCE = 256
"""Of standard input: so many lines are translated, and printed, before the next are."""


OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Kinds of characters that a terminal obeys instead of showing them: control and format characters,
halves of characters, ends of lines and paragraphs."""
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs, as Unicode has it, that are drawn as nothing."""


def prepare_streams() -> None:
    """Make the standard streams ready for any command, once, before it prints or reads anything.

    What is printed is UTF-8, whatever the console's code page or PYTHONIOENCODING say, because the next
    command of a pipe reads UTF-8 (see `read_lines`). What UTF-8 cannot say is escaped, as a name of a
    file may hold half a character, and no result should be lost because of it.
    """
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a notebook has streams of another kind
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def open_closed_streams() -> None:
    """Where a standard stream is closed there is nothing to read, and what is written is lost.

    Its number would else be given to the next file, into which libraries would print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the smallest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def escaped(text: str) -> str:
    """A text from outside as one line to print: what a terminal would obey or not show is escaped."""
    return "".join(
        sign.encode("unicode_escape").decode()
        if unicodedata.category(sign) in OBEYED or sign in BLANKS
        else sign
        for sign in text
    )


def without_nan(value: Any) -> Any:
    """The same for JSON, which has no NaN: null, and beside it why, under NAME_reason."""
    if isinstance(value, list):
        return [without_nan(part) for part in value]
    if not isinstance(value, dict):
        return value
    whole = {name: without_nan(part) for name, part in value.items()}
    for name, part in value.items():
        if isinstance(part, float) and not math.isfinite(part):
            none = "there is no pair to measure it on" if math.isnan(part) else "it has no end"
            whole |= {name: None, f"{name}_reason": none}
    return whole


def read_lines() -> Iterator[list[str]]:
    """The lines of standard input, as many at a time as are there; what is no UTF-8 stays visible.

    Only line ends count: str.splitlines would also cut at other separators. A byte-order mark in front,
    as Windows writes one, is no part of the first line.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed; expected a sentence on each line")
    stream = cast(BufferedReader, sys.stdin.buffer)
    begun: list[bytes] = []  # the parts of a line whose end has not come yet
    if stream.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    while block := stream.read1(1 << 16):
        first, *others = block.split(b"\n")
        begun.append(first)
        if not others:
            continue
        *whole, rest = [b"".join(begun), *others]
        begun = [rest]
        for start in range(0, len(whole), LINES_AT_ONCE):
            yield [text_of(line) for line in whole[start : start + LINES_AT_ONCE]]
    if last := b"".join(begun):
        yield [text_of(last)]


def text_of(line: bytes) -> str:
    """A line as text; bytes that are no UTF-8 become halves of characters, which are refused."""
    return line.removesuffix(b"\r").decode("utf-8", errors="surrogateescape")
