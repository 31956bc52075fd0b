"""Prepare a command's standard streams, so that they are UTF-8 and never closed.

`command.main` uses this module.
"""

import codecs
import math
import os
import sys
from collections.abc import Iterator
from io import BufferedReader, TextIOWrapper
from typing import Any, cast

LINES_AT_ONCE = 256
"""The maximum number of input lines that are translated and printed at a time."""


def prepare_streams() -> None:
    """Prepare the standard streams once, before a command prints or reads anything.

    Output is UTF-8, whatever the console's code page or PYTHONIOENCODING says, because the next
    command in a pipe reads UTF-8 (see `read_lines`). Characters that UTF-8 cannot encode are
    escaped, so a lone surrogate in a file name cannot cause output to be lost.
    """
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a notebook has streams of another kind
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def open_closed_streams() -> None:
    """Open the null device in place of each standard stream that is closed.

    Otherwise the next file to be opened would get the stream's file descriptor, and libraries would
    print into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def replace_nan(value: Any) -> Any:
    """Return a JSON value with None in place of each field that is NaN or infinite.

    For each such field NAME, a field NAME_reason is added that gives the reason.
    """
    if isinstance(value, list):
        return [replace_nan(part) for part in value]
    if not isinstance(value, dict):
        return value
    whole = {name: replace_nan(part) for name, part in value.items()}
    for name, part in value.items():
        if isinstance(part, float) and not math.isfinite(part):
            none = "there are no pairs to measure it on" if math.isnan(part) else "it is infinite"
            whole |= {name: None, f"{name}_reason": none}
    return whole


def read_lines() -> Iterator[list[str]]:
    """Yield lists of lines from standard input, as soon as they arrive.

    Only a line feed ends a line, whereas `str.splitlines` would also split at other separators. A
    byte-order mark at the beginning, which Windows writes, is dropped.

    Raises:
        ValueError: If standard input is closed.
    """
    if sys.stdin is None:
        raise ValueError("standard input is closed; expected one sentence per line")
    stream = cast(BufferedReader, sys.stdin.buffer)
    begun: list[bytes] = []  # the parts of a line whose end has not arrived yet
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
            yield [decode_line(line) for line in whole[start : start + LINES_AT_ONCE]]
    if last := b"".join(begun):
        yield [decode_line(last)]


def decode_line(line: bytes) -> str:
    """Decode a line; bytes that are not UTF-8 become surrogates, which the translator refuses."""
    return line.removesuffix(b"\r").decode("utf-8", errors="surrogateescape")
