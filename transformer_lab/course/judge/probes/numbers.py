"""Probes that look at each number on its own: is it scaled, squared, rounded or missing a sign?"""

import itertools
import math
from collections.abc import Callable

import numpy as np

from transformer_lab.course.judge.closeness import close_elements, is_close, is_numeric
from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.probes.equality import TOLERANCE, is_comparable, is_same

CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the square of the right result, so a square root is missing, or something is squared once "
    "too often": np.square,
    "the square root of the right result": np.sqrt,
    "1 over the right result": lambda x: 1 / x,
    "minus 1 over the right result": lambda x: -1 / x,
    "1 minus the right result": lambda x: 1 - x,
    "e to the power of the right result, so a logarithm is missing": np.exp,
    "the natural logarithm of the right result": np.log,
    "minus the logarithm of the right result": lambda x: -np.log(x),
    "the right result without its sign, so a minus is missing": np.abs,
    "the right result with 0 in place of the numbers below 0": lambda x: np.maximum(x, 0),
    "the right result, rounded": np.round,
    "the right result, rounded down": np.floor,
    "the right result without its decimals": np.trunc,
    "the right result, rounded up": np.ceil,
}

CAUSES = {
    "NaN": "NaN can come from 0/0, ∞ − ∞, 0 · ∞ or the logarithm of a negative number",
    "infinite": "∞ can come from an ∞ in your code, an overflow, a division by 0 or the logarithm of 0",
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
                return f"{describe_count(bad)} infinite, and should not be{rest}"
            return f"{describe_count(bad)} {name}{rest}. {CAUSES[name]}"
    if want.dtype.kind == "f":
        for name, test in (("∞", np.isinf), ("NaN", np.isnan)):
            lost = test(want) & ~test(got)
            if lost.any():
                many = "one number" if lost.sum() == 1 else f"{int(lost.sum())} numbers"
                good = is_close(np.where(lost, 0, got), np.where(lost, 0, want), TOLERANCE)
                rest = "; the others are right" if good and not lost.all() else ""
                return (
                    f"{many} should be ±{name} and {'is' if lost.sum() == 1 else 'are'} not{rest}"
                )
    return None


def describe_count(mask: np.ndarray) -> str:
    """Say how many entries of a mask are True, in a phrase such as "2 of 6 numbers are"."""
    many, size = int(mask.sum()), mask.size
    if many == size:
        return "it is" if size == 1 else "all numbers are"
    return f"{many} of {size} numbers {'is' if many == 1 else 'are'}"


def find_constant_factor(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if every number is off by the same factor, and None otherwise."""
    ratio = compute_constant_ratio(got, want)
    if ratio is None:
        return None
    if math.isclose(ratio, -1, rel_tol=TOLERANCE):
        return "right except for the sign, everywhere"
    if ratio == 0:
        return "all numbers are 0"
    return f"all numbers are {format_ratio(ratio)} times as large as they should be"


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
    return f"all numbers are too {'large' if mean > 0 else 'small'} by {format_number(abs(mean))}"


def find_elementwise_change(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if each number is the same function of the expected one, and None otherwise.

    The functions tried include squares, roots, logarithms and rounding.
    """
    if not is_comparable(got, want) or want.size < 2 or is_same(got, want):
        return None
    for digits in range(1, 6):
        if is_same(got, want.round(digits)) and want.dtype.kind == "f":
            return f"right to {digits} decimal place{'s' * (digits > 1)}: is it rounded?"
    with np.errstate(all="ignore"):
        for what, change in CHANGES.items():
            changed = change(want.astype(float))
            if np.isfinite(changed).all() and np.ptp(changed) > 0 and is_same(got, changed):
                return f"this is {what}"
    return None


def find_wrong_signs(got: np.ndarray, want: np.ndarray) -> str | None:
    """Return a hint if all absolute values are right but some signs are wrong, else None."""
    if not is_comparable(got, want) or is_same(got, want) or want.size < 3:
        return None
    if not is_same(np.abs(got), np.abs(want)):
        return None
    wrong = ~close_elements(got, want, TOLERANCE)
    return f"the absolute values are right; {int(wrong.sum())} of {wrong.size} signs are not"
