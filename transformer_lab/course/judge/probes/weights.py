"""Probes for attention weights: do they sum to 1, and along the right axis?"""

import numpy as np

from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.probes.equality import (
    TOLERANCE,
    format_axis,
    is_comparable,
    is_same,
    name_line,
)


def find_wrong_sums(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if attention weights are wrong, and None otherwise.

    The weights may sum to 1 along the wrong axis, only over the whole array, or not at all. They
    may also be scores before the softmax, or have the right sums but wrong values
    (`describe_sharpness`). If the expected array does not hold weights
    that sum to 1 along exactly one axis, the function returns None as well.
    """
    if not is_comparable(got, want) or want.ndim < 1 or want.dtype.kind != "f" or want.size < 3:
        return None
    if not np.isfinite(want).all() or (want < -TOLERANCE).any():
        return None
    axes = [axis for axis in range(want.ndim) if _all_one(want.sum(axis))]
    if len(axes) != 1 or want.shape[axes[0]] < 2:
        return None
    (axis,) = axes
    sums, verb = _name_sums(axis, want.ndim)
    if _all_one(got.sum(axis)):
        return describe_sharpness(got, want, axis)
    for other in range(want.ndim):
        if other != axis and _all_one(got.sum(other)):
            place = format_axis(other, want.ndim)
            return f"{sums} should be 1, but instead, those along {place} are 1"
    if want.ndim > 1 and _all_one(got.sum()) and (got.sum(axis) > TOLERANCE).all():
        return f"{sums} should be 1, but only the sum of all numbers is 1"
    with np.errstate(all="ignore"):
        if is_same(got / got.sum(axis, keepdims=True), want):
            divisor = "them" if want.ndim > 1 else "it"
            return f"{sums} {verb} not 1. If you divide by {divisor}, the result is right"
        exponentials = np.exp(got - got.max(axis, keepdims=True))
        if is_same(exponentials / exponentials.sum(axis, keepdims=True), want):
            along = f" along {format_axis(axis, want.ndim)}" if want.ndim > 1 else ""
            return f"The softmax is missing: apply it to these numbers{along}"
    total = got.sum(axis)
    low, high = format_number(total.min()), format_number(total.max())
    found = f"{verb} {low}" if low == high else f"range from {low} to {high}"
    return f"{sums} should be 1, but {found}"


def contradicts_order(got: np.ndarray, want: np.ndarray) -> bool:
    """Return whether any two numbers in the same row are ordered differently in `got` and `want`.

    Equal numbers fit either order.
    """
    larger = want[..., :, None] > want[..., None, :] + TOLERANCE
    smaller = got[..., :, None] < got[..., None, :] - TOLERANCE
    return bool((larger & smaller).any())


def describe_sharpness(got: np.ndarray, want: np.ndarray, axis: int) -> str | None:
    """Describe weights that sum to 1 but are wrong: too sharp, too flat or in the wrong order."""
    if is_same(got, want):
        return None
    apart = (got**2).sum(axis) - (want**2).sum(axis)
    ordered = not contradicts_order(np.moveaxis(got, axis, -1), np.moveaxis(want, axis, -1))
    link, verdict = ("and", "right") if ordered else ("but", "wrong")
    order = f"{link} the order of the numbers is {verdict}"
    sums, verb = _name_sums(axis, want.ndim)
    start = f"{sums} {verb} 1, as {'they' if want.ndim > 1 else 'it'} should be, {order}"
    if (got < -TOLERANCE).any():
        return f"{start}. Some weights are negative"
    if (got.argmax(axis) != want.argmax(axis)).any():
        return start
    if (apart > 0).all():
        how = "too sharp: large ones are too large, and small ones are too small"
        return f"{start}. The weights are {how}"
    if (apart < 0).all():
        how = "too flat: large ones are too small, and small ones are too large"
        return f"{start}. The weights are {how}"
    return start


def _name_sums(axis: int, ndim: int) -> tuple[str, str]:
    """Return the subject of a sentence about the sums along an axis, and its verb."""
    return (f"The sums along {format_axis(axis, ndim)}", "are") if ndim > 1 else ("The sum", "is")


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
        line = name_line(axis, want.ndim)
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
                    f"Each entry along axis {varies[0]} is multiplied by a different wrong factor"
                )
            return f"Each {line} is multiplied by a different wrong factor"
        mean = (got - want).mean(axis, keepdims=True)
        off = np.abs(mean) > TOLERANCE * np.abs(want).max()
        if is_same(got, want + mean) and off.sum() > 1:
            return f"Each {line} is right, except that a constant has been added to it"
    return None
