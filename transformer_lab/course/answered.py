"""What an answer did with all cases of a check, beside what was expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.comparing import close, is_number, near, same_kind
from transformer_lab.course.outcome import Outcome
from transformer_lab.course.words import table


@dataclass(frozen=True)
class Answered:
    """What an answer did with all cases, beside what was expected.

    Attributes:
        given: What it did with each case.
        expected: What the reference did.
        cases: The arguments of each case.
        names: The names of the arguments.
        results: The names of the results.
        tolerance: The largest difference that counts as equal.
    """

    given: Sequence[Outcome]
    expected: Sequence[Outcome]
    cases: Sequence[tuple[Any, ...]]
    names: Sequence[str]
    results: Sequence[str]
    tolerance: float

    def right(self) -> list[bool]:
        """Which cases the answer does right."""
        pairs = zip(self.given, self.expected, strict=True)
        return [a.is_right(b, self.tolerance) for a, b in pairs]

    def first_wrong(self) -> int:
        """The smallest case that fails."""
        return self.right().index(False)

    def wrong_result(self) -> int | None:
        """Of the smallest case that fails: which result is not what was expected."""
        got, want = self.given[self.first_wrong()], self.expected[self.first_wrong()]
        if got.error or len(got.results) != len(want.results):
            return None
        pairs = enumerate(zip(got.results, want.results, strict=True))
        wrong = (n for n, (a, b) in pairs if not (close(a, b, self.tolerance) and same_kind(a, b)))
        return next(wrong, None)


def first_difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """The first place at which two arrays of one shape differ; () for single numbers."""
    both = is_number(got) and is_number(want)
    differs = ~near(got, want, tolerance) if both else got != want
    found = np.argwhere(differs)
    return tuple(int(i) for i in found[0]) if len(found) else (0,) * want.ndim


def tables(answered: Answered, room: int) -> list[str]:
    """Input, expected and got of the smallest case that fails, in so many lines at most."""
    at, place = answered.first_wrong(), answered.wrong_result()
    got, want = answered.given[at], answered.expected[at]
    lines: list[str] = []
    if place is not None and want.results[place].ndim:
        a, b = got.results[place], want.results[place]
        first = first_difference(a, b, answered.tolerance) if a.shape == b.shape else (0,) * b.ndim
        lines = [*table("expected", b, first), *table("got", a, first[-a.ndim :] if a.ndim else ())]
        if a.ndim != b.ndim:
            lines = [*table("expected", b, (0,) * b.ndim), *table("got", a, (0,) * a.ndim)]
    for name, value in zip(answered.names, answered.cases[at], strict=False):
        if isinstance(value, np.ndarray | Tensor) and value.ndim > 0:
            x = np.asarray(value.detach() if isinstance(value, Tensor) else value)
            head = table(name, x, (0,) * x.ndim)
            if len(head) + len(lines) <= room:
                lines = [*head, *lines]
            break
    return lines if len(lines) <= room else []
