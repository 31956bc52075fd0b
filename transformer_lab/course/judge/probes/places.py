"""Probes for the order of the numbers: are they shifted, reversed, permuted, or running sums?"""

import numpy as np

from transformer_lab.course.judge.probes.equality import (
    format_axis,
    has_different_values,
    is_comparable,
    is_same,
    name_entries,
)


def find_shift(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the array is shifted or reversed along an axis, and None otherwise."""
    if got.shape != want.shape or is_same(got, want):
        return None
    for axis in reversed(range(want.ndim)):
        n = want.shape[axis]
        entries = name_entries(axis, want.ndim)
        if n < 2 or is_same(want, np.roll(want, 1, axis)):
            continue
        if is_same(got, np.flip(want, axis)):
            return f"{entries} are in reverse order"
        for by in (1, -1, 2, -2):
            if n > abs(by) + 1 and is_same(got, np.roll(want, by, axis)):
                moved = "one is" if abs(by) == 1 else f"{abs(by)} are"
                if by > 0:
                    moved = f"the last {moved} at the front"
                    return f"{entries} are shifted forward by {by}, so {moved}"
                return f"{entries} are shifted back by {-by}, so the first {moved} at the end"
            front, back = np.s_[: n - abs(by)], np.s_[abs(by) :]
            mine, theirs = (back, front) if by > 0 else (front, back)
            a, b = _cut(got, mine, axis), _cut(want, theirs, axis)
            if a.shape[axis] > 1 and has_different_values(b) and is_same(a, b):
                way = "late" if by > 0 else "early"
                return f"{entries} come {abs(by)} place{'s' * (abs(by) > 1)} too {way}"
    return None


def _cut(x: np.ndarray, part: slice, axis: int) -> np.ndarray:
    return x[(slice(None),) * axis + (part,)]


def find_reordering(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the right rows or numbers are in the wrong order, and None otherwise."""
    if got.shape != want.shape or not want.ndim or want.size < 2 or is_same(got, want):
        return None
    for axis in range(want.ndim):
        if want.shape[axis] < 2 or (want.ndim == 1 and not has_different_values(want)):
            continue
        a, b = (_sorted_rows(x, axis) for x in (got, want))
        if is_same(a, b):
            return f"{name_entries(axis, want.ndim)} are right, but in the wrong order"
    if has_different_values(want) and is_same(np.sort(got.ravel()), np.sort(want.ravel())):
        return "The numbers are right, but in the wrong places"
    return None


def _sorted_rows(x: np.ndarray, axis: int) -> np.ndarray:
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    rounded = rows.round(7) if x.dtype.kind == "f" else rows
    return rows[np.lexsort(rounded.T[::-1])]


def find_equal_lines(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if all entries along an axis are equal but should differ, else None."""
    if got.shape != want.shape or not got.ndim or got.size < 2:
        return None
    for axis in range(want.ndim):
        if want.shape[axis] < 2:
            continue
        varies = not is_same(want, np.broadcast_to(want.take([0], axis), want.shape))
        if varies and is_same(got, np.broadcast_to(got.take([0], axis), got.shape)):
            if is_same(got.take(0, axis), want.take(0, axis)):
                return (
                    f"All entries along {format_axis(axis, want.ndim)} are equal to the first one, "
                    "which is right"
                )
            return f"All entries along {format_axis(axis, want.ndim)} are equal, but should differ"
    return None


def find_wrong_booleans(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if booleans are inverted or if too many or too few are True, else None."""
    if got.dtype != bool or want.dtype != bool or got.shape != want.shape or want.size < 2:
        return None
    if np.array_equal(got, ~want):
        return "True and False are swapped everywhere"
    if np.array_equal(got, want):
        return None
    if got.all() or not got.any():
        return f"All entries are {bool(got.all())}"
    more, less = int((got & ~want).sum()), int((want & ~got).sum())
    if not less:
        return f"Every False is right, but {_name_others(more)} should be False as well"
    if not more:
        return f"Every True is right, but {_name_others(less)} should be True as well"
    return None


def _name_others(count: int) -> str:
    return "1 other entry" if count == 1 else f"{count} other entries"


def find_running_sums(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if the array holds running sums of the expected numbers, and None otherwise.

    Differences between neighbouring expected numbers are recognised as well.
    """
    if not is_comparable(got, want) or not want.ndim or is_same(got, want):
        return None
    for axis in range(want.ndim):
        if want.shape[axis] > 2 and want.any():
            name = format_axis(axis, want.ndim)
            if is_same(got, want.cumsum(axis)):
                return f"The numbers are running sums of the right ones along {name}"
            if is_same(got.cumsum(axis), want):
                return f"The last step is missing: compute the running sums along {name}"
    return None
