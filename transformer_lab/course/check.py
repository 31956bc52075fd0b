"""Checks of exercises: is an answer right, and if not, which mistake is it?"""

import copy
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch


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


@dataclass(frozen=True)
class Outcome:
    """What an answer did with one case: its results, or its error, and what it changed in place."""

    results: tuple[np.ndarray, ...] = ()
    error: Exception | None = None
    changed: tuple[str, ...] = ()

    def equals(self, other: "Outcome", tolerance: float) -> bool:
        """Whether two answers did the same: equal results, or the same error."""
        if self.error is not None or other.error is not None:
            # Errors of one type may have many causes; those of one text, in all cases, hardly.
            return type(self.error) is type(other.error) and str(self.error) == str(other.error)
        if self.changed != other.changed or len(self.results) != len(other.results):
            return False
        return all(map(close, self.results, other.results, [tolerance] * len(self.results)))

    def is_right(self, expected: "Outcome", tolerance: float) -> bool:
        """Whether an answer did what was expected, with whole numbers where there should be some."""
        kinds = map(same_kind, self.results, expected.results)
        return self.equals(expected, tolerance) and all(kinds)


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
        cases: Makes the arguments of each case, the smallest first.
        mistakes: Known wrong answers; each does something else than the others.
        verified: What a right answer has been shown to do.
        results: The names of what the answer returns.
        run: Runs an answer on the arguments of a case; an exercise that asks for a class builds it.
        arguments: The names of the arguments of a case; the reference's if not said.
        tolerance: The largest difference that counts as equal.
    """

    reference: Callable[..., Any]
    cases: Callable[[], Sequence[tuple[Any, ...]]]
    mistakes: Sequence[Mistake]
    verified: str
    results: tuple[str, ...] = ("the result",)
    run: Callable[..., Any] = call
    arguments: tuple[str, ...] = ()
    tolerance: float = 1e-9

    def __call__(self, answer: Callable[..., Any]) -> None:
        """Check the answer and print the verdict."""
        print(self.verdict(answer).text)

    def verdict(self, answer: Callable[..., Any]) -> Verdict:
        """Whether the answer is right, and what to say."""
        return self.judge(self.outcomes(answer))

    def judge(self, given: list[Outcome]) -> Verdict:
        """The verdict on an answer that did this with the cases."""
        expected = self.known_outcomes(self.reference)
        if any(isinstance(outcome.error, NotImplementedError) for outcome in given):
            return Verdict(
                False, "Not written yet. Your lines go where raise stands; then run this again."
            )
        pairs = list(zip(given, expected, strict=True))
        wrong = [n for n, pair in enumerate(pairs) if not pair[0].is_right(pair[1], self.tolerance)]
        if not wrong:
            return Verdict(True, f"Right: {self.verified} ({len(pairs)} cases).")
        hint = self.known_mistake(given) or self.describe(*pairs[wrong[0]])
        case = self.cases()[wrong[0]]
        return Verdict(False, f"Not yet: {hint}\n(seen with {self.words_for(case)})")

    def known_outcomes(self, answer: Callable[..., Any]) -> list[Outcome]:
        """What the reference or a known mistake does with each case: computed once, then kept."""
        if answer not in self.kept:
            self.kept[answer] = self.outcomes(answer)
        return self.kept[answer]

    @functools.cached_property
    def kept(self) -> dict[Callable[..., Any], list[Outcome]]:
        """The outcomes of the reference, and of those mistakes that an answer was compared with."""
        return {}

    def outcomes(self, answer: Callable[..., Any]) -> list[Outcome]:
        """What the answer does with each case."""
        return [self.outcome(answer, case) for case in self.cases()]

    def outcome(self, answer: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
        """What the answer does with one case; an error of any kind is something it may do."""
        arguments = copy.deepcopy(case)
        try:
            with np.errstate(all="ignore"), torch.random.fork_rng([]):
                results = arrays(self.run(answer, *arguments))
        except Exception as error:
            return Outcome(error=error)
        before_and_after = zip(self.names(case), case, arguments, strict=True)
        changed = tuple(name for name, a, b in before_and_after if not unchanged(a, b))
        return Outcome(results, changed=changed)

    def known_mistake(self, given: list[Outcome]) -> str | None:
        """The hint of the mistake that does exactly what was done here, if there is one."""
        if all(outcome.error is not None for outcome in given):
            return None  # errors tell too little: the error itself says more
        for mistake in self.mistakes:
            theirs = self.known_outcomes(mistake.answer)
            if all(map(Outcome.equals, given, theirs, [self.tolerance] * len(given))):
                return mistake.hint
        return None

    def describe(self, given: Outcome, expected: Outcome) -> str:
        """What is wrong with one outcome, in words and numbers."""
        if given.error is not None:
            return f"it stops with {type(given.error).__name__}: {given.error}"
        if given.changed:
            names = " and ".join(given.changed)
            return f"it changes {names} in place; whoever called it still needs what was there"
        if not given.results:
            return "it returns None: is there a `return`?"
        if len(given.results) != len(expected.results):
            asked = f"{len(expected.results)}: {', '.join(self.results)}"
            note = " (a list counts as several things)" if len(expected.results) == 1 else ""
            return f"it returns {counted(given.results)}; expected {asked}{note}"
        for name, got, want in zip(self.results, given.results, expected.results, strict=True):
            if got.shape != want.shape:
                return f"{name} has shape {got.shape}; expected {want.shape}"
            if want.dtype.kind in "iu" and got.dtype.kind == "f":
                return f"{name} should be made of whole numbers (with // where you divide)"
            if not same_kind(got, want):
                return f"{name} has dtype {got.dtype}; expected {want.dtype}"
            if close(got, want, self.tolerance):
                continue
            if not is_number(got):
                return f"{name} is: {got}; expected: {want}"
            place = first_difference(got, want, self.tolerance)
            where = f"{name}[{', '.join(map(str, place))}]" if place else name
            return f"{where} is {got[place]:.9g}; expected {want[place]:.9g}" + single(got, want)
        raise AssertionError("describe was called for an outcome that is right")

    def names(self, case: tuple[Any, ...]) -> list[str]:
        """The names of the arguments of a case."""
        known = self.arguments or list(inspect.signature(self.reference).parameters)
        return [known[n] if n < len(known) else f"argument {n + 1}" for n in range(len(case))]

    def words_for(self, case: tuple[Any, ...]) -> str:
        """The arguments of a case in words: shapes of arrays, the rest as it is."""
        pairs = zip(self.names(case), case, strict=True)
        return ", ".join(f"{name} {words(value)}" for name, value in pairs)


def arrays(result: Any) -> tuple[np.ndarray, ...]:
    """What an answer returned, as arrays; None gives none."""
    if result is None:
        return ()
    parts = result if isinstance(result, tuple | list) else (result,)
    return tuple(
        part.detach().cpu().numpy() if isinstance(part, torch.Tensor) else np.asarray(part)
        for part in parts
    )


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal shapes and kinds, no number off by more than the tolerance; NaN equals NaN."""
    if a.shape != b.shape or (a.dtype == bool) != (b.dtype == bool):
        return False
    if not (is_number(a) and is_number(b)):
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))


