"""Small comparisons of two arrays, shared by all probes."""

import numpy as np

from transformer_lab.course.judge.closeness import is_close

TOLERANCE = 1e-6


def is_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays agree to within 1e-6 (see `is_close`)."""
    return is_close(a, b, TOLERANCE)


def is_comparable(got: np.ndarray, want: np.ndarray) -> bool:
    """Return whether two arrays have the same shape and both hold numbers, not booleans."""
    return got.shape == want.shape and all(x.dtype.kind in "iuf" for x in (got, want))


def has_different_values(x: np.ndarray) -> bool:
    """Return whether an array holds at least two different values."""
    return len(np.unique(x)) > 1


def format_axis(axis: int, ndim: int) -> str:
    """Return an axis as text: "axis 1", followed by "(the last)" if it is the last of several."""
    return f"axis {axis}" + (" (the last)" if axis == ndim - 1 and ndim > 1 else "")


def name_entries(axis: int, ndim: int) -> str:
    """Return the beginning of a sentence about the entries along an axis."""
    return "The entries" if ndim == 1 else f"The entries along {format_axis(axis, ndim)}"


def name_line(axis: int, ndim: int) -> str:
    """Return what one line of numbers along an axis is called: a row, a column or just a line."""
    names = {ndim - 1: "row", ndim - 2: "column"}
    return names.get(axis, f"line along {format_axis(axis, ndim)}")
