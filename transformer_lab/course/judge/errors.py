"""Explanations of an exception in a learner's answer: their line, its shapes, and what the error means.

`outcome.run_case` asks for them when an answer raises one.
"""

import linecache
import re
import sysconfig
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.error_reasons import find_reason
from transformer_lab.course.judge.formatting import describe_kind

PACKAGE = str(Path(__file__).parents[2])
LIBRARIES = (sysconfig.get_path("stdlib"), "site-packages", "dist-packages", "<frozen", "<__array")
MAX_NAMES = 5
"""The largest number of names in a line whose sizes are listed."""


class UnusableError(ValueError):
    """An answer returned something that cannot be compared; the text says what was expected."""


class RecordedAnswer:
    """A callable that wraps an answer, and records the arguments and the result of its last call."""

    def __init__(self, answer: Callable[..., Any]):
        self.answer = answer
        self.given: tuple[Any, ...] = ()
        self.returned: Any = None
        self.has_returned = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the answer, record what it returns, and return the same."""
        self.given, self.has_returned = arguments, False
        self.returned = self.answer(*arguments, **named)
        self.has_returned = True
        return self.returned


def describe_error(error: BaseException, watched: RecordedAnswer) -> str:
    """Explain an exception in a few lines: the learner's line that raised it, and what it means.

    If the answer returned and only reading the result failed, the text says what was returned.
    """
    if isinstance(error, UnusableError):
        return str(error)
    said = f"{type(error).__name__}: {error_headline(error)}"
    reason = find_reason(error_text(error))
    why = f"\n  that is: {reason}" if reason else ""
    frame = find_learner_frame(error)
    if frame:
        return f"it stops with {said}{describe_line(*frame)}{why}"
    if watched.has_returned:
        return (
            f"it returns {describe_kind(watched.returned)}, which cannot be used here ({said}){why}"
        )
    if isinstance(error, TypeError):
        many = len(watched.given)
        return f"it cannot be called with the {many} arguments of this exercise ({said})"
    return f"it stops with {said}"


def error_headline(error: BaseException) -> str:
    """Return the first line of an exception's text, at most 160 characters."""
    text = error_text(error).strip().splitlines()
    return text[0][:160] if text else "no text"


def error_text(error: BaseException) -> str:
    """Return the whole text of an exception, or a remark if `str` itself fails."""
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def find_learner_frame(error: BaseException) -> tuple[types.FrameType, int] | None:
    """Return the last frame and line of the traceback in the learner's own code, or None."""
    return next(reversed(list(iterate_learner_frames(error))), None)


def iterate_learner_frames(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """Iterate over the frames and lines of a traceback in the learner's own code, the outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        ours = file.startswith((PACKAGE, *LIBRARIES[:1]))
        if not ours and not any(library in file for library in LIBRARIES[1:]):
            yield frame, line


def describe_line(frame: types.FrameType, line: int) -> str:
    """Return a line of code as text: its number, its source if known, and the shapes of its variables."""
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    sizes = ", ".join(describe_sizes(text, frame.f_locals))
    where = f"\n  in your line {line}{': ' * bool(text)}{text}"
    return f"{where}\n  there {sizes}" if sizes else where


def describe_sizes(text: str, known: Mapping[str, Any]) -> Iterator[str]:
    """Yield the variables of a line of code that have a shape, a length or a plain value, with it.

    There are at most `MAX_NAMES`. `known` maps names to values.
    """
    names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
    sizes = ((name, describe_size(known[name])) for name in names if name in known)
    yield from islice((f"{name} {size}" for name, size in sizes if size), MAX_NAMES)


def describe_size(value: Any) -> str:
    """Return the shape of an array, the length of a list or the value of a number as text, or else ""."""
    if isinstance(value, np.ndarray | Tensor):
        return f"has shape {tuple(value.shape)}"
    if type(value) in (list, tuple):
        return f"has length {len(value)}"
    if type(value) in (bool, int, float, type(None)):
        return f"is {value}"
    return ""
