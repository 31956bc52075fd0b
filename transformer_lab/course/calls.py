"""What an answer gives to the functions and parts that it calls: the first that gets another thing.

An answer of several steps is right up to one of them. Where it calls what it was given, a function or a
module, or the parts of the class that it is, this is seen from outside.
"""

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from transformer_lab.course.comparing import close, is_number
from transformer_lab.course.probes import NUMBERS, PLACES, SHAPES, first_of
from transformer_lab.course.reading import as_array
from transformer_lab.course.words import kind_of

MOST = 200
"""Calls that are kept; who needs more is lost in a loop."""
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Call:
    """One call: of what, and with which arrays. `None` stands for what is no array."""

    name: str
    given: tuple[np.ndarray | None, ...]


class Calls:
    """Keeps what functions and parts of modules are called with.

    Attributes:
        kept: The calls, in the order in which they were begun.
    """

    def __init__(self) -> None:
        self.kept: list[Call] = []

    def keep(self, name: str, given: Iterable[Any]) -> None:
        """Keep one call."""
        if len(self.kept) < MOST:
            self.kept.append(Call(name, tuple(map(array_or_none, given))))

    def watched(self, name: str, value: Any) -> Any:
        """The same function or module, whose calls are kept; anything else as it is."""
        if isinstance(value, types.FunctionType):
            return self.around(name, value)
        self.watch(value, f"{name}.")
        return value

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its calls kept."""

        @functools.wraps(function)
        def kept(*given: Any, **named: Any) -> Any:
            self.keep(name, (*given, *named.values()))
            return function(*given, **named)

        return kept

    def watch(self, module: Any, before: str = "") -> None:
        """Keep what each part of a module gets; anything else has no parts."""
        if not isinstance(module, nn.Module):
            return

        def hook(name: str) -> Callable[..., None]:
            def keep(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
                self.keep(name, (*given, *named.values()))

            return keep

        for name, part in module.named_children():
            if not any(True for _ in part.parameters()):
                continue  # how a class calls what has none is its own affair
            part.register_forward_pre_hook(hook(before + name), with_kwargs=True)


def array_or_none(value: Any) -> np.ndarray | None:
    """What was given as an array that later changes cannot reach; `None` if it is none."""
    try:
        return as_array(value).copy()
    except Exception:  # what a learner hands on may be anything
        return None


def first_other_call(got: Sequence[Call], want: Sequence[Call]) -> str | None:
    """Which call is the first that differs from those of the reference, and how."""
    if not want or len(got) == MOST:
        return None
    right: list[str] = []
    for n, call in enumerate(want):
        earlier = sum(other.name == call.name for other in want[:n])
        many = sum(other.name == call.name for other in want)
        mine = [other for other in got if other.name == call.name]
        which = f"`{call.name}`" if many == 1 else f"`{call.name}`, in call {earlier + 1},"
        if len(mine) <= earlier:
            times = f"{len(mine)} times" if len(mine) != 1 else "once"
            said = f"`{call.name}` is called {times}; {many} calls are asked"
            return f"`{call.name}` is never called" if not mine else said
        how = difference(mine[earlier].given, call.given)
        if how is not None:
            until = f"; until there all is right ({', '.join(right[-4:])})" if right else ""
            return f"what {which} gets is not right{how}{until}"
        right = [*dict.fromkeys([*right, call.name])]
    if any(sum(o.name == c.name for o in got) > sum(o.name == c.name for o in want) for c in got):
        return None
    each = ", ".join(f"`{name}`" for name in right)
    return f"what {each} get{'s' * (len(right) == 1)} is right; look at what comes behind"


def difference(got: Sequence[np.ndarray | None], want: Sequence[np.ndarray | None]) -> str | None:
    """How one call's arguments differ, beginning with a colon; "" if nothing can be said of it."""
    if len(got) != len(want):
        return f": {len(got)} arguments, where {len(want)} are asked"
    for n, (a, b) in enumerate(zip(got, want, strict=True)):
        where = f" argument {n + 1}:" if len(want) > 1 else ""
        if (a is None) != (b is None):
            return f":{where} {kind_of(a)}, where {kind_of(b)} is asked"
        if a is None or b is None or (a.dtype.kind in "OU" and a.dtype == b.dtype):
            continue
        if a.shape != b.shape:
            how = first_of(SHAPES, a, b)
            return f":{where} its shape is {a.shape}; asked is {b.shape}" + (
                f" ({how})" * bool(how)
            )
        if not close(a, b, TOLERANCE):
            is_many = is_number(a) and is_number(b) and b.size > 2
            found = first_of((*NUMBERS, *PLACES[:-1]), a, b) if is_many else None
            which = f" (argument {n + 1})" if len(want) > 1 else ""
            return f"{which}: {found}" if found else which
    return None
