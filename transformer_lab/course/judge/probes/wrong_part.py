"""Probes that say which numbers are wrong, used when no other probe has found the reason."""

import numpy as np

from transformer_lab.config import join_with_and, join_with_or
from transformer_lab.course.judge.closeness import close_elements, is_numeric
from transformer_lab.course.judge.formatting import format_number, take_three
from transformer_lab.course.judge.probes.equality import TOLERANCE, is_comparable


def find_wrong_part(got: np.ndarray, want: np.ndarray) -> str | None:
    """Describe which part of an array is wrong, if the rest is right and the part is easy to name.

    The part may be a row, the diagonal or every second entry, for example.
    """
    if got.shape != want.shape or not want.ndim or want.size < 2:
        return None
    if want.ndim == 1 and want.size < 4 and want.dtype.kind != "f":
        return None  # in so short a list, one entry is first, last or right by accident
    both = is_numeric(got) and is_numeric(want)
    wrong = np.asarray(~close_elements(got, want, TOLERANCE) if both else got != want)
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
        places = np.flatnonzero(per)
        where = f" along axis {axis}" if want.ndim > 1 else ""
        if list(places) == [0]:
            return f"Only the first entry{where} is wrong"
        if list(places) == [n - 1]:
            return f"Only the last entry{where} is wrong"
        if len(places) == n - 1 and not per[0] and n > 2:
            return f"Only the first entry{where} is right"
        if len(places) == n - 1 and not per[-1] and n > 2:
            return f"Only the last entry{where} is right"
        if n > 3 and (not per[::2].any() or not per[1::2].any()):
            return f"Every second entry{where} is right"
        if len(places) == 1:
            return f"Only entry {places[0]}{where} (counted from 0) is wrong"
        if 1 < len(places) < n and (np.diff(places) == 1).all() and places[-1] == n - 1:
            return f"The entries{where} are right up to entry {places[0] - 1} (counted from 0)"
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
        # In a 2 × 2 array, too many patterns fit.
        for where, part in parts.items() if min(want.shape[-2:]) > 2 else ():
            if not (wrong & ~part).any() and part.any():
                return f"Only numbers {where} are wrong"
    if want.dtype.kind == "f":  # for ids, it would be an accident
        kinds = {"0": want == 0, "positive": want > 0, "negative": want < 0}
        for what, part in kinds.items():
            if np.array_equal(part, wrong):
                return f"Exactly the numbers that should be {what} are wrong"
    return None


def find_one_sided_errors(got: np.ndarray, want: np.ndarray) -> str | None:
    """Describe how many numbers are wrong.

    If all of them are too large, or all too small, the description says so.
    """
    if not is_comparable(got, want) or not want.size:
        return None
    wrong = ~close_elements(got, want, TOLERANCE)
    if not wrong.any():
        return None
    many = "All numbers" if wrong.all() else f"{int(wrong.sum())} of {wrong.size} numbers"
    for test, word in ((got > want, "large"), (got < want, "small")):
        if test[wrong].all() and wrong.sum() > 1:
            apart = np.abs(got[wrong].astype(float) - want[wrong].astype(float))
            if close_elements(apart, np.full_like(apart, apart.mean()), TOLERANCE).all():
                return f"{many} are too {word}, each by {format_number(apart.mean())}"
            return f"{many} are too {word}, but not all by the same factor or amount"
    return f"{many} {'are' if wrong.sum() > 1 else 'is'} wrong" if want.size > 1 else None


def find_word_differences(got: np.ndarray, want: np.ndarray) -> str | None:
    """Describe which words a list of strings lacks, and which it should not contain."""
    if got.dtype.kind != "U" or want.dtype.kind != "U" or want.ndim != 1 or got.ndim != 1:
        return None
    missing = sorted(set(want.tolist()) - set(got.tolist()))
    extra = sorted(set(got.tolist()) - set(want.tolist()))
    lacks = f"lacks {join_with_and(take_three([*map(repr, missing)]))}" if missing else ""
    holds = f"should not contain {join_with_or(take_three([*map(repr, extra)]))}" if extra else ""
    found = ", and ".join(part for part in (lacks, holds) if part)
    return f"The list {found}" if found else None
