"""Find what is wrong with the numbers in a result, by probing one case or all cases together.

`diagnosis` uses this for a result that has the right shape. A coincidence is not a cause, so
`choose_finding` keeps only explanations that also hold in other cases.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor

from transformer_lab.course.judge import probes
from transformer_lab.course.judge.attempt import Attempt
from transformer_lab.course.judge.closeness import is_close, is_equal, is_numeric
from transformer_lab.course.judge.formatting import is_plural, start_sentence
from transformer_lab.course.judge.probes.numbers import find_nan_or_infinity
from transformer_lab.course.judge.probes.places import (
    find_equal_lines,
    find_reordering,
    find_shift,
)
from transformer_lab.course.judge.probes.wrong_part import find_one_sided_errors, find_wrong_part
from transformer_lab.course.judge.size_factors import find_size_error

Find = Callable[[Attempt, int, int], str | None]
"""A function that looks for a fault, given an attempt, a case's index and a result's index.

It returns a sentence without a full stop, or None.
"""


@dataclass(frozen=True)
class Finder:
    """A way to look for a fault in a result.

    Attributes:
        find: The function that looks for the fault.
        probe: The probe that `find` runs, or None.
    """

    find: Find
    probe: probes.Probe | None = None

    @property
    def says_only_where(self) -> bool:
        """Whether the sentence says only where or how many numbers are wrong."""
        return self.probe in (find_wrong_part, find_one_sided_errors)

    @property
    def says_why(self) -> bool:
        """Whether the sentence says why the result is wrong; if not, the case is worked out."""
        return self.probe not in probes.PROBES_WITHOUT_CAUSE


class Finding(NamedTuple):
    """A fault in a result: a sentence without a full stop, and the finder that found the fault."""

    sentence: str
    finder: Finder


def choose_finding(
    finders: Sequence[Finder], attempt: Attempt, at: int, place: int
) -> Finding | None:
    """Return the first explanation that also holds in fresh random cases, if there is one.

    What is true in one case may be a coincidence. So the same finder must give the same
    explanation, apart from numbers, in two more failing cases (or in the only other one). If no
    other case fails in a comparable way, the explanation is accepted. NaN and infinite numbers need
    no confirmation, because they do not appear by coincidence.
    """
    for finder in finders:
        said = finder.find(attempt, at, place)
        # A NaN never appears by coincidence.
        is_certain = finder.probe is find_nan_or_infinity
        if said and (is_certain or _holds_again(said, finder.find, attempt, at, place)):
            return Finding(said, finder)
    return None


def _holds_again(said: str, find: Find, attempt: Attempt, at: int, place: int) -> bool:
    fresh = attempt.fresh
    if fresh is None:
        return True
    is_shape_right = _has_right_shape(attempt, at, place)
    others = [
        n
        for n, right in enumerate(fresh.right())
        if not right and _has_right_shape(fresh, n, place) == is_shape_right
    ]
    pattern = _omit_numbers(said)
    same = [n for n in others if _omit_numbers(find(fresh, n, place)) == pattern]
    return len(same) >= min(2, len(others))


def _has_right_shape(attempt: Attempt, at: int, place: int) -> bool | None:
    """Return whether a result has the expected shape; None if there is no such result."""
    got, want = attempt.given[at], attempt.expected[at]
    if len(got.results) != len(want.results):
        return None
    return got.results[place].shape == want.results[place].shape


def _omit_numbers(text: str | None) -> str | None:
    """Mask a hint's numbers and drop its plurals, so hints from different cases can be compared."""
    if text is None:
        return None
    text = text.replace(" (the last)", "").replace("All numbers", "1 of 2 numbers")
    text = re.sub(r"[−-]?\d[\d.,/]*(e[+-]?\d+)?|[Oo]ne\b", "#", text.replace("ntries", "ntry"))
    return re.sub(r"\b(number|place|digit|sign)s\b", r"\1", text).replace(" are ", " is ")


