"""An error in an answer, in words: whose line it is, what stands in it, and what the error means."""

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

from transformer_lab.course.reasons import reason_for
from transformer_lab.course.words import kind_of

PACKAGE = str(Path(__file__).parents[1])
LIBRARIES = (sysconfig.get_path("stdlib"), "site-packages", "dist-packages", "<frozen", "<__array")
MOST = 5
"""As many names of a line are told with their sizes."""


class UnusableError(ValueError):
    """What was returned is not what was asked; the text says what is."""


class Watched:
    """An answer that can be asked afterwards what it returned, and whether it ever did.

    `look` gets to see what it returns.
    """

    def __init__(self, answer: Callable[..., Any], look: Callable[[Any], None]):
        self.answer, self.look = answer, look
        self.given: tuple[Any, ...] = ()
        self.returned: Any = None
        self.has_returned = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the answer, and keep what comes back."""
        self.given, self.has_returned = arguments, False
        self.returned = self.answer(*arguments, **named)
        self.has_returned = True
        self.look(self.returned)
        return self.returned


def complaint_about(error: BaseException, watched: Watched) -> str:
    """An error in words: whose it is, where and why, or what was returned if reading it failed."""
    if isinstance(error, UnusableError):
        return str(error)
    said = f"{type(error).__name__}: {shown_error(error)}"
    reason = reason_for(whole_text(error))
    why = f"\n  that is: {reason}" if reason else ""
    frame = learners_frame(error)
    if frame:
        return f"it stops with {said}{in_line(*frame)}{why}"
    if watched.has_returned:
        return f"it returns {kind_of(watched.returned)}, which cannot be used here ({said}){why}"
    if isinstance(error, TypeError):
        many = len(watched.given)
        return f"it cannot be called with the {many} arguments of this exercise ({said})"
    return f"it stops with {said}"


def shown_error(error: BaseException) -> str:
    """The first line of an error's text; an error may fail at that, too."""
    text = whole_text(error).strip().splitlines()
    return text[0][:160] if text else "no text"


def whole_text(error: BaseException) -> str:
    """All that an error says, if it can say it."""
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def learners_frame(error: BaseException) -> tuple[types.FrameType, int] | None:
    """Where the learner's own code was last: in no code of ours, and in no library's."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        ours = file.startswith((PACKAGE, *LIBRARIES[:1]))
        if not ours and not any(library in file for library in LIBRARIES[1:]):
            found = frame, line
    return found


def in_line(frame: types.FrameType, line: int) -> str:
    """The line, its text if that is at hand, and the shapes of what stands in it."""
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    sizes = ", ".join(sizes_in(text, frame.f_locals))
    where = f"\n  in your line {line}{': ' * bool(text)}{text}"
    return f"{where}\n  there {sizes}" if sizes else where


def sizes_in(text: str, known: Mapping[str, Any]) -> Iterator[str]:
    """What a line of code reads that has a shape or a length, `MOST` at most."""
    names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text))
    sizes = ((name, size_of(known[name])) for name in names if name in known)
    yield from islice((f"{name} {size}" for name, size in sizes if size), MOST)


def size_of(value: Any) -> str:
    """The shape of an array, the length of a list, a whole number as it is; of others nothing."""
    if isinstance(value, np.ndarray | Tensor):
        return f"has shape {tuple(value.shape)}"
    if type(value) in (list, tuple):
        return f"has length {len(value)}"
    if type(value) in (bool, int, float, type(None)):
        return f"is {value}"
    return ""
