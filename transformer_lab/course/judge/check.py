"""`Check` compares a learner's answer with a reference, and prints a verdict or a hint.

Each lesson's checks are instances of it. A notebook calls a check with the learner's function.
"""

import functools
import inspect
import io
import linecache
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np
import torch

from transformer_lab.config import check_choice
from transformer_lab.course import diary
from transformer_lab.course.diary import Place
from transformer_lab.course.judge import time_limit
from transformer_lab.course.judge.attempt import Attempt, format_tables
from transformer_lab.course.judge.counterfactuals import list_counterfactuals
from transformer_lab.course.judge.diagnosis import MAX_LINES, describe_failure
from transformer_lab.course.judge.formatting import describe_value
from transformer_lab.course.judge.guide import Guide
from transformer_lab.course.judge.misread_arguments import (
    find_misread_argument,
    find_numbers_of_the_page,
    find_unread_arguments,
)
from transformer_lab.course.judge.outcome import Outcome, run_case
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.side_effects import (
    copy_defaults_and_globals,
    find_code_objects,
    is_unchanged,
)
from transformer_lab.course.judge.time_limit import EndlessError
from transformer_lab.course.judge.working import Working


@dataclass(frozen=True)
class Mistake:
    """A common wrong answer and the hint for it."""

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Verdict:
    """A check's verdict on an answer.

    Attributes:
        right: Whether the answer is right.
        text: The text to print.
        is_named: Whether the answer makes a known mistake; if so, the text is the hint for it.
        printed: What the answer printed in the case that the text describes. It is empty for the
            first case, whose output has already appeared.
    """

    right: bool
    text: str
    is_named: bool = False
    printed: str = ""


RANDOM_CASES = 3
"""The number of random cases in a check; an answer that memorises the fixed cases fails on them."""
FRESH_CASES = 10
"""The maximum number of fresh random cases in which an explanation is tested."""
MORE_CASES = 40
"""The number of random cases used to confirm a finding that could easily be a coincidence."""
FEWEST_CASES = 3
"""The minimum number of cases that can rule out a coincidence if `MORE_CASES` take too long."""
FRESH_SECONDS = 5.0
"""The total time, in seconds, for which a wrong answer may run on the extra random cases."""
MOST_PRINTED = 10_000
"""The maximum number of characters of an answer's printed output that are kept."""
SOLUTION_MARK = "### BEGIN SOLUTION"
"""The first line of each notebook cell that contains the solution."""
NO_EXPLANATION = "the result is wrong, but this check cannot say in what way."


def is_page_solution(answer: Callable[..., Any]) -> bool:
    """Return whether an answer was defined in a notebook's solution cell, as after "Run all"."""
    cells = {code.co_filename for code in find_code_objects(answer)}
    return any(linecache.getline(cell, 1).startswith(SOLUTION_MARK) for cell in cells)


def _are_equal(given: Iterable[Outcome], wanted: Iterable[Outcome], tolerance: float) -> bool:
    return all(a.equals(b, tolerance) for a, b in zip(given, wanted, strict=False))


