"""What a command reads from standard input, and what it writes as JSON; streams that are closed."""

import math
import os
import sys
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, cast

LINES_AT_ONCE = 256
"""Of standard input: so many lines are translated, and printed, before the next are."""


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

    Only line ends count: str.splitlines would also cut at other separators.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed; expected a sentence on each line")
    stream = cast(BufferedReader, sys.stdin.buffer)
    begun: list[bytes] = []  # the parts of a line whose end has not come yet
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
