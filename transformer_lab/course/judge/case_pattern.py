"""Find what the cases that an answer gets right have in common, such as a batch size of 1.

`diagnosis` adds the finding to its explanation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.attempt import Attempt
from transformer_lab.course.judge.closeness import is_numeric
from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.size_factors import collect_sizes

CONFIRMED = 2
"""The minimum number of fresh random cases in which a pattern must reappear."""


class CasePattern(NamedTuple):
    """How many cases an answer gets right, and which.

    Attributes:
        sentence: A sentence that starts with a lower-case letter and has no full stop.
        names_feature: Whether the sentence says what sets the right cases apart.
    """

    sentence: str
    names_feature: bool


def find_case_pattern(attempt: Attempt) -> CasePattern | None:
    """Describe how many cases are right and what sets them apart; return None if none are right.

    A feature is named only if it also separates right from wrong cases among fresh random cases,
    at least two of which must have it. Otherwise, the match may be a coincidence.
    """
    right = attempt.right()
    if not any(right):
        return None
    many = f"your answer is right in {sum(right)} of {len(right)} cases"
    without_feature = CasePattern(many, names_feature=False)
    if not any(find_dividing_value(*feature, right) for feature in _list_features(attempt)):
        return without_feature
    fresh = attempt.more
    if fresh is None:
        return without_feature
    every = replace(attempt, cases=[*attempt.cases, *fresh.cases])
    fresh_right = fresh.right()
    for name, values in _list_features(every):
        found = find_dividing_value(name, values, [*right, *fresh_right])
        if found is None:
            continue
        phrase, value, is_right = found
        again = zip(values[len(right) :], fresh_right, strict=True)
        if sum(v == value and r == is_right for v, r in again) >= CONFIRMED:
            return CasePattern(f"{many}{phrase}", names_feature=True)
    return without_feature


def _list_features(attempt: Attempt) -> list[tuple[str, list[Any]]]:
    return [*case_kinds(attempt), *case_sizes(attempt)]


def find_dividing_value(
    name: str, values: Sequence[Any], right: Sequence[bool]
) -> tuple[str, Any, bool] | None:
    """Find the value of a feature that separates right cases from wrong ones.

    Returns:
        A phrase to append to a sentence, the value, and whether the cases with this value are the
        right ones; None if no value separates right cases from wrong ones.
    """
    good = [v for v, is_right in zip(values, right, strict=True) if is_right]
    bad = [v for v, is_right in zip(values, right, strict=True) if not is_right]
    if set(good) & set(bad) or not good or not bad:
        return None
    if len(set(good)) == 1:
        return f", and only when {describe_feature(name, good[0])}", good[0], True
    if len(set(bad)) == 1:
        return f", but wrong whenever {describe_feature(name, bad[0])}", bad[0], False
    return None


NUMBER_OF_AXES = "the number of axes of "
"""The beginning of a feature's name; the name of an array follows."""
NEGATIONS = {
    " is empty": " is not empty",
    " contains infinite numbers": " contains no infinite numbers",
    " has length 1": " does not have length 1",
}
"""Phrases from `case_kinds`, each with its negation."""


def describe_feature(name: str, value: Any) -> str:
    """Describe a feature and its value in words."""
    if name.startswith(NUMBER_OF_AXES):
        many = "1 axis" if value == 1 else f"{value or 'no'} axes"
        return f"{name.removeprefix(NUMBER_OF_AXES)} has {many}"
    if name.startswith("len("):
        return f"{name[4:-1]} has length {value}"
    if not isinstance(value, bool):
        return f"{name} is {format_number(value)}"
    if not value:
        for said, negated in NEGATIONS.items():
            name = name.replace(said, negated)
    return name


def case_kinds(attempt: Attempt) -> Iterator[tuple[str, list[Any]]]:
    """Yield features, such as an argument's number of axes, each with its values in all cases."""
    columns = list(zip(*attempt.cases, strict=False))  # some cases leave the last arguments out
    for name, column in zip(attempt.names, columns, strict=False):
        if all(isinstance(x, np.ndarray | Tensor) for x in column):
            arrays = [np.asarray(x.detach() if isinstance(x, Tensor) else x) for x in column]
            yield f"{NUMBER_OF_AXES}{name}", [a.ndim for a in arrays]
            yield f"{name} is empty", [a.size == 0 for a in arrays]
            if all(is_numeric(a) and a.dtype != bool for a in arrays):
                yield f"{name} contains infinite numbers", [bool(np.isinf(a).any()) for a in arrays]
            if all(a.ndim for a in arrays):
                yield f"the first axis of {name} has length 1", [a.shape[0] == 1 for a in arrays]
        if all(isinstance(x, list | tuple | set | dict) for x in column):
            yield f"{name} is empty", [not len(x) for x in column]


def case_sizes(attempt: Attempt) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name of each number or length that all cases have, with its values in all cases."""
    every = [collect_sizes(attempt.names, case) for case in attempt.cases]
    for name in every[0]:
        if all(name in one for one in every):
            yield name, [one[name] for one in every]
