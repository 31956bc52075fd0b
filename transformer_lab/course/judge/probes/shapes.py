"""Probes for a result with the wrong shape: swapped, missing, extra, too long or too short axes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_lab.config import join_with_and
from transformer_lab.course.judge.closeness import is_numeric
from transformer_lab.course.judge.probes.equality import format_axis, has_different_values, is_same

REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "the sum": np.sum,
    "the mean": np.mean,
    "the maximum": np.max,
    "the minimum": np.min,
    "the position of the largest number": np.argmax,
    "the product": np.prod,
}


def find_transposed_axes(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the axes are in the wrong order, and None otherwise.

    This also finds swapped axes of equal length, which the shape does not show.
    """
    if got.ndim != want.ndim or not 2 <= got.ndim <= 5 or not has_different_values(want):
        return None
    for order in itertools.permutations(range(got.ndim)):
        turned = got.transpose(order)
        if list(order) != sorted(order) and turned.shape == want.shape and is_same(turned, want):
            moved = [str(n) for n, axis in enumerate(order) if n != axis]
            how = "swapped" if len(moved) == 2 else "in the wrong order"
            return f"The numbers are right, but axes {join_with_and(moved)} are {how}"
    if got.shape != want.shape and sorted(got.shape) == sorted(want.shape):
        return "The axes are transposed, and some numbers are wrong as well"
    return None


def find_lost_axis(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if an axis is missing, and None otherwise.

    The hint may say, for example, that only the first entry along the axis is left, or only the
    sum, the mean or the maximum.
    """
    if got.ndim != want.ndim - 1:
        return None
    axes = [a for a in range(want.ndim) if got.shape == want.shape[:a] + want.shape[a + 1 :]]
    for axis in axes:
        name = format_axis(axis, want.ndim)
        for n, which in ((0, "first"), (-1, "last")):
            if want.shape[axis] and is_same(got, want.take(n, axis)):
                return f"Only the {which} entry along {name} is left, but all of them are needed"
        if is_numeric(want) and want.size:
            for what, reduce in REDUCTIONS.items():
                if is_same(got, reduce(want, axis=axis)):
                    return f"Only {what} along {name} is left, but all of the numbers are needed"
    if axes:
        place = format_axis(axes[0], want.ndim).capitalize()
        return f"{place}, which has length {want.shape[axes[0]]}, is missing"
    return "One axis is missing" if got.ndim else "A single number is given, but an array is needed"


def find_extra_axis(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the array has one axis too many, and None otherwise.

    If possible, the hint names the axis and the step that is missing along it.
    """
    if got.ndim != want.ndim + 1:
        return None
    for axis in range(got.ndim):
        if got.shape[:axis] + got.shape[axis + 1 :] == want.shape:
            name, length = format_axis(axis, got.ndim), got.shape[axis]
            if length == 1:
                is_rest_right = is_same(got.take(0, axis), want)
                rest = ". Without it, everything is right" if is_rest_right else ""
                return f"{name.capitalize()}, which has length 1, should not be there{rest}"
            if is_numeric(got) and length:
                for what, reduce in REDUCTIONS.items():
                    if is_same(reduce(got, axis=axis), want):
                        return f"The last step is missing: take {what} along {name}"
            return f"{name.capitalize()}, which has length {length}, should not be there"
    return "There is one axis too many"


def _is_in_order(short: list[Any], long: list[Any]) -> bool:
    """Return whether the short list is the long one with some entries left out."""
    rest = iter(long)
    return all(entry in rest for entry in short)


def find_wrong_length(got: np.ndarray, want: np.ndarray) -> str | None:
    """Say by how much one axis is too long or too short; return None for any other difference."""
    axis = _find_unequal_axis(got, want)
    if axis is None:
        return None
    a, b = got.shape[axis], want.shape[axis]
    n = abs(a - b)
    if want.ndim > 1:
        name = format_axis(axis, want.ndim).capitalize()
        return f"{name} has length {a}, which is too {'long' if a > b else 'short'} by {n}"
    if a > b:
        return f"There are {n} extra entries" if n > 1 else "There is 1 extra entry"
    return f"{n} entries are missing" if n > 1 else "1 entry is missing"


def _find_unequal_axis(got: np.ndarray, want: np.ndarray) -> int | None:
    """Return the axis whose lengths differ, or None unless exactly one axis differs."""
    pairs = enumerate(zip(got.shape, want.shape, strict=False))
    axes = [axis for axis, (a, b) in pairs if a != b]
    return axes[0] if got.ndim == want.ndim and len(axes) == 1 else None


def find_missing_entries(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint that says which entries along an axis are missing or superfluous, else None."""
    axis = _find_unequal_axis(got, want)
    if axis is None:
        return None
    a, b = got.shape[axis], want.shape[axis]
    long, short, n = (got, want, a - b) if a > b else (want, got, b - a)
    if not short.size:
        return None  # nothing is left that could be right
    first = is_same(np.delete(long, np.s_[:n], axis), short)
    last = is_same(np.delete(long, np.s_[-n:], axis), short)
    where = "" if want.ndim == 1 else f" along {format_axis(axis, want.ndim)}"
    if first or last:
        there = f"The {'first' if first else 'last'} {f'{n} entries' if n > 1 else 'entry'}{where}"
        verb = "should not be there" if a > b else "is missing" if n == 1 else "are missing"
        return f"{there} {verb}; the rest is right"
    for step in range(2, 5):
        if b == a * step and is_same(np.repeat(got, step, axis), want):
            return f"Each entry{where} should occur {step} times in a row"
        if a == b * step and is_same(np.repeat(want, step, axis), got):
            return f"Each entry{where} occurs {step} times in a row, but should occur once"
    return None


def find_left_out_entries(got: np.ndarray, want: np.ndarray) -> str | None:
    """Say how many entries of a list are missing or superfluous if the others are in order."""
    few = find_wrong_length(got, want) if got.ndim == 1 and got.size else None
    if few is None or not want.size:
        return None
    long, short = (got, want) if got.size > want.size else (want, got)
    return f"{few}; the others are right" if _is_in_order(short.tolist(), long.tolist()) else None


def find_reshape(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the right numbers in the right order have the wrong shape, else None."""
    if got.shape == want.shape or got.size != want.size or want.size < 2:
        return None
    if is_same(got.ravel(), want.ravel()):
        return "The numbers and their order are right, but the shape is not"
    return None
