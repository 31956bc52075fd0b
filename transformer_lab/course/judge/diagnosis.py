"""Describe what is wrong with an answer that makes none of the known mistakes.

The descriptions come from probing the answer's results, and `Check` prints them.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.config import join_with_and
from transformer_lab.course.judge import probes
from transformer_lab.course.judge.attempt import Attempt, find_first_difference
from transformer_lab.course.judge.call_recorder import find_first_wrong_call
from transformer_lab.course.judge.case_pattern import find_case_pattern
from transformer_lab.course.judge.closeness import is_close, is_numeric, is_same_kind
from transformer_lab.course.judge.errors import NotComparableError
from transformer_lab.course.judge.formatting import (
    describe_kind,
    is_plural,
    start_sentence,
    take_three,
)
from transformer_lab.course.judge.number_faults import (
    NUMBER_FINDERS,
    Finder,
    Finding,
    choose_finding,
    find_fault_in_other_results,
    make_finder,
)
from transformer_lab.course.judge.outcome import Outcome
from transformer_lab.course.judge.probes.wrong_part import find_one_sided_errors
from transformer_lab.course.judge.working import work_out

MAX_LINES = 16
"""The maximum number of lines in a verdict, including the worked case."""


def describe_failure(attempt: Attempt, misread: str | None = None) -> str:
    """Describe what is wrong with an answer, and in how many cases it is right.

    If the right and the wrong cases follow a pattern, the pattern comes first. `misread` is a
    sentence about a misread argument, if one was found. If nothing explains the answer, the text
    includes the worked case.
    """
    text = describe_first_wrong_case(attempt, misread)
    pattern = find_case_pattern(attempt)
    if pattern is None:
        return text
    if pattern.names_feature:
        return f"{pattern.sentence}.\n{start_sentence(text)}"  # this says more than a number
    return f"{text}\n{start_sentence(pattern.sentence)}."


def describe_first_wrong_case(attempt: Attempt, misread: str | None) -> str:
    """Describe what is wrong in the first case that fails.

    The fault may be an error, an argument changed in place, the number of results, one of the
    results, or a gradient.
    """
    at = attempt.first_wrong()
    got, want, names = attempt.given[at], attempt.expected[at], attempt.results
    if isinstance(got.error, NotComparableError):
        return describe_other_kind(got.error, want, names)
    if got.error is not None:
        return got.complaint
    new = [name for name in got.changed if name not in want.changed]
    if new:
        return (
            f"your answer changes {' and '.join(new)} in place, but the caller still needs the "
            "original."
        )
    if not got.results and want.results:
        if any(outcome.results for outcome in attempt.given):
            return "your answer returns nothing in this case. Does every path reach a `return`?"
        return "your answer returns nothing. Is there a `return`?"
    if len(got.results) != len(want.results):
        is_one = len(want.results) == 1
        asked = f"only {names[0]}" if is_one else f"{len(want.results)}: {join_with_and(names)}"
        note = ". Each item of a list counts as one value" if is_one else ""
        many = "1 value" if len(got.results) == 1 else f"{len(got.results)} values"
        return f"your answer returns {many}, but should return {asked}{note}."
    if got.is_wrapped(want):
        return (
            f"your answer returns {names[0]} inside a tuple or a list, but should return the item "
            "itself. A comma after a value makes a tuple."
        )
    order = find_order_in_all_cases(attempt)
    if order:
        return order
    place = attempt.wrong_result()
    if place is not None:
        return describe_wrong_result(attempt, at, place, misread)
    if got.lacks_tensors(want):
        return "your answer returns an array or a list where the next cells need a PyTorch tensor."
    missing = [name for name in want.changed if name not in got.changed]
    if missing:
        return f"your answer should change {' and '.join(missing)} in place, but does not."
    return describe_gradient_fault(got, want)


def describe_other_kind(error: NotComparableError, want: Outcome, names: Sequence[str]) -> str:
    """Describe what was returned instead of numbers or words, and what was expected."""
    n = len(want.results)
    if error.count != n:
        asked = names[0] if n == 1 else f"{n} values: {join_with_and(names)}"
        return f"your answer returns {describe_kind(error.returned)}, but should return {asked}."
    name, value = names[error.place], error.value
    asked = describe_asked(want.results[error.place])
    verb = "are" if is_plural(name) else "is"
    if value is None:
        # A single result that is None was returned alone; a check may have put it into a tuple.
        return f"{name} {verb} None" + (
            ". Is there a `return`?" if n == 1 else f", but should be {asked}."
        )
    wanted = want.results[error.place]
    if isinstance(value, int) and not wanted.ndim and is_numeric(wanted):
        size = "large" if value > 0 else "small"  # it does not fit into 64 bits
        return f"{name} {verb} {describe_kind(value)}, which is far too {size}."
    if isinstance(value, list | tuple | np.ndarray):
        for inner in find_unusable(value):
            holds = "contain" if is_plural(name) else "contains"
            return f"{name} {holds} {describe_kind(inner)}, but should be {asked}."
    kind = f"an array with dtype {value.dtype}" if isinstance(value, np.ndarray) else None
    return f"{name} {verb} {kind or describe_kind(value)}, but should be {asked}."


def find_unusable(value: Any) -> Iterator[Any]:
    """Yield the items of a nested list that are not numbers, strings, arrays or tensors."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biufUcS":
        value = value.tolist()
    if isinstance(value, list | tuple):
        for one in value:
            yield from find_unusable(one)
    elif not isinstance(
        value, bool | int | float | complex | str | np.generic | np.ndarray | Tensor
    ):
        yield value


