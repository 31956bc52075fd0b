"""Explanations of exceptions in a learner's answer: the line, its shapes and what the error means.

`outcome.run_case` uses them when an answer raises an exception.
"""

import dis
import inspect
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

from transformer_lab.course.judge.error_reasons import NONE, explain_none, find_reason
from transformer_lab.course.judge.formatting import describe_kind, end_sentence, short_repr

PACKAGE = str(Path(__file__).parents[2])
LIBRARIES = (sysconfig.get_path("stdlib"), "site-packages", "dist-packages", "<frozen", "<__array")
MAX_NAMES = 5
"""The maximum number of variables whose sizes are listed for one line of code."""


class UnusableError(ValueError):
    """Raised if an answer cannot be compared; the message says why."""


class NotComparableError(UnusableError):
    """Raised if an answer returns something no exercise asks for, such as a dict or a function.

    Attributes:
        value: The result that no exercise asks for.
        place: The index of that result.
        count: The number of results.
        returned: Everything that was returned.
    """

    place, count = 0, 1

    def __init__(self, value: Any):
        super().__init__(f"a result cannot be compared: {short_repr(value)}")
        self.value = self.returned = value


class RecordedAnswer:
    """A callable that wraps an answer and records the arguments and the result of its last call."""

    def __init__(self, answer: Callable[..., Any]):
        self.answer = answer
        self.given: tuple[Any, ...] = ()
        self.returned: Any = None
        self.has_returned = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the answer, and record and return its result."""
        self.given, self.has_returned = arguments, False
        self.returned = self.answer(*arguments, **named)
        self.has_returned = True
        return self.returned


def describe_error(error: BaseException, watched: RecordedAnswer) -> str:
    """Explain an exception in a few lines: the learner's line that raised it, and what it means.

    If the answer returned normally but its result cannot be read, the text says what it returned.
    """
    if isinstance(error, UnusableError):
        return end_sentence(str(error))
    kind = type(error).__name__
    said = f"{kind}: {error_headline(error)}"
    frame = find_learner_frame(error)
    reason = (frame and "NoneType" in said and explain_given_none(*frame, watched)) or (
        find_reason(f"{kind}: {error_text(error)}", read_line(*frame) if frame else "")
    )
    if frame and reason == NONE:
        reason = explain_made_none(*frame, watched)
    why = f"\n  Why: {end_sentence(reason)}" if reason else ""
    if frame:
        return f"your answer raises {said}{describe_line(*frame)}{why}"
    if watched.has_returned:
        kind_returned = describe_kind(watched.returned)
        return f"your answer returns {kind_returned}, which the check cannot use ({said}).{why}"
    if isinstance(error, TypeError):
        many = len(watched.given)
        noun = "argument" if many == 1 else "arguments"
        return f"your answer is called with {many} {noun}, which fails ({said})."
    return f"your answer raises {said}"


def read_line(frame: types.FrameType, line: int) -> str:
    """Return a line of code from a frame, or "" if its source is unknown."""
    return linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()


def explain_made_none(frame: types.FrameType, line: int, watched: RecordedAnswer) -> str:
    """Explain an error caused by a None that came from an assignment or a call, not an argument."""
    text = read_line(frame, line)
    has_name = any(frame.f_locals.get(name, 0) is None for name in find_names(text))
    return explain_none(text, read_source(watched.answer) if has_name else "")


def read_source(answer: Callable[..., Any]) -> str:
    """Return the source of an answer, or "" if it is unknown."""
    try:
        return inspect.getsource(inspect.unwrap(answer))
    except (OSError, TypeError):
        return ""


def explain_given_none(frame: types.FrameType, line: int, watched: RecordedAnswer) -> str | None:
    """Explain an error caused by an argument that is None, or return None if that is not the cause.

    Only an argument that was None from the start counts. If the function itself set it to None, the
    cause is one of its own lines.
    """
    code = frame.f_code
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    answer = inspect.unwrap(watched.answer)
    is_answer = getattr(answer, "__code__", None) is code
    given: Mapping[str, Any] = frame.f_locals
    if is_answer:
        bound = inspect.signature(answer).bind(*watched.given)
        bound.apply_defaults()
        given = bound.arguments
    made = set(find_stored_names(code))
    for name in find_names(read_line(frame, line)):
        if name not in parameters or (name in made and not is_answer):
            continue
        if frame.f_locals.get(name, 0) is None and given.get(name, 0) is None:
            who = "not every case passes" if is_answer else "the caller does not pass"
            return f"the argument `{name}` is None here, because {who} a value for it"
    return None


def find_stored_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of the variables that a function assigns, including nonlocals and globals."""
    for step in dis.get_instructions(code):
        if step.opname.startswith("STORE_") and step.opname != "STORE_ATTR":
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            # Since Python 3.13, one instruction can store two variables, or store one and load
            # another.
            yield from names[:1] if "LOAD" in step.opname else names


def find_names(text: str) -> Iterator[str]:
    """Yield the names of the variables in a line of code, without duplicates."""
    return iter(dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_]\w*", text)))


def error_headline(error: BaseException) -> str:
    """Return the first line of an exception's text, at most 160 characters."""
    text = error_text(error).strip().splitlines()
    return text[0][:160] if text else "(no message)"


def error_text(error: BaseException) -> str:
    """Return the whole text of an exception, or a placeholder if `str` itself fails."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be read)"


def find_learner_frame(error: BaseException) -> tuple[types.FrameType, int] | None:
    """Return the innermost frame in the learner's own code and its line number, or None."""
    return next(reversed(list(iterate_learner_frames(error))), None)


def iterate_learner_frames(error: BaseException) -> Iterator[tuple[types.FrameType, int]]:
    """Yield the frames in the learner's own code, each with its line number, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        ours = file.startswith((PACKAGE, *LIBRARIES[:1]))
        if not ours and not any(library in file for library in LIBRARIES[1:]):
            yield frame, line


def describe_line(frame: types.FrameType, line: int) -> str:
    """Describe a line of code: its number, its source if known, and the shapes of its variables."""
    text = read_line(frame, line)
    sizes = ", ".join(describe_sizes(text, frame.f_locals))
    where = f"\n  on line {line} of your code{': ' * bool(text)}{text}"
    return f"{where}\n  at that point, {sizes}" if sizes else where


def describe_sizes(text: str, known: Mapping[str, Any]) -> Iterator[str]:
    """Yield a description of each variable in a line of code: its shape, its length or its value.

    At most `MAX_NAMES` are described, and variables of other types are left out. `known` maps names
    to values.
    """
    sizes = ((name, describe_size(known[name])) for name in find_names(text) if name in known)
    yield from islice((f"{name} {size}" for name, size in sizes if size), MAX_NAMES)


def describe_size(value: Any) -> str:
    """Return an array's shape, a list's length or a number's value as text; "" for other values."""
    if isinstance(value, np.ndarray | Tensor):
        return f"has shape {tuple(value.shape)}"
    if type(value) in (list, tuple):
        return f"has length {len(value)}"
    if type(value) in (bool, int, float, type(None)):
        return f"is {value}"
    return ""
