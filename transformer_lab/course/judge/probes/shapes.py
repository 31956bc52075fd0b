"""Probes for a result with the wrong shape: swapped, missing, extra, too long or too short axes."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

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
            return f"right, but axes {' and '.join(moved)} are swapped"
    if got.shape != want.shape and sorted(got.shape) == sorted(want.shape):
        return "the axes are transposed, and some numbers are wrong as well"
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
                return f"this is only the {which} entry along {name}, but all of them are needed"
        if is_numeric(want) and want.size:
            for what, reduce in REDUCTIONS.items():
                if is_same(got, reduce(want, axis=axis)):
                    return f"this is {what} along {name}, but the numbers themselves are needed"
    if axes:
        place = format_axis(axes[0], want.ndim)
        return f"{place}, of length {want.shape[axes[0]]}, is gone"
    return (
        "one axis is gone"
        if got.ndim
        else "this is one number for everything, but an array is needed"
    )


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
                rest = (
                    ", and without it everything is right"
                    if is_same(got.take(0, axis), want)
                    else ""
                )
                return f"there is one axis too many: {name}, of length 1{rest}"
            if is_numeric(got) and length:
                for what, reduce in REDUCTIONS.items():
                    if is_same(reduce(got, axis=axis), want):
                        return f"{what} along {name} would be right: that step is missing"
            return f"there is one axis too many: {name}, of length {length}"
    return "there is one axis too many"


def _is_in_order(short: list[Any], long: list[Any]) -> bool:
    """Return whether the short list is the long one with some entries left out."""
    rest = iter(long)
    return all(entry in rest for entry in short)


def find_wrong_length(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if an axis is too long or too short, and None otherwise.

    If possible, the hint says which entries are missing, or which should not be there.
    """
    if got.ndim != want.ndim or got.shape == want.shape:
        return None
    pairs = enumerate(zip(got.shape, want.shape, strict=True))
    axes = [axis for axis, (a, b) in pairs if a != b]
    if len(axes) != 1:
        return None
    (axis,) = axes
    a, b = got.shape[axis], want.shape[axis]
    name = format_axis(axis, want.ndim)
    long, short, n = (got, want, a - b) if a > b else (want, got, b - a)
    few = f"{name} has length {a}, {n} too {'many' if a > b else 'few'}"
    if want.ndim == 1:
        entries = f"{n} entr{'ies' if n > 1 else 'y'}"
        few = (
            f"there {'are' if n > 1 else 'is'} {entries} too many"
            if a > b
            else f"{entries} missing"
        )
    if not short.size:
        return few  # nothing is left that could be right
    first = is_same(np.delete(long, np.s_[:n], axis), short)
    last = is_same(np.delete(long, np.s_[-n:], axis), short)
    if first or last:
        end = "first" if first else "last"
        there = f"the {end} {n if n > 1 else 'one'}"
        verb = "should not be there" if a > b else "is missing" if n == 1 else "are missing"
        start = "" if want.ndim == 1 else f"{few}: "
        return f"{start}{there} {verb}; the rest is right"
    for step in range(2, 5):
        if b == a * step and is_same(np.repeat(got, step, axis), want):
            return f"each entry along {name} should occur {step} times in a row"
        if a == b * step and is_same(np.repeat(want, step, axis), got):
            return f"each entry along {name} occurs {step} times in a row, but should occur once"
    if want.ndim == 1 and _is_in_order(short.tolist(), long.tolist()):
        return f"{few}; the others are right"
    return few


def find_reshape(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the right numbers in the right order have the wrong shape, else None."""
    if got.shape == want.shape or got.size != want.size or want.size < 2:
        return None
    if is_same(got.ravel(), want.ravel()):
        return "the right numbers in the right order, in another shape"
    return None