def make_finder(probe: probes.Probe, least: int = 0, is_strict: bool = False) -> Finder:
    """Return a finder that runs a probe if the expected result has at least `least` entries.

    If the finder is strict, what the probe says about a list of whole numbers or words must be true
    in every failing case. In at least one of them, the list must be too varied for a coincidence.
    """

    def find(attempt: Attempt, at: int, place: int) -> str | None:
        got, want = attempt.given[at].results[place], attempt.expected[at].results[place]
        said = probe(got, want) if want.size >= least else None
        if said is None or not is_strict or want.ndim != 1 or want.dtype.kind == "f":
            return said
        return said if _is_true_of_all(said, probe, attempt, place) else None

    return Finder(find, probe)


SOME, MANY_BOOLEANS = 4, 8
"""The minimum numbers of distinct entries and of booleans needed to rule out a coincidence."""


def _is_true_of_all(said: str, probe: probes.Probe, attempt: Attempt, place: int) -> bool:
    """Return whether a probe's hint is the same in all failing cases, apart from its numbers.

    These cases include fresh random ones. In at least one case, the lists must have enough entries.
    """
    pairs = [
        (given.results[place], expected.results[place])
        for one in (attempt, attempt.fresh)
        if one is not None
        for given, expected, right in zip(one.given, one.expected, one.right(), strict=True)
        if not right and len(given.results) == len(expected.results)
    ]
    # With no values, or just one, the first is also the last, so agreement proves nothing.
    pairs = [pair for pair in pairs if all(x.size for x in pair) and not _is_one_value(*pair)]
    pattern = _omit_numbers(said)
    if not all(_omit_numbers(probe(got, want)) == pattern for got, want in pairs):
        return False
    return any(
        _has_enough_entries(min(pair, key=np.size) if pair[0].ndim else pair[1]) for pair in pairs
    )


def _is_one_value(got: np.ndarray, want: np.ndarray) -> bool:
    """Return whether all entries of both arrays have the same value."""
    return bool((got == want.flat[0]).all() and (want == want.flat[0]).all())


def _has_enough_entries(x: np.ndarray) -> bool:
    return x.size >= MANY_BOOLEANS if x.dtype == bool else len(np.unique(x)) >= SOME


IN_EVERY_CASE = {
    "All numbers are": "In every case, the result is",
    "Each number is": "In every case, the result is",
    "what they should be": "what it should be",
}
"""Phrases of a probe, mapped to replacements for cases whose result is a single number."""


def _find_common_change(attempt: Attempt, at: int, place: int) -> str | None:
    """Describe what is wrong with the numbers of all cases together, if a probe finds anything."""
    pairs = _list_pairs(attempt, place)
    if len(pairs) < 2 or not all(is_numeric(g) and is_numeric(w) for g, w in pairs):
        return None
    every = (np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))
    said = probes.run_probes(probes.NUMBER_PROBES, *every)
    if said is None or pairs[0][1].ndim:
        return said
    for several, single in IN_EVERY_CASE.items():
        said = said.replace(several, single)
    return said


