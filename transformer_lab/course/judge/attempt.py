"""`Attempt`: the outcomes of an answer in all cases of a check, with the expected outcomes.

`Check` creates one for each answer, and the modules that look for the fault read it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.closeness import (
    close_elements,
    is_close,
    is_numeric,
    is_same_kind,
)
from transformer_lab.course.judge.formatting import format_table
from transformer_lab.course.judge.outcome import Outcome


@dataclass(frozen=True)
class Attempt:
    """The outcomes of an answer in all cases, together with those of the reference.

    Attributes:
        given: The outcomes of the answer, one for each case.
        expected: The outcomes of the reference.
        cases: The arguments of each case.
        names: The names of the arguments.
        results: The names of the results.
        tolerance: The largest difference that counts as equal.
        working: The function that works out a case step by step (see `working.py`), or None if the
            exercise has none.
        fresh: The outcomes in fresh random cases, used to tell a cause from a coincidence.
        run_more: A function that runs the answer on many more random cases, to confirm findings
            that could easily be coincidences.
    """

    given: Sequence[Outcome]
    expected: Sequence[Outcome]
    cases: Sequence[tuple[Any, ...]]
    names: Sequence[str]
    results: Sequence[str]
    tolerance: float
    working: Callable[..., Iterable[tuple[str, Any]]] | None = None
    fresh: "Attempt | None" = None
    run_more: "Callable[[], Attempt | None] | None" = None

    @property
    def more(self) -> "Attempt | None":
        """The outcomes in many more random cases; None if there are none or time is too short."""
        return self.run_more() if self.run_more else None

    def right(self) -> list[bool]:
        """Return a list with one boolean per case: True if the answer is right in that case."""
        pairs = zip(self.given, self.expected, strict=True)
        return [a.is_right(b, self.tolerance) for a, b in pairs]

    def has_coarse_results(self) -> bool:
        """Return whether every expected result is boolean, a single integer or a single string."""
        return all(
            x.dtype.kind == "b" or (x.ndim == 0 and x.dtype.kind in "iuU")
            for outcome in self.expected
            for x in outcome.results
        )

    def first_wrong(self) -> int:
        """Return the index of the first case that fails. The cases are ordered by size."""
        return self.right().index(False)

    def wrong_result(self) -> int | None:
        """Return the index of the first wrong result in the first failing case.

        Return None if the answer raised an error there, returned the wrong number of results, or
        got every result right (then its side effects or gradients are wrong).
        """
        got, want = self.given[self.first_wrong()], self.expected[self.first_wrong()]
        if got.error or len(got.results) != len(want.results):
            return None
        pairs = enumerate(zip(got.results, want.results, strict=True))
        wrong = (
            n for n, (a, b) in pairs if not (is_close(a, b, self.tolerance) and is_same_kind(a, b))
        )
        return next(wrong, None)


def find_first_difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """Return the index of the first element where two arrays of the same shape differ.

    The index is () for single numbers. If no elements differ, it is the index of the first element.
    """
    both = is_numeric(got) and is_numeric(want)
    differs = ~close_elements(got, want, tolerance) if both else got != want
    found = np.argwhere(differs)
    return tuple(int(i) for i in found[0]) if len(found) else (0,) * want.ndim


def format_tables(attempt: Attempt, room: int) -> list[str]:
    """Return the lines of tables that show the first failing case: its inputs and both results.

    The tables have at most `room` lines: the expected and the actual result, and as many inputs as
    fit. If the two results alone do not fit, the list is empty.
    """
    at, place = attempt.first_wrong(), attempt.wrong_result()
    got, want = attempt.given[at], attempt.expected[at]
    lines: list[str] = []
    batch: tuple[int, ...] = ()  # the sentence, or sentence and head, in which the results differ
    size: tuple[int, ...] = ()
    if place is not None and want.results[place].ndim:
        a, b = got.results[place], want.results[place]
        first = (
            find_first_difference(a, b, attempt.tolerance) if a.shape == b.shape else (0,) * b.ndim
        )
        lines = [
            *format_table("expected", b, first),
            *format_table("got", a, first[-a.ndim :] if a.ndim else ()),
        ]
        if a.ndim != b.ndim:
            lines = [
                *format_table("expected", b, (0,) * b.ndim),
                *format_table("got", a, (0,) * a.ndim),
            ]
        elif a.shape == b.shape:
            batch, size = first[:-2], b.shape[:-2]
    tables: list[str] = []
    for name, value in zip(attempt.names, attempt.cases[at], strict=False):
        if isinstance(value, np.ndarray | Tensor) and value.ndim > 0:
            x = np.asarray(value.detach() if isinstance(value, Tensor) else value)
            same = x.ndim > 2 and x.shape[:-2] == size
            table = format_table(name, x, (*batch, 0, 0) if same else (0,) * x.ndim)
            if len(tables) + len(table) + len(lines) > room:
                break
            tables += table
    return [*tables, *lines] if len(lines) <= room else []
