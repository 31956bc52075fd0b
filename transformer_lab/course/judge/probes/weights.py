"""Probes for attention weights: do they sum to 1, and along the right axis?"""

import numpy as np

from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.probes.equality import (
    TOLERANCE,
    format_axis,
    is_comparable,
    is_same,
)


def find_wrong_sums(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if attention weights are wrong, and None otherwise.

    The weights may sum to 1 along the wrong axis, only over the whole array, or not at all. They
    may also be scores before the softmax, or have the right sums but wrong values
    (`describe_sharpness`). The result is also None if the expected array does not hold weights that
    sum to 1 along exactly one axis.
    """
    if not is_comparable(got, want) or want.ndim < 1 or want.dtype.kind != "f" or want.size < 3:
        return None
    if not np.isfinite(want).all() or (want < -TOLERANCE).any():
        return None
    axes = [axis for axis in range(want.ndim) if _all_one(want.sum(axis))]
    if len(axes) != 1 or want.shape[axes[0]] < 2:
        return None
    (axis,) = axes
    name = format_axis(axis, want.ndim) if want.ndim > 1 else "the numbers"
    if _all_one(got.sum(axis)):
        return describe_sharpness(got, want, axis)
    for other in range(want.ndim):
        if other != axis and _all_one(got.sum(other)):
            return f"the sums along {format_axis(other, want.ndim)} are 1, not those along {name}"
    if want.ndim > 1 and _all_one(got.sum()) and (got.sum(axis) > TOLERANCE).all():
        return f"everything together sums to 1, but each sum along {name} should be 1"
    with np.errstate(all="ignore"):
        if is_same(got / got.sum(axis, keepdims=True), want):
            return f"the sums along {name} are not 1; if you divide by them, the rest is right"
        exponentials = np.exp(got - got.max(axis, keepdims=True))
        if is_same(exponentials / exponentials.sum(axis, keepdims=True), want):
            return f"these are the numbers before the softmax along {name}"
    total = got.sum(axis)
    low, high = format_number(total.min()), format_number(total.max())
    found = low if low == high else f"{low} to {high}"
    return f"the sums along {name} should be 1; they are {found}"


def contradicts_order(got: np.ndarray, want: np.ndarray) -> bool:
    """Return whether any two numbers in a row are ordered differently in `got` and `want`.

    Equal numbers fit either order.
    """
    larger = want[..., :, None] > want[..., None, :] + TOLERANCE
    smaller = got[..., :, None] < got[..., None, :] - TOLERANCE
    return bool((larger & smaller).any())


def describe_sharpness(got: np.ndarray, want: np.ndarray, axis: int) -> str | None:
    """Describe weights that sum to 1 but are wrong: too sharp, too flat or in the wrong order."""
    if is_same(got, want):
        return None
    name = format_axis(axis, want.ndim)
    apart = (got**2).sum(axis) - (want**2).sum(axis)
    ordered = not contradicts_order(np.moveaxis(got, axis, -1), np.moveaxis(want, axis, -1))
    order = "and the weights are in the right order" if ordered else "but the order is wrong"
    start = f"the sums along {name} are 1, as they should be, {order}"
    if (got < -TOLERANCE).any():
        return f"{start}; some weights are negative"
    if (got.argmax(axis) != want.argmax(axis)).any():
        return start
    if (apart > 0).all():
        return f"{start}; the weights are too sharp: large ones are too large, small ones are too small"
    if (apart < 0).all():
        return (
            f"{start}; the weights are too flat: large ones are too small, small ones are too large"
        )
    return start


def _all_one(sums_: np.ndarray) -> bool:
    return bool(np.allclose(sums_, 1.0, atol=1e-5))


def find_row_factors(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if each row is off by its own factor or constant, and None otherwise."""
    if not is_comparable(got, want) or want.ndim < 2 or not np.isfinite(want).all():
        return None
    if not np.isfinite(got).all() or is_same(got, want):
        return None
    for axis in reversed(range(want.ndim)):
        if want.shape[axis] < 3:
            continue
        name = format_axis(axis, want.ndim)
        with np.errstate(all="ignore"):
            squares = (want * want).sum(axis, keepdims=True)
            scale = (got * want).sum(axis, keepdims=True) / squares
        # A line of zeros has not been scaled; it has not been computed.
        if np.isfinite(scale).all() and scale.all() and is_same(got, want * scale):
            least = TOLERANCE * np.abs(scale).max()
            varies = [n for n in range(want.ndim) if np.ptp(scale, axis=n).max() > least]
            if not varies:
                return None  # another probe finds one factor for all rows
            if len(varies) == 1 and varies[0] < want.ndim - 2:
                return (
                    f"each entry along axis {varies[0]} is the right one times a number, which "
                    "differs from entry to entry"
                )
            return (
                f"each line along {name} is the right one times a number, which differs from line "
                "to line"
            )
        mean = (got - want).mean(axis, keepdims=True)
        off = np.abs(mean) > TOLERANCE * np.abs(want).max()
        if is_same(got, want + mean) and off.sum() > 1:
            return f"each line along {name} is right except for a number added to all of it"
    return None