def describe_asked(want: np.ndarray) -> str:
    """Describe an expected result, such as "a number" or "an array of shape (2, 3)"."""
    one, many = {
        "b": ("True or False", "a boolean array"),
        "i": ("an integer", "an integer array"),
        "u": ("an integer", "an integer array"),
        "U": ("a string", "an array of strings"),
    }.get(want.dtype.kind, ("a number", "an array"))
    return f"{many} of shape {want.shape}" if want.ndim else one


def find_order_in_all_cases(attempt: Attempt) -> str | None:
    """Return the hint of `find_result_order` if it is the same for every failing case, or None."""
    wrong = [n for n, right in enumerate(attempt.right()) if not right]
    said = {
        find_result_order(attempt.given[n], attempt.expected[n], attempt.results) for n in wrong
    }
    return said.pop() if len(said) == 1 else None


def find_result_order(got: Outcome, want: Outcome, names: Sequence[str]) -> str | None:
    """Return a hint if all results are right but in the wrong order, and None otherwise."""
    n = len(names)
    if not 2 <= n <= 5 or len(got.results) != n:
        return None
    for order in itertools.permutations(range(n)):
        pairs = [(got.results[i], want.results[j]) for i, j in enumerate(order)]
        if all(is_close(a, b, 1e-6) and is_same_kind(a, b) for a, b in pairs):
            if list(order) == sorted(order):
                return None
            said = ", ".join(names[j] for j in order)
            return (
                f"the results are right, but in the wrong order. Your answer returns ({said}), but "
                f"should return ({', '.join(names)})."
            )
    return None


