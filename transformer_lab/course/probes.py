"""Is an answer the right one transposed, scaled, shifted …? Each probe says so in a sentence, or None.

A probe gets two arrays, what was returned and what was wanted, and knows nothing of the exercise. What it
says is true of these two arrays; it guesses no reason.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from transformer_lab.course.outcome import close, is_number, near
from transformer_lab.course.words import number

Probe = Callable[[np.ndarray, np.ndarray], str | None]
TOLERANCE = 1e-6


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are equal for a probe: the digits that it leaves out tell nothing."""
    return close(a, b, TOLERANCE)


def axis_name(axis: int, ndim: int) -> str:
    """An axis as its number, counted from the front and, for the last, from the back."""
    return f"axis {axis}" + (" (the last)" if axis == ndim - 1 and ndim > 1 else "")


# ---------------------------------------------------------------- another shape


def other_axes(got: np.ndarray, want: np.ndarray) -> str | None:
    """Axes in another order, whether the shape shows it or not."""
    if got.ndim != want.ndim or not 2 <= got.ndim <= 5 or not _varies(want):
        return None
    for order in itertools.permutations(range(got.ndim)):
        turned = got.transpose(order)
        if list(order) != sorted(order) and turned.shape == want.shape and same(turned, want):
            moved = [str(n) for n, axis in enumerate(order) if n != axis]
            return f"right, but axes {' and '.join(moved)} have changed places"
    if got.shape != want.shape and sorted(got.shape) == sorted(want.shape):
        return "the axes stand in another order, and the numbers are not only transposed"
    return None


REDUCTIONS: dict[str, Callable[..., np.ndarray]] = {
    "the sum": np.sum,
    "the mean": np.mean,
    "the largest": np.max,
    "the smallest": np.min,
    "the place of the largest": np.argmax,
    "the product": np.prod,
}


def lost_axis(got: np.ndarray, want: np.ndarray) -> str | None:
    """One axis fewer than wanted: what of it is left."""
    if got.ndim != want.ndim - 1:
        return None
    axes = [a for a in range(want.ndim) if got.shape == want.shape[:a] + want.shape[a + 1 :]]
    for axis in axes:
        name = axis_name(axis, want.ndim)
        for n, which in ((0, "first"), (-1, "last")):
            if want.shape[axis] and same(got, want.take(n, axis)):
                return f"this is the {which} alone of those along {name}; all of them are asked"
        if is_number(want) and want.size:
            for what, reduce in REDUCTIONS.items():
                if same(got, reduce(want, axis=axis)):
                    return f"this is {what} along {name}; the numbers themselves are asked"
    if axes:
        place = axis_name(axes[0], want.ndim)
        return f"{place}, of length {want.shape[axes[0]]}, is gone"
    return "one axis is gone" if got.ndim else "one number for everything; an array is asked"


def extra_axis(got: np.ndarray, want: np.ndarray) -> str | None:
    """One axis more than wanted."""
    if got.ndim != want.ndim + 1:
        return None
    for axis in range(got.ndim):
        if got.shape[:axis] + got.shape[axis + 1 :] == want.shape:
            name, length = axis_name(axis, got.ndim), got.shape[axis]
            if length == 1:
                rest = ", and without it all is right" if same(got.take(0, axis), want) else ""
                return f"there is one axis too many: {name}, of length 1{rest}"
            if is_number(got) and length:
                for what, reduce in REDUCTIONS.items():
                    if same(reduce(got, axis=axis), want):
                        return f"{what} along {name} would be right: that step is missing"
            return f"there is one axis too many: {name}, of length {length}"
    return "there is one axis too many"


