"""Checks of exercises: is an answer right, and if not, which mistake is it?"""

import functools
import inspect
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
import torch

from transformer_lab import progress
from transformer_lab.course.answered import Answered, tables
from transformer_lab.course.as_if import as_if, unread
from transformer_lab.course.belongings import codes_of, surroundings, unchanged
from transformer_lab.course.chance import Chance
from transformer_lab.course.diagnosis import LINES, describe
from transformer_lab.course.outcome import Outcome, outcome_of
from transformer_lab.course.words import words
from transformer_lab.progress import Place


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give, and the hint for whoever gives it."""

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and what to say to it."""

    right: bool
    text: str
    is_named: bool = False


DRAWN = 3
"""How many cases of a check are drawn: who knows those written by hand by heart fails at these."""
SOLUTION = "### BEGIN SOLUTION"
"""The first line of each cell that holds the page's own solution."""
BEYOND_WORDS = "what comes back is not what was asked, in a way for which there are no words here."


def is_the_pages(answer: Callable[..., Any]) -> bool:
    """Whether an answer was defined by a page's solution: "Run all" passes every check with those."""
    cells = {code.co_filename for code in codes_of(answer)}
    return any(linecache.getline(cell, 1).startswith(SOLUTION) for cell in cells)


def call(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function on one case: the way in which most exercises are run."""
    return answer(*arguments)


@dataclass(frozen=True, kw_only=True)
class Check:
    """Compares an answer with a reference by what it does, never by how it is written.

    Call it with the answer: it prints one line if that is right. Else it prints a hint: the one of
    the known mistake that does the same in every case, or the smallest case that fails.

    Attributes:
        reference: The right answer.
        cases: Makes the arguments of the cases written by hand, the smallest first.
        mistakes: Known wrong answers; each does something else than the others.
        verified: What a right answer has been shown to do.
        results: The names of what the answer returns.
        run: Runs an answer on the arguments of a case; an exercise that asks for a class builds it.
        arguments: The names of the arguments of a case; the reference's if not said.
        tolerance: The largest difference that counts as equal.
        own: The package's definitions of what is to be written, beside the reference.
        place: Which exercise of which lesson it is, so that it can be kept that it was passed.
        drawn: Makes a case's arguments by chance; three such cases follow those written by hand.
    """

    reference: Callable[..., Any]
    cases: Callable[[], Sequence[tuple[Any, ...]]]
    mistakes: Sequence[Mistake]
    verified: str
    results: tuple[str, ...] = ("the result",)
    run: Callable[..., Any] = call
    arguments: tuple[str, ...] = ()
    tolerance: float = 1e-9
    own: Sequence[Callable[..., Any]] = ()
    place: Place | None = None
    drawn: Callable[[Chance], tuple[Any, ...]] | None = None

    def __call__(self, answer: Callable[..., Any]) -> None:
        """Check the answer and print the verdict; that it is right is kept, unless it is the page's."""
        verdict = self.verdict(answer)
        print(verdict.text)
        place = self.place if verdict.right and not is_the_pages(answer) else None
        if place and (line := progress.exercise_passed(place)):
            print(line)

    def verdict(self, answer: Callable[..., Any]) -> Verdict:
        """Whether the answer is right, and what to say."""
        before = surroundings(answer)
        verdict = self.judge(self.outcomes(answer), answer)
        after = surroundings(answer)
        kept = [name for name in before if not unchanged(before[name], after.get(name))]
        if kept and not verdict.is_named:
            said = f"it changes {' and '.join(kept)}: the next call begins with something else"
            return Verdict(False, f"Not yet: {said}.")
        hint = self.second_look(answer) if verdict.right else None
        return Verdict(False, f"Not yet: {hint}.") if hint else verdict

    def judge(self, given: list[Outcome], answer: Callable[..., Any] | None = None) -> Verdict:
        """The verdict on an answer that did this with the cases; if there, it is asked once more."""
        expected = self.known_outcomes(self.reference)
        stops = (o for o in given if isinstance(o.error, NotImplementedError))
        if any("in your line" in outcome.complaint for outcome in stops):  # not in a library's
            return Verdict(
                False, "Not written yet. Your lines go where raise stands; then run this again."
            )
        given = [got.unstacked(want) for got, want in zip(given, expected, strict=True)]
        cases = self.made
        tolerance = self.tolerance_of(cases)
        answered = Answered(given, expected, cases, self.names(cases[0]), self.results, tolerance)
        if all(answered.right()):
            return Verdict(True, f"Right: {self.verified} ({len(given)} cases).")
        known = self.known_mistake(given, tolerance)
        case = cases[answered.first_wrong()]
        seen = f"(seen with {self.words_for(case)})"
        try:
            with np.errstate(all="ignore"):
                found = known or describe(answered, self.misread(answered, answer))
                text = f"Not yet: {found}\n{seen}"
                shown = tables(answered, LINES - text.count("\n") - 1)
        except (
            Exception
        ):  # whatever was returned, a learner gets an answer and no traceback of ours
            return Verdict(False, f"Not yet: {BEYOND_WORDS}\n{seen}", bool(known))
        return Verdict(False, "\n".join([text, *shown]), bool(known))

    def misread(self, answered: Answered, answer: Callable[..., Any] | None) -> str | None:
        """Which argument is exchanged, changed or left out, if that explains what was done."""
        at, names = answered.first_wrong(), answered.names
        if answered.wrong_result() is None:
            return None

        def doing(one: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
            with torch.no_grad():  # sizes are changed here, and only results are compared
                return self.outcome(one, case)

        reference = functools.partial(doing, self.reference)
        found = as_if(reference, answered.cases, names, answered.given)
        if found or answer is None:
            return found
        asked, case = functools.partial(doing, answer), answered.cases[at]
        return unread(reference, asked, case, names, answered.given[at])

    def second_look(self, answer: Callable[..., Any]) -> str | None:
        """What is wrong with an answer that has done all cases right: it cheats, or remembers."""
        expected, again = self.known_outcomes(self.reference), self.outcomes(answer)
        pairs = zip(again, expected, strict=True)
        tolerance = self.tolerance_of(self.made)
        if not all(a.unstacked(b).is_right(b, tolerance) for a, b in pairs):
            return "right the first time; called again with the same arguments, it gives something else"
        name = self.own_that_is_called(answer)
        return name and f"it calls the package's own {name}; write it yourself, and then compare"

    def own_that_is_called(self, answer: Callable[..., Any]) -> str | None:
        """The name of the package's definition of this very thing, if the answer calls it."""
        is_package = self.reference.__module__.startswith("transformer_lab.")
        is_check = self.reference.__module__.startswith("transformer_lab.course.")
        owned = [*self.own, *([self.reference] if is_package and not is_check else [])]
        codes = {code: one.__name__ for one in owned for code in codes_of(one)}
        if not codes.keys().isdisjoint(codes_of(answer)) or answer is self.reference:
            return None
        called: list[str] = []

        def watch(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code in codes:
                called.append(codes[frame.f_code])

        kept = sys.getprofile()
        try:
            sys.setprofile(watch)
            self.outcome(answer, self.made[0])
        finally:
            sys.setprofile(kept)
        return called[0] if called else None

    def known_outcomes(self, answer: Callable[..., Any]) -> list[Outcome]:
        """What the reference or a known mistake does with each case."""
        return [self.known_outcome(answer, n) for n in range(len(self.made))]

    def known_outcome(self, answer: Callable[..., Any], place: int) -> Outcome:
        """What the reference or a known mistake does with one case: computed once, then kept."""
        if (answer, place) not in self.kept:
            self.kept[answer, place] = self.outcome(answer, self.made[place])
        return self.kept[answer, place]

    @functools.cached_property
    def kept(self) -> dict[tuple[Callable[..., Any], int], Outcome]:
        """The outcomes of the reference, and of those mistakes that an answer was compared with."""
        return {}

    @functools.cached_property
    def made(self) -> Sequence[tuple[Any, ...]]:
        """The cases: each answer gets a copy, so that none can spoil them."""
        written = list(self.cases())
        return written + [self.drawn(Chance(seed)) for seed in range(DRAWN) if self.drawn]

    def outcomes(self, answer: Callable[..., Any]) -> list[Outcome]:
        """What the answer does with each case."""
        return [self.outcome(answer, case) for case in self.made]

    def outcome(self, answer: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
        """What the answer does with one case."""
        return outcome_of(answer, self.run, case, self.names(case))

    def known_mistake(self, given: list[Outcome], tolerance: float) -> str | None:
        """The hint of the mistake that does exactly what was done here, if there is one."""
        if all(outcome.error is not None for outcome in given):
            return None  # errors tell too little: the error itself says more
        for mistake in self.mistakes:
            if all(
                outcome.equals(self.known_outcome(mistake.answer, n), tolerance)
                for n, outcome in enumerate(given)
            ):
                return mistake.hint
        return None

    def tolerance_of(self, cases: Sequence[tuple[Any, ...]]) -> float:
        """Single precision is right enough in PyTorch, and where no array says which it should be."""
        values = [value for case in cases for value in case]
        exact = any(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in values)
        floats = any(isinstance(x, float) for x in values)
        return self.tolerance if exact or floats else max(self.tolerance, 1e-6)

    def names(self, case: tuple[Any, ...]) -> list[str]:
        """The names of the arguments of a case."""
        known = self.arguments or list(inspect.signature(self.reference).parameters)
        return [known[n] if n < len(known) else f"argument {n + 1}" for n in range(len(case))]

    def words_for(self, case: tuple[Any, ...]) -> str:
        """The arguments of a case in words: shapes of arrays, the rest as it is."""
        pairs = zip(self.names(case), case, strict=True)
        return ", ".join(f"{name} {words(value)}" for name, value in pairs)
