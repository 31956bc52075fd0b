"""The search for what is wrong with the numbers of a result: probes on one case and on all.

`diagnosis` asks it about a result that has the right shape.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from transformer_lab.course.judge import probes
from transformer_lab.course.judge.attempt import Attempt
from transformer_lab.course.judge.closeness import is_close, is_equal, is_numeric
from transformer_lab.course.judge.probes.numbers import find_nan_or_infinity
from transformer_lab.course.judge.size_factors import find_size_error


def find_number_fault(attempt: Attempt, at: int, place: int) -> str | None:
    """Return a sentence on what is wrong with the numbers of one result, or None.

    Faults that explain all cases are tried first, then those of case `at`. `place` is the index of
    the result.
    """
    got, want = attempt.given[at].results[place], attempt.expected[at].results[place]
    pairs = [
        (g.results[place], w.results[place])
        for g, w in zip(attempt.given, attempt.expected, strict=True)
        if len(g.results) == len(w.results) and g.results[place].shape == w.results[place].shape
    ]
    finite = find_nan_or_infinity(got, want)
    if finite:
        return finite
    if len(pairs) > 1 and all(is_numeric(g) and is_numeric(w) for g, w in pairs):
        every = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
        found = probes.run_probes(probes.NUMBER_PROBES, *every)
        if found:
            return found
    return (
        find_argument_in_result(attempt, at, got, want)
        or find_size_error(attempt, place)
        or probes.run_probes(probes.PLACE_PROBES[:-1], got, want)
        or (probes.run_probes(probes.NUMBER_PROBES, got, want) if want.size > 2 else None)
        or (find_constant_result(pairs) if len(pairs) > 2 else None)
        or find_wrong_index(attempt, at, got, want)
    )


def find_fault_in_other_results(attempt: Attempt, at: int, place: int) -> str | None:
    """Return a sentence on what is wrong with a result other than number `place`, or None."""
    for n, name in enumerate(attempt.results):
        got, want = attempt.given[at].results[n], attempt.expected[at].results[n]
        if n == place or is_close(got, want, attempt.tolerance) or got.shape != want.shape:
            continue
        found = find_number_fault(attempt, at, n)
        if found:
            return f"look at {name} first: {found}"
    return None


def find_constant_result(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> str | None:
    """Return a sentence if the result is the same in every case although it should not be, or None."""
    first, wanted = pairs[0]
    if any(got.shape != first.shape for got, _ in pairs):
        return None
    if all(is_equal(got, first) for got, _ in pairs) and not all(
        is_equal(want, wanted) for _, want in pairs
    ):
        return "this is the same in every case: what is given does not enter"
    return None


def find_wrong_index(attempt: Attempt, at: int, got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a sentence if the result is an element of an argument, but at the wrong index; or None."""
    if got.ndim or want.ndim:
        return None
    for name, value in zip(attempt.names, attempt.cases[at], strict=False):
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


def find_argument_in_result(
    attempt: Attempt, at: int, got: np.ndarray, want: np.ndarray
) -> str | None:
    """Return a sentence if the result is an argument, or off by adding or multiplying one; or None."""
    if not is_numeric(got) or not is_numeric(want):
        return None
    case = attempt.cases[at]
    for name, value in zip(attempt.names, case, strict=False):
        if isinstance(value, bool) or not isinstance(value, int | float | np.ndarray | Tensor):
            continue
        x = np.asarray(value.detach() if isinstance(value, Tensor) else value)
        if not is_numeric(x) or not x.size or x.ndim > want.ndim:
            continue
        if x.shape == got.shape and got.ndim and is_close(got, x, 1e-6):
            return f"this is `{name}` as it came"
        if x.ndim == 0 or bool in (got.dtype, want.dtype, x.dtype):
            continue
        if any(a != b for a, b in zip(x.shape[::-1], want.shape[::-1], strict=False)):
            continue
        with np.errstate(all="ignore"):
            for sign, what in ((1, "too much"), (-1, "too little")):
                if is_close(got, want + sign * x, 1e-7):
                    return f"it is exactly `{name}` {what}"
            if is_close(got, want * x, 1e-7) or is_close(got * x, want, 1e-7):
                more = "once too often" if is_close(got, want * x, 1e-7) else "missing"
                return f"it is right but for a multiplication by `{name}`, which is {more}"
    return None
