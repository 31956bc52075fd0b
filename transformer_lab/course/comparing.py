"""When two arrays are equal enough, and of the same kind."""

import numpy as np


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal shapes and kinds, no number off by more than the tolerance; NaN equals NaN."""
    if a.shape != b.shape or (a.dtype == bool) != (b.dtype == bool):
        return False
    if not (is_number(a) and is_number(b)):
        return is_number(a) == is_number(b) and same_values(a, b)
    return bool(near(a, b, tolerance).all())


def same_values(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays of anything hold the same; NumPy 2.0 itself fails at some kinds."""
    return a.shape == b.shape and bool(np.all(a == b))


def near(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Where two arrays of numbers are equal up to a part of their size, or of the largest of b.

    A number in single precision cannot be nearer than that, and is right all the same.
    """
    if np.float32 in (a.dtype, b.dtype) and tolerance > 0:
        tolerance = max(tolerance, 5e-6)
    finite = np.abs(b[np.isfinite(b)].astype(float))
    size = finite.max() if finite.size else 0.0
    with np.errstate(all="ignore"):
        return np.isclose(a, b, rtol=tolerance, atol=tolerance * (size or 1.0), equal_nan=True)


def same_kind(given: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether truth values are given for truth values, and whole numbers for whole numbers."""
    if wanted.dtype.kind in "iu" and given.dtype.kind == "f":
        return False
    return (given.dtype == bool) == (wanted.dtype == bool)


def is_number(array: np.ndarray) -> bool:
    """Whether an array holds numbers or truth values, which can be subtracted."""
    return array.dtype.kind in "biuf"