def other_length(got: np.ndarray, want: np.ndarray) -> str | None:
    """As many axes as wanted, one of them too long or too short."""
    if got.ndim != want.ndim or got.shape == want.shape:
        return None
    pairs = enumerate(zip(got.shape, want.shape, strict=True))
    axes = [axis for axis, (a, b) in pairs if a != b]
    if len(axes) != 1:
        return None
    (axis,) = axes
    a, b = got.shape[axis], want.shape[axis]
    name = axis_name(axis, want.ndim) if want.ndim > 1 else "it"
    long, short, n = (got, want, a - b) if a > b else (want, got, b - a)
    few, what = f"{n} too {'many' if a > b else 'few'}", "other" if want.ndim == 1 else "others"
    first = same(np.delete(long, np.s_[:n], axis), short)
    last = same(np.delete(long, np.s_[-n:], axis), short)
    if first or last:
        end = "first" if first else "last"
        there = f"the {end} {n if n > 1 else 'one'}"
        verb = "should not be there" if a > b else "is missing" if n == 1 else "are missing"
        return f"{name} has length {a}, {few}: {there} {verb}; the rest is right"
    for step in range(2, 5):
        if b == a * step and same(np.repeat(got, step, axis), want):
            return f"each along {name} should stand there {step} times in a row"
        if a == b * step and same(np.repeat(want, step, axis), got):
            return f"each along {name} stands there {step} times in a row; once is asked"
    if want.ndim == 1 and not set(short.tolist()) - set(long.tolist()):
        return f"it has length {a}, {few}; the {what}s that stand there belong to it"
    return f"{name} has length {a}, {few}"


def reshaped(got: np.ndarray, want: np.ndarray) -> str | None:
    """The right numbers, cut into another shape."""
    if got.shape == want.shape or got.size != want.size or want.size < 2:
        return None
    if same(got.ravel(), want.ravel()):
        return "the right numbers in the right order, in another shape"
    return None


# ---------------------------------------------------------------- each number on its own


def not_a_number(got: np.ndarray, want: np.ndarray) -> str | None:
    """NaN or infinite where a finite number is wanted."""
    if got.dtype.kind != "f" or got.shape != want.shape or not is_number(want):
        return None
    for name, test in (
        ("NaN (0/0, ∞ − ∞ or the logarithm of a negative number)", np.isnan),
        ("infinite (an overflow, a division by 0 or the logarithm of 0)", np.isinf),
    ):
        bad = test(got) & ~test(want)
        if bad.any():
            good = close(np.where(bad, 0, got), np.where(bad, 0, want), TOLERANCE)
            rest = "; the others are right" if good and not bad.all() else ""
            return f"{counted(bad)} {name}{rest}"
    if want.dtype.kind == "f":
        for name, test in (("∞", np.isinf), ("NaN", np.isnan)):
            lost = test(want) & ~test(got)
            if lost.any():
                many = "one number" if lost.sum() == 1 else f"{int(lost.sum())} numbers"
                good = close(np.where(lost, 0, got), np.where(lost, 0, want), TOLERANCE)
                rest = "; the others are right" if good and not lost.all() else ""
                return (
                    f"{many} should be ±{name} and {'is' if lost.sum() == 1 else 'are'} not{rest}"
                )
    return None


def counted(mask: np.ndarray) -> str:
    """How many of the numbers a mask marks, with a verb."""
    many, size = int(mask.sum()), mask.size
    if many == size:
        return "it is" if size == 1 else "all numbers are"
    return f"{many} of {size} numbers {'is' if many == 1 else 'are'}"


def factor(got: np.ndarray, want: np.ndarray) -> str | None:
    """The wanted numbers times one constant."""
    ratio = constant_ratio(got, want)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=TOLERANCE):
        return "right but for the sign, everywhere"
    if ratio == 0:
        return "all numbers are 0"
    return f"all numbers are {ratio_in_words(ratio)} times as large as they should be"


def ratio_in_words(ratio: float) -> str:
    """A ratio as the fraction or the root that it is, or as a number."""
    for top, bottom in itertools.product(range(1, 13), repeat=2):
        for value, words in ((top / bottom, "{}"), (math.sqrt(top / bottom), "√{}")):
            if math.isclose(abs(ratio), value, rel_tol=1e-7):
                inner = str(top) if bottom == 1 else f"{top}/{bottom}"
                inner = f"({inner})" if "√" in words and bottom != 1 else inner
                return ("−" if ratio < 0 else "") + words.format(inner)
    return number(ratio)


