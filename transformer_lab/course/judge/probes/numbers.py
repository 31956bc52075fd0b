"""Probes that look at each number on its own: is it scaled, squared, rounded or missing a sign?"""

import itertools
import math
from collections.abc import Callable

import numpy as np

from transformer_lab.course.judge.closeness import close_elements, is_close, is_numeric
from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.probes.equality import TOLERANCE, is_comparable, is_same

CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the square of the right one, so a square root is missing, or something is squared once too "
    "often": np.square,
    "the square root of the right one": np.sqrt,
    "1 divided by the right one": lambda x: 1 / x,
    "-1 divided by the right one": lambda x: -1 / x,
    "1 minus the right one": lambda x: 1 - x,
    "e to the power of the right one, so a logarithm is missing": np.exp,
    "the natural logarithm of the right one": np.log,
    "minus the logarithm of the right one": lambda x: -np.log(x),
    "the absolute value of the right one, so a minus sign is missing": np.abs,
    "the right one, but negative numbers are replaced by 0": lambda x: np.maximum(x, 0),
    "the right one, but rounded": np.round,
    "the right one, but rounded down": np.floor,
    "the right one, but with its decimals cut off": np.trunc,
    "the right one, but rounded up": np.ceil,
}
"""Common wrong results, in words, each mapped to a function that computes it from the right one."""

CAUSES = {
    "NaN": "NaN can come from 0/0, ∞ − ∞, 0 · ∞ or the logarithm of a negative number",
    "infinite": "∞ can come from an overflow, a division by 0, the logarithm of 0 or an ∞ in your code",
}
"""What can make a number NaN or infinite."""


def find_nan_or_infinity(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if some numbers are NaN or infinite but should not be, and None otherwise.

    Numbers that should be NaN or infinite but are not are reported as well.
    """
    if got.dtype.kind != "f" or got.shape != want.shape or not is_numeric(want):
        return None
    for name, test in (("NaN", np.isnan), ("infinite", np.isinf)):
        bad = test(got) & ~test(want)
        if bad.any():
            good = is_close(np.where(bad, 0, got), np.where(bad, 0, want), TOLERANCE)
            rest = "; the others are right" if good and not bad.all() else ""
            # If ∞ is expected elsewhere, an ∞ here was written on purpose.
            if name == "infinite" and test(want).any():
                return f"{describe_count(bad)} infinite, but should not be{rest}"
            if bad.size == 1:
                return CAUSES[name]
            return f"{describe_count(bad)} {name}{rest}. {CAUSES[name]}"
    if want.dtype.kind == "f":
        for name, test in (("infinite", np.isinf), ("NaN", np.isnan)):
            lost = test(want) & ~test(got)
            if lost.any():
                many = "One number" if lost.sum() == 1 else f"{int(lost.sum())} numbers"
                good = is_close(np.where(lost, 0, got), np.where(lost, 0, want), TOLERANCE)
                rest = "; the others are right" if good and not lost.all() else ""
                return (
                    f"{many} should be {name}, but {'is' if lost.sum() == 1 else 'are'} not{rest}"
                )
    return None


def describe_count(mask: np.ndarray) -> str:
    """Return the beginning of a sentence, such as "2 of 6 numbers are", for a boolean mask."""
    many, size = int(mask.sum()), mask.size
    if many == size:
        return "All numbers are"
    return f"{many} of {size} numbers {'is' if many == 1 else 'are'}"


def find_constant_factor(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if every number is off by the same factor, and None otherwise."""
    ratio = compute_constant_ratio(got, want)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=TOLERANCE):
        return "Every number has the wrong sign, but the right absolute value"
    if ratio == 0:
        return "All numbers are 0"
    return f"All numbers are {name_ratio(ratio)} what they should be"


def name_ratio(ratio: float) -> str:
    """Return a factor in words, such as "twice", "half" or "√5 times"."""
    return {"2": "twice", "1/2": "half"}.get(format_ratio(ratio), f"{format_ratio(ratio)} times")


def format_ratio(ratio: float) -> str:
    """Return a ratio as text: a simple fraction or root if possible, otherwise a decimal number."""
    for top, bottom in itertools.product(range(1, 13), repeat=2):
        for value, words in ((top / bottom, "{}"), (math.sqrt(top / bottom), "√{}")):
            if math.isclose(abs(ratio), value, rel_tol=1e-7):
                inner = str(top) if bottom == 1 else f"{top}/{bottom}"
                inner = f"({inner})" if "√" in words and bottom != 1 else inner
                return ("−" if ratio < 0 else "") + words.format(inner)
    return format_number(ratio)


def compute_constant_ratio(got: np.ndarray, want: np.ndarray) -> float | None:
    """Return the factor by which every number is off, or None if there is no common factor."""
    if not is_comparable(got, want) or want.size < 2:
        return None
    finite = np.isfinite(want) & np.isfinite(got)
    a, b = got[finite].astype(float), want[finite].astype(float)
    if b.size < 2 or not b.any() or not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return None
    ratio = float((a * b).sum() / (b * b).sum())
    if want.dtype.kind in "iu" and np.abs(a - ratio * b).max() > 0.5:
        return None  # next to a very large number, a wrong small one would look like rounding
    return ratio if close_elements(a, ratio * b, TOLERANCE).all() and not is_same(a, b) else None


def find_constant_offset(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if every number is off by the same constant, and None otherwise."""
    if not is_comparable(got, want) or want.size < 2:
        return None
    finite = np.isfinite(want) & np.isfinite(got)
    apart = got[finite].astype(float) - want[finite].astype(float)
    if (
        apart.size < 2
        or not close_elements(apart, np.full_like(apart, apart.mean()), TOLERANCE).all()
    ):
        return None
    if np.ptp(want[finite]) == 0 or not abs(apart.mean()) > TOLERANCE:
        return None
    mean = apart.mean()
    return f"All numbers are too {'large' if mean > 0 else 'small'} by {format_number(abs(mean))}"


def find_elementwise_change(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if each number is the same function of the expected one, and None otherwise.

    The functions tried include squares, roots, logarithms and rounding.
    """
    if not is_comparable(got, want) or want.size < 2 or is_same(got, want):
        return None
    for digits in range(1, 6):
        if is_same(got, want.round(digits)) and want.dtype.kind == "f":
            places = "1 decimal place" if digits == 1 else f"{digits} decimal places"
            return f"The numbers are right, but rounded to {places}"
    with np.errstate(all="ignore"):
        for what, change in CHANGES.items():
            changed = change(want.astype(float))
            if np.isfinite(changed).all() and np.ptp(changed) > 0 and is_same(got, changed):
                return f"Each number is {what}"
    return None


def find_wrong_signs(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if all absolute values are right but some signs are wrong, else None."""
    if not is_comparable(got, want) or is_same(got, want) or want.size < 3:
        return None
    if not is_same(np.abs(got), np.abs(want)):
        return None
    wrong = ~close_elements(got, want, TOLERANCE)
    return f"The absolute values are right, but {int(wrong.sum())} of {wrong.size} signs are wrong"