def same_kind(given: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether truth values are given for truth values, and whole numbers for whole numbers."""
    if wanted.dtype.kind in "iu" and given.dtype.kind == "f":
        return False
    return (given.dtype == bool) == (wanted.dtype == bool)


def is_number(array: np.ndarray) -> bool:
    """Whether an array holds numbers or truth values, which can be subtracted."""
    return array.dtype.kind in "biuf"


def single(got: np.ndarray, want: np.ndarray) -> str:
    """A word about numbers that are right but for their single precision."""
    near = got.dtype == np.float32 and np.allclose(got, want, rtol=1e-4, atol=1e-4)
    return " (your numbers are float32; compute in float64)" if near else ""


def counted(results: Sequence[Any]) -> str:
    """How many things an answer returned."""
    return "1 thing" if len(results) == 1 else f"{len(results)} things"


def first_difference(got: np.ndarray, want: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """The first place at which two arrays of one shape differ; () for single numbers."""
    differs = ~np.isclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)
    return tuple(int(i) for i in np.argwhere(differs)[0])


def unchanged(before: Any, after: Any) -> bool:
    """Whether an argument is what it was before the call; modules and functions are not looked at."""
    if isinstance(before, list | dict | set):
        return bool(before == after)
    if not isinstance(before, np.ndarray | torch.Tensor):
        return True
    first, second = arrays((before, after))
    return close(first, second, 0.0)


def words(value: Any) -> str:
    """An argument in few words."""
    if isinstance(value, np.ndarray | torch.Tensor) and value.ndim:
        return f"of shape {tuple(value.shape)}"
    if isinstance(value, torch.nn.Module):
        return f"a {type(value).__name__}"  # what it consists of would fill the page
    if callable(value):
        return "a function"
    return repr(value)