def constant_ratio(got: np.ndarray, want: np.ndarray) -> float | None:
    """What all wanted numbers would have to be multiplied with, if it is one number and not 1."""
    if not comparable(got, want) or want.size < 2:
        return None
    finite = np.isfinite(want) & np.isfinite(got)
    a, b = got[finite].astype(float), want[finite].astype(float)
    if b.size < 2 or not b.any() or not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return None
    ratio = float((a * b).sum() / (b * b).sum())
    return ratio if near(a, ratio * b, TOLERANCE).all() and not same(a, b) else None


def offset(got: np.ndarray, want: np.ndarray) -> str | None:
    """The wanted numbers plus one constant."""
    if not comparable(got, want) or want.size < 2:
        return None
    finite = np.isfinite(want) & np.isfinite(got)
    apart = got[finite].astype(float) - want[finite].astype(float)
    if apart.size < 2 or not near(apart, np.full_like(apart, apart.mean()), TOLERANCE).all():
        return None
    if np.ptp(want[finite]) == 0 or not abs(apart.mean()) > TOLERANCE:
        return None
    mean = apart.mean()
    return f"all numbers are too {'large' if mean > 0 else 'small'} by {number(abs(mean))}"


def comparable(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two arrays hold numbers, not truth values, one for one."""
    return got.shape == want.shape and all(x.dtype.kind in "iuf" for x in (got, want))


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the square of what is asked: a root is missing, or a square too many": np.square,
    "the square root of what is asked": np.sqrt,
    "1 over what is asked": lambda x: 1 / x,
    "minus 1 over what is asked": lambda x: -1 / x,
    "1 minus what is asked": lambda x: 1 - x,
    "e to the power of what is asked: a logarithm is missing": np.exp,
    "the natural logarithm of what is asked": np.log,
    "minus the logarithm of what is asked": lambda x: -np.log(x),
    "what is asked without its sign: a minus is lost": np.abs,
    "what is asked with 0 in place of the numbers below 0": lambda x: np.maximum(x, 0),
    "what is asked, rounded": np.round,
    "what is asked, rounded down": np.floor,
    "what is asked, cut off behind the point": np.trunc,
    "what is asked, rounded up": np.ceil,
}


def changed_alike(got: np.ndarray, want: np.ndarray) -> str | None:
    """Each number squared, inverted, rounded and so on."""
    if not comparable(got, want) or want.size < 2 or same(got, want):
        return None
    with np.errstate(all="ignore"):
        for what, change in CHANGES.items():
            changed = change(want.astype(float))
            if np.isfinite(changed).all() and np.ptp(changed) > 0 and same(got, changed):
                return f"this is {what}"
    return None


def signs(got: np.ndarray, want: np.ndarray) -> str | None:
    """Right but for the sign of some numbers."""
    if not comparable(got, want) or same(got, want) or want.size < 3:
        return None
    if not same(np.abs(got), np.abs(want)):
        return None
    wrong = ~near(got, want, TOLERANCE)
    return f"the sizes are right; {int(wrong.sum())} of {wrong.size} signs are not"


# ---------------------------------------------------------------- places


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
            if a.shape[axis] > 1 and _varies(b) and same(a, b):
                way = "late" if by > 0 else "early"
                return f"right, but {abs(by)} place{'s' * (abs(by) > 1)} too {way} along {name}"
    return None


def _varies(x: np.ndarray) -> bool:
    return len(np.unique(x)) > 1


def _cut(x: np.ndarray, part: slice, axis: int) -> np.ndarray:
    return x[(slice(None),) * axis + (part,)]


def reordered(got: np.ndarray, want: np.ndarray) -> str | None:
    """The right rows, or the right numbers, in other places."""
    if got.shape != want.shape or not want.ndim or want.size < 2 or same(got, want):
        return None
    for axis in range(want.ndim):
        if want.shape[axis] < 2 or (want.ndim == 1 and not _varies(want)):
            continue
        a, b = (_sorted_rows(x, axis) for x in (got, want))
        if same(a, b):
            name = axis_name(axis, want.ndim)
            what = "the right ones" if want.ndim == 1 else f"the right ones along {name}"
            return f"{what}, in another order"
    if _varies(want) and same(np.sort(got.ravel()), np.sort(want.ravel())):
        return "the right numbers, in the wrong places"
    return None


def _sorted_rows(x: np.ndarray, axis: int) -> np.ndarray:
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    rounded = rows.round(7) if x.dtype.kind == "f" else rows
    return rows[np.lexsort(rounded.T[::-1])]


def sums(got: np.ndarray, want: np.ndarray) -> str | None:
    """Weights whose sums are 1 along another axis, or along none."""
    if not comparable(got, want) or want.ndim < 1 or want.dtype.kind != "f" or want.size < 3:
        return None
    if not np.isfinite(want).all() or (want < -TOLERANCE).any():
        return None
    axes = [axis for axis in range(want.ndim) if _all_one(want.sum(axis))]
    if len(axes) != 1 or want.shape[axes[0]] < 2:
        return None
    (axis,) = axes
    name = axis_name(axis, want.ndim) if want.ndim > 1 else "the numbers"
    if _all_one(got.sum(axis)):
        return sharpness(got, want, axis)
    for other in range(want.ndim):
        if other != axis and _all_one(got.sum(other)):
            return f"it sums to 1 along {axis_name(other, want.ndim)}; it should along {name}"
    if want.ndim > 1 and _all_one(got.sum()):
        return f"all of it together sums to 1; each sum along {name} should"
    with np.errstate(all="ignore"):
        if same(got / got.sum(axis, keepdims=True), want):
            return f"the sums along {name} are not 1; divided by them, it would be right"
        exponentials = np.exp(got - got.max(axis, keepdims=True))
        if same(exponentials / exponentials.sum(axis, keepdims=True), want):
            return f"these are the numbers before the softmax along {name}"
    total = got.sum(axis)
    low, high = number(total.min()), number(total.max())
    found = low if low == high else f"{low} to {high}"
    return f"the sums along {name} should be 1; they are {found}"


def sharpness(got: np.ndarray, want: np.ndarray, axis: int) -> str | None:
    """Weights that sum to 1 as they should, and are nearer to one, or to all alike."""
    if same(got, want):
        return None
    name = axis_name(axis, want.ndim)
    apart = (got**2).sum(axis) - (want**2).sum(axis)
    ordered = bool((got.argsort(axis) == want.argsort(axis)).all())
    kept = ", and their order is right" if ordered else ", and their order is not the right one"
    start = f"the sums along {name} are 1 as they should be{kept}"
    if (apart > 0).all():
        return f"{start}; the weights are too sharp: the large ones too large, the small too small"
    if (apart < 0).all():
        return f"{start}; the weights are too flat: the large ones too small, the small too large"
    return start


def _all_one(sums_: np.ndarray) -> bool:
    return bool(np.allclose(sums_, 1.0, atol=1e-5))


def normalised_elsewhere(got: np.ndarray, want: np.ndarray) -> str | None:
    """Right up to a factor, or a number added, for each row along an axis."""
    if not comparable(got, want) or want.ndim < 2 or not np.isfinite(want).all():
        return None
    if not np.isfinite(got).all() or same(got, want):
        return None
    for axis in reversed(range(want.ndim)):
        if want.shape[axis] < 3:
            continue
        name = axis_name(axis, want.ndim)
        with np.errstate(all="ignore"):
            squares = (want * want).sum(axis, keepdims=True)
            scale = (got * want).sum(axis, keepdims=True) / squares
        if np.isfinite(scale).all() and same(got, want * scale):
            return f"each line along {name} is right up to a factor of its own"
        mean = (got - want).mean(axis, keepdims=True)
        if same(got, want + mean):
            return f"each line along {name} is right up to a number that is added to all of it"
    return None


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


def where_wrong(got: np.ndarray, want: np.ndarray) -> str | None:
    """Which part of the array is wrong, where the rest is right."""
    if got.shape != want.shape or not want.ndim or want.size < 2:
        return None
    both = is_number(got) and is_number(want)
    wrong = np.asarray(~near(got, want, TOLERANCE) if both else got != want)
    if not wrong.any() or wrong.all():
        return None
    if want.ndim > 1 and want.shape[-1] == want.shape[-2]:
        found = _where_in_matrix(got, want, wrong)
        if found:
            return found
    for axis in range(want.ndim):
        n = want.shape[axis]
        if n < 2:
            continue
        per = np.array([line.any() for line in np.moveaxis(wrong, axis, 0)])
        places, name = np.flatnonzero(per), axis_name(axis, want.ndim)
        where = f" along {name}" if want.ndim > 1 else ""
        if list(places) == [0]:
            return f"only the first{where} is wrong"
        if list(places) == [n - 1]:
            return f"only the last{where} is wrong"
        if len(places) == n - 1 and not per[0] and n > 2:
            return f"only the first{where} is right"
        if len(places) == n - 1 and not per[-1] and n > 2:
            return f"only the last{where} is right"
        if n > 3 and (not per[::2].any() or not per[1::2].any()):
            return f"every second{where} is right"
        if len(places) == 1:
            return f"all is right but number {places[0]}{where}, counted from 0"
        if 1 < len(places) < n and (np.diff(places) == 1).all() and places[-1] == n - 1:
            return f"all is right{where} before number {places[0]}, counted from 0"
    return _where_in_matrix(got, want, wrong)


def _where_in_matrix(got: np.ndarray, want: np.ndarray, wrong: np.ndarray) -> str | None:
    if want.ndim > 1:
        rows, columns = np.indices(want.shape[-2:])
        parts = {
            "on the diagonal": rows == columns,
            "above the diagonal": columns > rows,
            "below the diagonal": columns < rows,
            "off the diagonal": rows != columns,
        }
        for where, part in parts.items():
            if not (wrong & ~part).any() and part.any():
                return f"only numbers {where} are wrong"
    if is_number(want) and want.dtype != bool:
        kinds = {"0": want == 0, "above 0": want > 0, "below 0": want < 0}
        for what, part in kinds.items():
            if np.array_equal(part, wrong):
                return f"exactly those numbers are wrong that should be {what}"
    return None


def sizes(got: np.ndarray, want: np.ndarray) -> str | None:
    """Whether all wrong numbers are too large, or all too small."""
    if not comparable(got, want) or not want.size:
        return None
    wrong = ~near(got, want, TOLERANCE)
    if not wrong.any():
        return None
    many = "all numbers" if wrong.all() else f"{int(wrong.sum())} of {wrong.size} numbers"
    for test, word in ((got > want, "large"), (got < want, "small")):
        if test[wrong].all() and wrong.sum() > 1:
            return f"{many} are too {word}, by no one factor and no one number"
    return f"{many} {'differ' if wrong.sum() > 1 else 'differs'}" if want.size > 1 else None


def texts(got: np.ndarray, want: np.ndarray) -> str | None:
    """Lists of words: which are missing, and which are too many."""
    if got.dtype.kind != "U" or want.dtype.kind != "U" or want.ndim != 1 or got.ndim != 1:
        return None
    missing = sorted(set(want.tolist()) - set(got.tolist()))
    extra = sorted(set(got.tolist()) - set(want.tolist()))
    parts = []
    for name, found in (("missing", missing), ("too many", extra)):
        if found:
            cut = ", …" if len(found) > 3 else ""
            parts.append(f"{name}: {', '.join(found[:3])}{cut}")
    return "; ".join(parts) or None


SHAPES: Sequence[Probe] = (reshaped, other_axes, lost_axis, extra_axis, other_length)
NUMBERS: Sequence[Probe] = (factor, changed_alike, offset, signs)
"""What holds for each number on its own: asked of the numbers of all cases together."""
PLACES: Sequence[Probe] = (
    not_a_number,
    other_axes,
    inverted,
    sums,
    shifted,
    reordered,
    alike,
    normalised_elsewhere,
    accumulated,
    where_wrong,
    texts,
    sizes,
)


def first_of(probes: Sequence[Probe], got: np.ndarray, want: np.ndarray) -> str | None:
    """The first sentence that one of the probes has to say."""
    return next((text for probe in probes if (text := probe(got, want))), None)
