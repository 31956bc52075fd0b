"""The search for what the cases that an answer gets right have in common, such as a batch of one.

`diagnosis` puts the finding in front of the hint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.attempt import Attempt
from transformer_lab.course.judge.closeness import is_numeric
from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.size_factors import collect_sizes


def find_case_pattern(attempt: Attempt) -> str | None:
    """Return a sentence on how many cases are right and what sets them apart; None if none is right.

    What sets them apart must do so in the freshly drawn cases as well.
    """
    right = attempt.right()
    if not any(right):
        return None
    many = f"right in {sum(right)} of {len(right)} cases"
    if attempt.fresh is not None:
        right = [*right, *attempt.fresh.right()]
        attempt = replace(attempt, cases=[*attempt.cases, *attempt.fresh.cases])
    for name, values in case_kinds(attempt):  # one case of its kind is enough, if it is a rare kind
        found = find_dividing_value(name, values, right, least=2 if "length 1" in name else 1)
        if found:
            return f"{many}{found}"
    for name, values in case_sizes(attempt):  # of many sizes one fits by chance
        found = find_dividing_value(name, values, right, least=2)
        if found:
            return f"{many}{found}"
    return many


def find_dividing_value(
    name: str, values: Sequence[Any], right: Sequence[bool], least: int
) -> str | None:
    """Return a phrase if one value of a feature separates the right cases from the wrong ones, or None.

    There must be at least `least` cases of each, because a single case differs from the rest in
    many ways.
    """
    good = [v for v, is_right in zip(values, right, strict=True) if is_right]
    bad = [v for v, is_right in zip(values, right, strict=True) if not is_right]
    if set(good) & set(bad) or min(len(good), len(bad)) < least:
        return None
    if len(set(good)) == 1:
        return f": those in which {describe_feature(name, good[0])}"
    if len(set(bad)) == 1 and (len(bad) > 1 or isinstance(bad[0], bool)):
        return f"; wrong where {describe_feature(name, bad[0])}"
    return None


def describe_feature(name: str, value: Any) -> str:
    """Return a feature of a case and its value as text."""
    if isinstance(value, bool):
        return name if value else name.replace(" has ", " has no ").replace(" is ", " is not ")
    return f"{name} is {format_number(value)}"


def case_kinds(attempt: Attempt) -> Iterator[tuple[str, list[Any]]]:
    """Yield features of the cases: number of axes, emptiness, infinities, a first axis of length 1."""
    columns = list(zip(*attempt.cases, strict=False))  # some cases leave the last arguments out
    for name, column in zip(attempt.names, columns, strict=False):
        if all(isinstance(x, np.ndarray | Tensor) for x in column):
            arrays = [np.asarray(x.detach() if isinstance(x, Tensor) else x) for x in column]
            yield f"the number of axes of {name}", [a.ndim for a in arrays]
            yield f"{name} is empty", [a.size == 0 for a in arrays]
            if all(is_numeric(a) and a.dtype != bool for a in arrays):
                yield f"{name} has infinite numbers", [bool(np.isinf(a).any()) for a in arrays]
            if all(a.ndim for a in arrays):
                yield f"the first axis of {name} has length 1", [a.shape[0] == 1 for a in arrays]
        if all(isinstance(x, list | tuple | set | dict) for x in column):
            yield f"{name} has entries", [bool(len(x)) for x in column]


def case_sizes(attempt: Attempt) -> Iterator[tuple[str, list[Any]]]:
    """Yield the numbers and lengths that all cases have, each with its value in every case."""
    every = [collect_sizes(attempt.names, case) for case in attempt.cases]
    for name in every[0]:
        if all(name in one for one in every):
            yield name, [one[name] for one in every]
