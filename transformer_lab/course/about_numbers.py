"""What is wrong with the numbers of an answer: the probes, asked of all cases and of the smallest."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from transformer_lab.course import probes
from transformer_lab.course.answered import Answered
from transformer_lab.course.by_size import by_size
from transformer_lab.course.comparing import close, is_number, same_values
from transformer_lab.course.probes.numbers import not_a_number


def about_numbers(answered: Answered, at: int, place: int) -> str | None:
    """What the probes find: in all cases together, then in the smallest that fails."""
    got, want = answered.given[at].results[place], answered.expected[at].results[place]
    pairs = [
        (g.results[place], w.results[place])
        for g, w in zip(answered.given, answered.expected, strict=True)
        if len(g.results) == len(w.results) and g.results[place].shape == w.results[place].shape
    ]
    finite = not_a_number(got, want)
    if finite:
        return finite
    if len(pairs) > 1 and all(is_number(g) and is_number(w) for g, w in pairs):
        every = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
        found = probes.first_of(probes.NUMBERS, *every)
        if found:
            return found
    return (
        same_as_argument(answered, at, got, want)
        or by_size(answered, place)
        or probes.first_of(probes.PLACES[:-1], got, want)
        or (probes.first_of(probes.NUMBERS, got, want) if want.size > 2 else None)
        or (never_changes(pairs) if len(pairs) > 2 else None)
        or elsewhere(answered, at, got, want)
    )


def about_others(answered: Answered, at: int, place: int) -> str | None:
    """What the probes find in the other results, where they find nothing in this one."""
    for n, name in enumerate(answered.results):
        got, want = answered.given[at].results[n], answered.expected[at].results[n]
        if n == place or close(got, want, answered.tolerance) or got.shape != want.shape:
            continue
        found = about_numbers(answered, at, n)
        if found:
            return f"look at {name} first: {found}"
    return None


def never_changes(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> str | None:
    """The same result in every case, where the right one is not."""
    first, wanted = pairs[0]
    if any(got.shape != first.shape for got, _ in pairs):
        return None
    if all(same_values(got, first) for got, _ in pairs) and not all(
        same_values(want, wanted) for _, want in pairs
    ):
        return "this is the same in every case: what is given does not enter"
    return None


def elsewhere(answered: Answered, at: int, got: np.ndarray, want: np.ndarray) -> str | None:
    """A single value that stands in an argument, at another place than the one asked for."""
    if got.ndim or want.ndim:
        return None
    for name, value in zip(answered.names, answered.cases[at], strict=False):
        if not isinstance(value, np.ndarray | Tensor | list | tuple) or not len(value):
            continue
        x = np.asarray(value.detach() if isinstance(value, Tensor) else value, dtype=None)
        if x.dtype.kind not in "biufU" or (x.dtype.kind == "U") != (got.dtype.kind == "U"):
            continue
        mine, theirs = np.argwhere(x == got), np.argwhere(x == want)
        if len(mine) and len(theirs):
            found, asked = (", ".join(map(str, p[0].tolist())) for p in (mine, theirs))
            return f"this stands at {name}[{found}]; what is asked stands at {name}[{asked}]"
    return None


def same_as_argument(answered: Answered, at: int, got: np.ndarray, want: np.ndarray) -> str | None:
    """An argument is returned as it came, or was added once too often or too seldom."""
    if not is_number(got) or not is_number(want):
        return None
    case = answered.cases[at]
    for name, value in zip(answered.names, case, strict=False):
        if isinstance(value, bool) or not isinstance(value, int | float | np.ndarray | Tensor):
            continue
        x = np.asarray(value.detach() if isinstance(value, Tensor) else value)
        if not is_number(x) or not x.size or x.ndim > want.ndim:
            continue
        if x.shape == got.shape and got.ndim and close(got, x, 1e-6):
            return f"this is `{name}` as it came"
        if x.ndim == 0 or bool in (got.dtype, want.dtype, x.dtype):
            continue
        if any(a != b for a, b in zip(x.shape[::-1], want.shape[::-1], strict=False)):
            continue
        with np.errstate(all="ignore"):
            for sign, what in ((1, "too much"), (-1, "too little")):
                if close(got, want + sign * x, 1e-7):
                    return f"it is exactly `{name}` {what}"
            if close(got, want * x, 1e-7) or close(got * x, want, 1e-7):
                more = "once too often" if close(got, want * x, 1e-7) else "missing"
                return f"it is right but for a multiplication by `{name}`, which is {more}"
    return None
