"""Probes of where the numbers stand: moved, turned round, in another order, summed up on the way."""

import numpy as np

from transformer_lab.course.probes.equality import axis_name, comparable, same, varies


def shifted(got: np.ndarray, want: np.ndarray) -> str | None:
    """Shifted along an axis, or turned round along it."""
    if got.shape != want.shape or same(got, want):
        return None
    for axis in reversed(range(want.ndim)):
        n = want.shape[axis]
        name = axis_name(axis, want.ndim) if want.ndim > 1 else "its length"
        if n < 2 or same(want, np.roll(want, 1, axis)):
            continue
        if same(got, np.flip(want, axis)):
            return f"right, but in the opposite order along {name}"
        for by in (1, -1, 2, -2):
            if n > abs(by) + 1 and same(got, np.roll(want, by, axis)):
                way = "on" if by > 0 else "back"
                return f"right, but moved {way} by {abs(by)} along {name}, the end put in front"
            front, back = np.s_[: n - abs(by)], np.s_[abs(by) :]
            mine, theirs = (back, front) if by > 0 else (front, back)
            a, b = _cut(got, mine, axis), _cut(want, theirs, axis)
            if a.shape[axis] > 1 and varies(b) and same(a, b):
                way = "late" if by > 0 else "early"
                return f"right, but {abs(by)} place{'s' * (abs(by) > 1)} too {way} along {name}"
    return None


def _cut(x: np.ndarray, part: slice, axis: int) -> np.ndarray:
    return x[(slice(None),) * axis + (part,)]


def reordered(got: np.ndarray, want: np.ndarray) -> str | None:
    """The right rows, or the right numbers, in other places."""
    if got.shape != want.shape or not want.ndim or want.size < 2 or same(got, want):
        return None
    for axis in range(want.ndim):
        if want.shape[axis] < 2 or (want.ndim == 1 and not varies(want)):
            continue
        a, b = (_sorted_rows(x, axis) for x in (got, want))
        if same(a, b):
            name = axis_name(axis, want.ndim)
            what = "the right ones" if want.ndim == 1 else f"the right ones along {name}"
            return f"{what}, in another order"
    if varies(want) and same(np.sort(got.ravel()), np.sort(want.ravel())):
        return "the right numbers, in the wrong places"
    return None


def _sorted_rows(x: np.ndarray, axis: int) -> np.ndarray:
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    rounded = rows.round(7) if x.dtype.kind == "f" else rows
    return rows[np.lexsort(rounded.T[::-1])]


def alike(got: np.ndarray, want: np.ndarray) -> str | None:
    """All lines along an axis are equal where they should not be."""
    if got.shape != want.shape or not got.ndim or got.size < 2:
        return None
    for axis in range(want.ndim):
        if want.shape[axis] < 2:
            continue
        varies = not same(want, np.broadcast_to(want.take([0], axis), want.shape))
        if varies and same(got, np.broadcast_to(got.take([0], axis), got.shape)):
            if same(got.take(0, axis), want.take(0, axis)):
                return (
                    f"all along {axis_name(axis, want.ndim)} are as the first one, which is right"
                )
            return f"all along {axis_name(axis, want.ndim)} are alike; they should differ"
    return None


def inverted(got: np.ndarray, want: np.ndarray) -> str | None:
    """Truth values turned round, or too many or too few of one kind."""
    if got.dtype != bool or want.dtype != bool or got.shape != want.shape or not want.size:
        return None
    if np.array_equal(got, ~want) and want.size > 1:
        return "True and False have changed places, everywhere"
    if np.array_equal(got, want):
        return None
    if got.all() or not got.any():
        return f"{'it' if got.size == 1 else 'everything'} is {bool(got.all())}"
    more, less = int((got & ~want).sum()), int((want & ~got).sum())
    if not less:
        return f"True stands where it should, and at {more} other place{'s' * (more > 1)}"
    if not more:
        return f"True stands at no wrong place, but {less} {'are' if less > 1 else 'is'} missing"
    return None


def accumulated(got: np.ndarray, want: np.ndarray) -> str | None:
    """Running sums of what is wanted, or differences between neighbours."""
    if not comparable(got, want) or not want.ndim or same(got, want):
        return None
    for axis in range(want.ndim):
        if want.shape[axis] > 2 and want.any():
            if same(got, want.cumsum(axis)):
                return f"these are running sums along {axis_name(axis, want.ndim)}"
            if same(got.cumsum(axis), want):
                return f"running sums along {axis_name(axis, want.ndim)} would be right"
    return None