def describe_wrong_result(attempt: Attempt, at: int, place: int, misread: str | None) -> str:
    """Describe what is wrong with one result: its type, its shape, its dtype or its numbers.

    `at` is the index of the case, and `place` the index of the result. If no cause is found, the
    worked case follows.
    """
    name = attempt.results[place]
    got, want = attempt.given[at].results[place], attempt.expected[at].results[place]
    others = [
        other
        for n, other in enumerate(attempt.results)
        if n != place
        and is_close(attempt.given[at].results[n], attempt.expected[at].results[n], 1e-6)
    ]
    are = "is" if len(others) == 1 and not is_plural(others[0]) else "are"
    rest = f" ({join_with_and(others)} {are} right)" if others else ""
    verb = "are" if is_plural(name) else "is"
    if got.dtype.kind in "US" and is_numeric(want):
        found, asked = describe_kind(got.tolist()), describe_asked(want)
        return f"{name} {verb} {found}, but should be {asked}{rest}."
    if is_numeric(got) and want.dtype.kind in "US":
        asked = "strings" if want.ndim else "a string"
        example = f"{asked} such as {str(want.ravel()[0])!r}"
        return f"{name} {verb} {describe_kind(got.tolist())}, but should be {example}{rest}."
    if got.shape != want.shape:
        has = "have" if is_plural(name) else "has"
        asked = f"have {want.shape}" if want.ndim else "be a single number"
        line = f"{name} {has} shape {got.shape}, but should {asked}{rest}"
        return _add_finding(line, choose_finding(SHAPE_FINDERS, attempt, at, place), attempt)
    if want.dtype.kind in "iu" and got.dtype.kind == "f" and not is_same_kind(got, want):
        if not want.ndim:
            return f"{name} should be an integer, but {verb} {got:.9g}{rest}."
        some = "not all of your numbers are integers"
        means = some if (got % 1).any() else "your numbers are stored as floats"
        return f"{name} should consist of integers, but {means}{rest}."
    if not is_same_kind(got, want):
        has = "have" if is_plural(name) else "has"
        return f"{name} {has} dtype {got.dtype}, but should have dtype {want.dtype}{rest}."
    first = find_first_difference(got, want, attempt.tolerance)
    where = f"entry [{', '.join(map(str, first))}] of {name}" if first else name
    if got.dtype == bool:
        figures = f"{bool(got[first])}, but should be {bool(want[first])}"
    elif is_numeric(got):
        figures = f"{got[first]:.9g}, but should be {want[first]:.9g}"
    elif got.dtype.kind == "c" and is_numeric(want):
        figures = f"{got[first]:.9g}, a complex number, but should be {want[first]:.9g}"
    else:
        figures = f"{str(got[first])[:160]!r}, but should be {str(want[first])[:160]!r}"
    line = f"{where} {'are' if where == name and is_plural(name) else 'is'} {figures}{rest}"
    if misread:
        return f"{line}.\n{start_sentence(misread)}."
    return _add_finding(line, choose_finding(FINDERS, attempt, at, place), attempt)


def _add_finding(line: str, finding: Finding | None, attempt: Attempt) -> str:
    """Return a line about a wrong result, the finding about it, and the worked case if needed."""
    why = f"\n{finding.sentence}." if finding else ""
    is_explained = finding is not None and finding.finder.says_why
    return f"{line}.{why}{'' if is_explained else work_out(attempt)}"


def _find_wrong_call(attempt: Attempt, at: int, place: int) -> str | None:
    """Describe the first wrong call that the answer makes in this case, if there is one."""
    return find_first_wrong_call(attempt.given[at].calls, attempt.expected[at].calls)


SHAPE_FINDERS: Sequence[Finder] = (
    *(make_finder(probe, is_strict=True) for probe in probes.SHAPE_PROBES),
    Finder(_find_wrong_call),
)
FINDERS: Sequence[Finder] = (
    *NUMBER_FINDERS,
    Finder(find_fault_in_other_results),
    Finder(_find_wrong_call),
    make_finder(find_one_sided_errors),
)


def describe_gradient_fault(got: Outcome, want: Outcome) -> str:
    """Describe which gradient is missing or wrong although all results are right."""
    cut = "Is there a detach, no_grad, .data, .item(), torch.tensor(…) or NumPy call along the way?"
    if not got.gradients:
        return f"no gradient flows through your answer, although the values are right. {cut}"
    theirs = dict(got.gradients)
    none = np.zeros(1)
    size = max(float(np.abs(g).max(initial=0)) for _, g in want.gradients)
    some = [n for n, g in want.gradients if np.abs(g).max(initial=0) > 1e-7 * size]
    lost = [n for n in some if not theirs.get(n, none).any()]
    if lost:
        few = join_with_and(take_three(lost))
        return f"no gradient reaches {few}, although the values are right. {cut}"
    off = [n for n, g in want.gradients if n not in theirs or not is_close(theirs[n], g, 1e-6)]
    which = f"the gradient of {off[0]}" if off else "a gradient"
    return f"{which} is wrong, although the values are right. {cut}"
