"""Compare two arrays: are they equal within a tolerance, and of the same kind?

All comparisons of results in the judge use this module.
"""

import numpy as np


def is_close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Return whether two arrays have the same shape and all numbers agree within the tolerance.

    NaN equals NaN, booleans never equal numbers, and strings must be identical.
    """
    if a.shape != b.shape or (a.dtype == bool) != (b.dtype == bool):
        return False
    if not (is_numeric(a) and is_numeric(b)):
        return is_numeric(a) == is_numeric(b) and is_equal(a, b)
    return bool(close_elements(a, b, tolerance).all())


def is_equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays of any dtype are equal.

    This avoids `np.array_equal`, which fails for some dtypes in NumPy 2.0.
    """
    return a.shape == b.shape and bool(np.all(a == b))


def close_elements(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Return a boolean array that is True where two arrays agree within a relative tolerance.

    A difference up to the tolerance times the largest absolute value in b is accepted as well. For
    float32, the tolerance is at least 5e-6, because single precision is no better than that.
    """
    if np.float32 in (a.dtype, b.dtype) and tolerance > 0:
        tolerance = max(tolerance, 5e-6)
    finite = np.abs(b[np.isfinite(b)].astype(float))
    size = finite.max() if finite.size else 0.0
    with np.errstate(all="ignore"):
        return np.isclose(a, b, rtol=tolerance, atol=tolerance * (size or 1.0), equal_nan=True)


def is_same_kind(given: np.ndarray, wanted: np.ndarray) -> bool:
    """Return whether a result has the expected kind: boolean, integer or any number.

    Integers are accepted where floats are expected. A single 4.0 counts as an integer, but in an
    array of ids or positions it does not.
    """
    if not given.ndim and given.dtype.kind == "f" and wanted.dtype.kind in "iu":
        return float(given).is_integer()
    if wanted.dtype.kind in "iu" and given.dtype.kind == "f":
        return False
    return (given.dtype == bool) == (wanted.dtype == bool)


def is_numeric(array: np.ndarray) -> bool:
    """Return whether an array holds real numbers or booleans."""
    return array.dtype.kind in "biuf"
