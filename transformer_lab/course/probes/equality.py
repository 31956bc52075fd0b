"""What all probes ask of two arrays: are they equal, can they be compared, do they vary?"""

import numpy as np

from transformer_lab.course.comparing import close

TOLERANCE = 1e-6


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are equal for a probe: the digits that it leaves out tell nothing."""
    return close(a, b, TOLERANCE)


def comparable(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two arrays hold numbers, not truth values, one for one."""
    return got.shape == want.shape and all(x.dtype.kind in "iuf" for x in (got, want))


def varies(x: np.ndarray) -> bool:
    """Whether an array holds two different values at least."""
    return len(np.unique(x)) > 1


def axis_name(axis: int, ndim: int) -> str:
    """An axis as its number, counted from the front and, for the last, from the back."""
    return f"axis {axis}" + (" (the last)" if axis == ndim - 1 and ndim > 1 else "")