def call_answer(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with the arguments of one case. Most checks run answers this way."""
    return answer(*arguments)


@dataclass(frozen=True, kw_only=True, repr=False)
class Check:
    """A check that compares what an answer returns with what the reference returns.

    Call the check with an answer. If the answer is right, the check prints one line. If the answer
    gives the same results as a known mistake in every case, the check prints the hint for that
    mistake. Otherwise, the check says what is wrong in the first case that fails.

    Attributes:
        reference: The correct answer.
        cases: A function that returns the hand-written cases, each a tuple of arguments, smallest
            first.
        mistakes: Known wrong answers; no two of them give the same results.
        verified: What the check has shown about a correct answer; it is printed after "Right:".
        results: The names of the values that the answer returns.
        run: A function that calls the answer with the arguments of a case; if the answer is a
            class, it first creates an instance.
        arguments: The names of a case's arguments; by default, those of the reference.
        tolerance: The largest difference that counts as equal.
        own: The package's own functions or classes for this exercise; an answer must not call them.
        place: The lesson and the name of the exercise, under which the diary records it.
        drawn: A function that returns a random case; three of these follow the hand-written ones.
        working: A function that works out a case step by step, for an answer whose mistake is
            unknown.
        guide: How hard the exercise is, how long it takes, and its three hints.
    """

    reference: Callable[..., Any]
    cases: Callable[[], Sequence[tuple[Any, ...]]]
    mistakes: Sequence[Mistake]
    verified: str
    results: tuple[str, ...] = ("the result",)
    run: Callable[..., Any] = call_answer
    arguments: tuple[str, ...] = ()
    tolerance: float = 1e-9
    own: Sequence[Callable[..., Any]] = ()
    place: Place | None = None
    drawn: Callable[[RandomValues], tuple[Any, ...]] | None = None
    working: Working | None = None
    guide: Guide | None = None

    def __call__(self, answer: Callable[..., Any]) -> None:
        """Print the verdict, and record the exercise in the diary if the learner solved it."""
        verdict = self.verdict(answer)
        print(verdict.text)
        if verdict.printed:
            print(f"In this case, your answer printed:\n{verdict.printed}")
        place = self.place if verdict.right and not is_page_solution(answer) else None
        if place and (line := diary.record_exercise(place)):
            print(line)

    def __repr__(self) -> str:
        return "<a check: call it with your function, as in check.softmax(softmax)>"

    def hint(self, number: int = 1) -> None:
        """Print one of the three hints: 1 is a nudge, 2 the idea, and 3 nearly the whole solution.

        Raises:
            ValueError: If there is no hint with this number.
        """
        hints = self.guide.hints if self.guide else ()
        numbers = range(1, len(hints) + 1)
        check_choice("hint number", number, numbers)
        print(f"Hint {number}: {hints[number - 1]}")

    def verdict(self, answer: Callable[..., Any]) -> Verdict:
        """Run the answer on all cases and return the verdict."""
        if not callable(answer):
            given = (
                "a result" if isinstance(answer, np.ndarray | torch.Tensor) else repr(answer)[:40]
            )
            said = f"this is {given}, not a function. Pass the function itself, without calling it"
            return Verdict(False, f"Not yet: {said}.")
        before = copy_defaults_and_globals(answer)
        verdict = self.judge(self.run_cases(answer, prints=True), answer)
        after = copy_defaults_and_globals(answer)
        kept = [name for name in before if not is_unchanged(before[name], after.get(name))]
        if kept and not verdict.is_named:
            said = (
                f"your answer changes {' and '.join(kept)}, so the next call starts from a "
                "different state"
            )
            return Verdict(False, f"Not yet: {said}.")
        hint = self.find_forbidden_means(answer) if verdict.right else None
        return Verdict(False, f"Not yet: {hint}.") if hint else verdict

    def judge(self, given: Sequence[Outcome], answer: Callable[..., Any] | None = None) -> Verdict:
        """Return the verdict on an answer's outcomes, one for each case.

        If the answer itself is passed as well, the verdict can also name arguments that the answer
        does not read.
        """
        expected = self.known_outcomes(self.reference)
        if any(outcome.is_stub() for outcome in given):
            return Verdict(
                False, "Not written yet. Replace the `raise` line with your code, and run it again."
            )
        given = [got.split_stacked(want) for got, want in zip(given, expected, strict=True)]
        cases = self.all_cases
        tolerance = self.choose_tolerance(cases)
        names = self.argument_names(cases[0])
        attempt = Attempt(given, expected, cases, names, self.results, tolerance, self.working)
        if all(attempt.right()):
            return Verdict(True, f"Right: {self.verified} ({len(given)} cases).")
        if answer is not None:
            runs = FreshRuns(self, answer)
            run_more = functools.partial(self.try_more_cases, attempt, runs)
            attempt = replace(attempt, run_more=functools.cache(run_more))
        known = self.find_known_mistake(attempt)
        if not known and answer is not None:
            attempt = replace(attempt, fresh=self.try_fresh_cases(attempt, runs))
        case, printed = cases[attempt.first_wrong()], given[attempt.first_wrong()].printed.rstrip()
        seen = f"(seen with {self.describe_arguments(case)})"
        try:
            with np.errstate(all="ignore"):
                misread = None if known else self.find_misread_argument(attempt, answer)
                other = None if known or answer is None else find_numbers_of_the_page(answer)
                found = known or other or describe_failure(attempt, misread)
                text = f"Not yet: {found}\n{seen}"
                shown = format_tables(attempt, MAX_LINES - text.count("\n") - 1)
        except (
            Exception
        ):  # whatever was returned, the learner gets a verdict, never a traceback from here
            return Verdict(False, f"Not yet: {NO_EXPLANATION}\n{seen}", bool(known), printed)
        return Verdict(False, "\n".join([text, *shown]), bool(known), printed)

    def find_misread_argument(
        self, attempt: Attempt, answer: Callable[..., Any] | None
    ) -> str | None:
        """Describe an argument that the answer swaps, changes or ignores, or return None."""
        at, names = attempt.first_wrong(), attempt.names
        if attempt.wrong_result() is None:
            return None

        def doing(one: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
            # Sizes are changed here, and only results are compared, so the learner need not see
            # PyTorch's warnings about the changed sizes.
            with torch.no_grad(), warnings.catch_warnings(action="ignore"):
                return self.run_case(one, case)

        reference = functools.partial(doing, self.reference)
        found = self.find_misreading(attempt, reference)
        if found or answer is None:
            return found
        asked = functools.partial(doing, answer)
        said = find_unread_arguments(reference, asked, attempt.cases[at], names, attempt.given[at])
        if said is None or 2 * sum(attempt.right()) > len(attempt.cases):
            return None  # an answer that ignores an argument is wrong in most cases
        if attempt.fresh is None:
            return said
        again = zip(attempt.fresh.cases, attempt.fresh.given, attempt.fresh.right(), strict=True)
        others = [
            None if outcome.error else find_unread_arguments(reference, asked, case, names, outcome)
            for case, outcome, right in again
            if not right
        ]
        return said if all(other == said for other in others) else None

    def find_misreading(self, attempt: Attempt, reference: Callable[[Any], Outcome]) -> str | None:
        """Describe the misread argument that explains all results, if there is one.

        If the results are coarse, such as booleans, the same misreading must also explain the
        results in many more cases.
        """
        found = find_misread_argument(
            reference, attempt.cases, attempt.names, attempt.given, attempt.expected
        )
        if found is None or not attempt.has_coarse_results() or attempt.more is None:
            return found
        rows = zip(attempt.more.cases, attempt.more.given, attempt.more.expected, strict=True)
        kept = [row for row in rows if row[1].error is None]
        return find_misread_argument(
            reference,
            [*attempt.cases, *(case for case, _, _ in kept)],
            attempt.names,
            [*attempt.given, *(got for _, got, _ in kept)],
            [*attempt.expected, *(want for _, _, want in kept)],
        )

    def try_more_cases(self, attempt: Attempt, runs: "FreshRuns") -> Attempt | None:
        """Return a wrong answer's outcomes in up to `MORE_CASES` random cases, as time allows.

        Return None if the check has no random cases, or if there is no time for `FEWEST_CASES`.
        """
        if self.drawn is None:
            return None
        rows = list(runs.take(MORE_CASES))
        if len(rows) < FEWEST_CASES:
            return None
        cases, given, expected = zip(*rows, strict=True)
        return replace(attempt, cases=cases, given=given, expected=expected)

    def try_fresh_cases(self, attempt: Attempt, runs: "FreshRuns") -> Attempt | None:
        """Return a wrong answer's outcomes in fresh random cases, not used for the verdict.

        Cases are added until the answer has failed in three of them, or until `FRESH_CASES` or the
        time limit is reached. Return None if the answer failed in fewer than two cases.
        """
        if self.drawn is None or attempt.wrong_result() is None:
            return None
        cases: list[tuple[Any, ...]] = []
        given: list[Outcome] = []
        expected: list[Outcome] = []
        fresh = replace(attempt, cases=cases, given=given, expected=expected)
        for case, got, want in runs.take(FRESH_CASES):
            cases.append(case)
            given.append(got)
            expected.append(want)
            if fresh.right().count(False) == 3:
                break
        return fresh if fresh.right().count(False) > 1 else None

    def draw_fresh_case(self, number: int) -> tuple[tuple[Any, ...], Outcome]:
        """Return an extra random case, by number, and the reference's outcome; both are cached."""
        for seed in range(RANDOM_CASES + len(self.fresh_cases), RANDOM_CASES + number + 1):
            assert self.drawn is not None
            case = self.drawn(RandomValues(seed))
            self.fresh_cases.append((case, self.run_case(self.reference, case)))
        return self.fresh_cases[number]

    @functools.cached_property
    def fresh_cases(self) -> list[tuple[tuple[Any, ...], Outcome]]:
        """The cache of `draw_fresh_case`."""
        return []

    def find_forbidden_means(self, answer: Callable[..., Any]) -> str | None:
        """Describe the rule that an otherwise correct answer breaks, or return None.

        An answer must not keep state between calls, nor call the package's own function for this
        exercise.
        """
        expected, again = self.known_outcomes(self.reference), self.run_cases(answer)
        pairs = zip(again, expected, strict=True)
        tolerance = self.choose_tolerance(self.all_cases)
        if not all(a.split_stacked(b).is_right(b, tolerance) for a, b in pairs):
            return (
                "your answer is right the first time, but a second call with the same arguments "
                "returns something else"
            )
        name = self.find_package_call(answer)
        return name and (
            f"your answer calls the package's own `{name}`. Write your own, and then compare "
            "the two"
        )

    def find_package_call(self, answer: Callable[..., Any]) -> str | None:
        """Return the name of the package's own function that the answer calls, if it calls one."""
        is_package = self.reference.__module__.startswith("transformer_lab.")
        is_check = self.reference.__module__.startswith("transformer_lab.course.")
        owned = [*self.own, *([self.reference] if is_package and not is_check else [])]
        codes = {code: one.__name__ for one in owned for code in find_code_objects(one)}
        if not codes.keys().isdisjoint(find_code_objects(answer)) or answer is self.reference:
            return None
        called: list[str] = []

        def watch(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code in codes:
                called.append(codes[frame.f_code])

        kept = sys.getprofile()
        try:
            sys.setprofile(watch)
            self.run_case(answer, self.all_cases[0])
        finally:
            sys.setprofile(kept)
        return called[0] if called else None

    def known_outcomes(self, answer: Callable[..., Any]) -> list[Outcome]:
        """Return the cached outcomes of one of the check's own functions, one for each case.

        `answer` is the reference or the function of a known `Mistake`.
        """
        return [self.known_outcome(answer, n) for n in range(len(self.all_cases))]

    def known_outcome(self, answer: Callable[..., Any], place: int) -> Outcome:
        """Return the cached outcome of the reference or of a known `Mistake` in one case."""
        if (answer, place) not in self.known_results:
            with warnings.catch_warnings(action="ignore"):  # such warnings are not the learner's
                self.known_results[answer, place] = self.run_case(answer, self.all_cases[place])
        return self.known_results[answer, place]

    @functools.cached_property
    def known_results(self) -> dict[tuple[Callable[..., Any], int], Outcome]:
        """The cache of `known_outcome`: outcomes by function and case number."""
        return {}

    @functools.cached_property
    def all_cases(self) -> Sequence[tuple[Any, ...]]:
        """All cases: the hand-written ones, then the random ones. Each answer gets its own copy."""
        written = list(self.cases())
        return written + [
            self.drawn(RandomValues(seed)) for seed in range(RANDOM_CASES) if self.drawn
        ]

    def run_cases(self, answer: Callable[..., Any], *, prints: bool = False) -> list[Outcome]:
        """Return the answer's outcomes, one for each case.

        If the answer does not finish one case, it is not run on the later cases, so the learner
        need not wait for each of them. They count as unfinished, too. With `prints`, the answer's
        output in the first case is shown immediately. Its output in the other cases is not shown,
        because a dozen outputs in a row would only confuse the learner.
        """
        outcomes: list[Outcome] = []
        for case in self.all_cases:
            if outcomes and isinstance(outcomes[-1].error, EndlessError):
                outcomes.append(outcomes[-1])
            else:
                outcomes.append(self.run_case(answer, case, prints=prints and not outcomes))
        return outcomes

    def run_case(
        self,
        answer: Callable[..., Any],
        case: tuple[Any, ...],
        seconds: float | None = None,
        *,
        prints: bool = False,
    ) -> Outcome:
        """Run the answer on one case with a time limit, and return the outcome.

        With `prints`, the answer's output is shown immediately; otherwise the outcome stores it.
        """
        notes = Notes()
        with nullcontext() if prints else redirect_stdout(notes):
            outcome = run_case(answer, self.run, case, self.argument_names(case), seconds)
        return replace(outcome, printed=notes.getvalue())

    @functools.cached_property
    def counterfactuals(self) -> Sequence[Mistake]:
        """Variants of the reference, each with one common mistake; empty if results are arrays."""
        results = [x for one in self.known_outcomes(self.reference) for x in one.results]
        if any(x.ndim for x in results):
            return ()  # an array tells more, and `number_faults` probes it
        case = self.all_cases[0]
        found = list_counterfactuals(self.reference, self.argument_names(case), case)
        turned = Mistake(
            lambda *arguments: -self.reference(*arguments),
            "your result is minus the right one, so the sign is wrong.",
        )
        return [turned, *(Mistake(answer, f"{sentence}.") for answer, sentence in found)]

    def find_known_mistake(self, attempt: Attempt) -> str | None:
        """Return the hint for the known mistake that has exactly these outcomes, if there is one.

        Hand-written mistakes are tried first, and then the counterfactual references. If results
        are coarse, such as True and False, many mistakes give the same results in a few cases. The
        outcomes must then also agree in fresh random cases.
        """
        given, tolerance = attempt.given, attempt.tolerance
        if all(outcome.error is not None for outcome in given):
            return None  # the error itself says more than a known mistake could
        if _are_equal(given, self.known_outcomes(self.reference), tolerance):
            return None  # only the kind of the results is wrong, which no known mistake explains
        for mistake in (*self.mistakes, *self.counterfactuals):
            known = (self.known_outcome(mistake.answer, n) for n in range(len(given)))
            if _are_equal(given, known, tolerance) and self.is_confirmed(mistake, attempt):
                return mistake.hint
        return None

    def is_confirmed(self, mistake: Mistake, attempt: Attempt) -> bool:
        """Return whether fresh random cases confirm that an answer makes a known mistake.

        Only coarse results, such as booleans, need to be confirmed. If the check has no random
        cases, the mistake counts as confirmed.
        """
        if not attempt.has_coarse_results() or self.drawn is None or attempt.run_more is None:
            return True
        if attempt.more is None:
            return False
        with warnings.catch_warnings(action="ignore"):
            others = [self.run_case(mistake.answer, case) for case in attempt.more.cases]
        # If both stop with an error, their reasons may differ.
        pairs = [
            (got, other)
            for got, other in zip(attempt.more.given, others, strict=True)
            if got.error is None or other.error is None
        ]
        return bool(pairs) and all(got.equals(other, attempt.tolerance) for got, other in pairs)

    def choose_tolerance(self, cases: Sequence[tuple[Any, ...]]) -> float:
        """Return the tolerance for these cases.

        It is at least 1e-6, unless the cases hold float64 arrays or floats.
        """
        values = [value for case in cases for value in case]
        exact = any(isinstance(x, np.ndarray) and x.dtype == np.float64 for x in values)
        floats = any(isinstance(x, float) for x in values)
        return self.tolerance if exact or floats else max(self.tolerance, 1e-6)

    def argument_names(self, case: tuple[Any, ...]) -> list[str]:
        """Return one name for each argument of a case."""
        known = self.arguments or list(inspect.signature(self.reference).parameters)
        return [known[n] if n < len(known) else f"argument {n + 1}" for n in range(len(case))]

    def describe_arguments(self, case: tuple[Any, ...]) -> str:
        """Return a case's arguments as text: arrays as their shapes, the rest as values."""
        pairs = zip(self.argument_names(case), case, strict=True)
        return ", ".join(f"{name} {describe_value(value)}" for name, value in pairs)


class Notes(io.StringIO):
    """A text buffer that keeps only the beginning of an answer's output."""

    def write(self, text: str) -> int:
        """Store the text unless the buffer is full, because an answer may never stop printing."""
        return super().write(text) if self.tell() < MOST_PRINTED else len(text)


class FreshRuns:
    """The outcomes of an answer in fresh random cases, limited to `FRESH_SECONDS` in total."""

    def __init__(self, judge: Check, answer: Callable[..., Any]):
        self.judge, self.answer = judge, answer
        self.rows: list[tuple[tuple[Any, ...], Outcome, Outcome]] = []
        self.seconds_left = FRESH_SECONDS

    def take(self, count: int) -> Iterator[tuple[tuple[Any, ...], Outcome, Outcome]]:
        """Yield up to `count` cases, as time allows, with the answer's and reference's outcomes."""
        for number in range(count):
            if number == len(self.rows) and not self._run(number):
                return
            yield self.rows[number]

    def _run(self, number: int) -> bool:
        if self.seconds_left <= 0:
            return False
        case, want = self.judge.draw_fresh_case(number)
        start = time.process_time()
        got = self.judge.run_case(self.answer, case, min(self.seconds_left, time_limit.SECONDS))
        self.seconds_left -= time.process_time() - start
        if isinstance(got.error, EndlessError):
            self.seconds_left = 0.0
            return False
        self.rows.append((case, got.split_stacked(want), want))
        return True