def _list_pairs(attempt: Attempt, place: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the given and the expected result of each case in which their shapes agree."""
    return [
        (g.results[place], w.results[place])
        for n, (g, w) in enumerate(zip(attempt.given, attempt.expected, strict=True))
        if _has_right_shape(attempt, n, place)
    ]


def find_constant_result(attempt: Attempt, at: int, place: int) -> str | None:
    """Return a hint if the result is the same in every case but should not be, else None."""
    pairs = _list_pairs(attempt, place)
    if len(pairs) < 3:
        return None
    first, wanted = pairs[0]
    if any(got.shape != first.shape for got, _ in pairs):
        return None
    if all(is_equal(got, first) for got, _ in pairs) and not all(
        is_equal(want, wanted) for _, want in pairs
    ):
        return "The result is the same in every case, so it does not depend on the arguments"
    return None


def find_wrong_index(attempt: Attempt, at: int, place: int) -> str | None:
    """Return a hint if the result is an element of an argument at the wrong index, else None."""
    got, want = attempt.given[at].results[place], attempt.expected[at].results[place]
    if got.ndim or want.ndim or not _is_always_an_element(attempt, place):
        return None
    for name, value in zip(attempt.names, attempt.cases[at], strict=False):
        if not isinstance(value, np.ndarray | Tensor | list | tuple) or not len(value):
            continue
        x = np.asarray(value.detach() if isinstance(value, Tensor) else value, dtype=None)
        if x.dtype.kind not in "biufU" or (x.dtype.kind == "U") != (got.dtype.kind == "U"):
            continue
        mine, theirs = np.argwhere(x == got), np.argwhere(x == want)
        if len(mine) and len(theirs):
            found, asked = (", ".join(map(str, p[0].tolist())) for p in (mine, theirs))
            return f"The result is `{name}[{found}]`, but should be `{name}[{asked}]`"
    return None


def _is_always_an_element(attempt: Attempt, place: int) -> bool:
    """Return whether a single-number result is an element of an argument in each failing case."""
    wrong = [n for n, right in enumerate(attempt.right()) if not right]
    return all(
        any(
            isinstance(value, np.ndarray | Tensor | list | tuple)
            and np.isin(attempt.given[n].results[place], np.asarray(value)).all()
            for value in attempt.cases[n]
        )
        for n in wrong
        if attempt.given[n].error is None
    )


def find_argument_in_result(attempt: Attempt, at: int, place: int) -> str | None:
    """Return a hint if one argument explains the wrong result, and None otherwise.

    The result may equal the argument, or be too large or too small by exactly the argument. It may
    also be multiplied by the argument once too often, or one such multiplication may be missing.
    """
    got, want = attempt.given[at].results[place], attempt.expected[at].results[place]
    if not is_numeric(got) or not is_numeric(want):
        return None
    case = attempt.cases[at]
    for name, value in zip(attempt.names, case, strict=False):
        if isinstance(value, bool) or not isinstance(value, int | float | np.ndarray | Tensor):
            continue
        x = np.asarray(value.detach() if isinstance(value, Tensor) else value)
        if not is_numeric(x) or not x.size or x.ndim > want.ndim:
            continue
        if x.shape == got.shape and got.ndim and is_close(got, x, 1e-6):
            return f"The result is `{name}`, unchanged"
        if x.ndim == 0 or bool in (got.dtype, want.dtype, x.dtype):
            continue
        if any(a != b for a, b in zip(x.shape[::-1], want.shape[::-1], strict=False)):
            continue
        with np.errstate(all="ignore"):
            for sign, what in ((1, "large"), (-1, "small")):
                if is_close(got, want + sign * x, 1e-7):
                    return f"The result is too {what} by exactly `{name}`"
            if is_close(got, want * x, 1e-7):
                return f"The result is multiplied by `{name}` once too often"
            if is_close(got * x, want, 1e-7):
                return f"A multiplication by `{name}` is missing"
    return None


ACCIDENTAL = (find_shift, find_reordering, find_equal_lines)
"""Probes whose findings could easily be coincidences if a list is short."""
NUMBER_FINDERS: Sequence[Finder] = (
    make_finder(find_nan_or_infinity),
    Finder(_find_common_change),
    Finder(find_argument_in_result),
    Finder(find_size_error),
    *(make_finder(probe, is_strict=probe in ACCIDENTAL) for probe in probes.PLACE_PROBES[:-1]),
    *(make_finder(probe, least=3) for probe in probes.NUMBER_PROBES),
    Finder(find_constant_result),
    Finder(find_wrong_index),
)
"""All finders for a result of the right shape; those that would explain every case come first."""


def find_fault_in_other_results(attempt: Attempt, at: int, place: int) -> str | None:
    """Describe a fault in a result other than result `place`, if there is one."""
    for n, name in enumerate(attempt.results):
        got, want = attempt.given[at].results[n], attempt.expected[at].results[n]
        if n == place or is_close(got, want, attempt.tolerance) or got.shape != want.shape:
            continue
        found = choose_finding(NUMBER_FINDERS, attempt, at, n)
        if found and not found.finder.says_only_where:
            verb = "are" if is_plural(name) else "is"
            return f"{start_sentence(name)} {verb} wrong, too. {found.sentence}"
    return None
