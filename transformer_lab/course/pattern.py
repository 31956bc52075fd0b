"""What the cases have in common that an answer does right."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.answered import Answered
from transformer_lab.course.by_size import sizes_of
from transformer_lab.course.comparing import is_number
from transformer_lab.course.words import number


def pattern(answered: Answered) -> str | None:
    """What the cases have in common that are right, and the others have not."""
    right = answered.right()
    if not any(right):
        return None
    many = f"right in {sum(right)} of {len(right)} cases"
    for name, values in kinds(answered):  # one case of its kind is enough
        found = parted(name, values, right, least=1)
        if found:
            return f"{many}{found}"
    for name, values in sizes(answered):  # of many sizes one fits by chance
        found = parted(name, values, right, least=2)
        if found:
            return f"{many}{found}"
    return many


def parted(name: str, values: Sequence[Any], right: Sequence[bool], least: int) -> str | None:
    """Whether one value is that of all right cases, or of all wrong ones; `least` of each.

    One wrong case among right ones differs from them in more ways than one.
    """
    good = [v for v, is_right in zip(values, right, strict=True) if is_right]
    bad = [v for v, is_right in zip(values, right, strict=True) if not is_right]
    if set(good) & set(bad) or min(len(good), len(bad)) < least:
        return None
    if len(set(good)) == 1:
        return f": those in which {said(name, good[0])}"
    if len(set(bad)) == 1 and (len(bad) > 1 or isinstance(bad[0], bool)):
        return f"; wrong where {said(name, bad[0])}"
    return None


def said(name: str, value: Any) -> str:
    """A feature of a case in words."""
    if isinstance(value, bool):
        return name if value else name.replace(" has ", " has no ").replace(" is ", " is not ")
    return f"{name} is {number(value)}"


def kinds(answered: Answered) -> Iterator[tuple[str, list[Any]]]:
    """What makes a case another kind of case: axes, nothing in it, infinite numbers, a batch of one."""
    columns = list(zip(*answered.cases, strict=True)) if answered.cases else []
    for name, column in zip(answered.names, columns, strict=False):
        if all(isinstance(x, np.ndarray | Tensor) for x in column):
            arrays = [np.asarray(x.detach() if isinstance(x, Tensor) else x) for x in column]
            yield f"the number of axes of {name}", [a.ndim for a in arrays]
            yield f"{name} is empty", [a.size == 0 for a in arrays]
            if all(is_number(a) and a.dtype != bool for a in arrays):
                yield f"{name} has infinite numbers", [bool(np.isinf(a).any()) for a in arrays]
            if all(a.ndim for a in arrays):
                yield f"the first axis of {name} has length 1", [a.shape[0] == 1 for a in arrays]
        if all(isinstance(x, list | tuple | set | dict) for x in column):
            yield f"{name} has entries", [bool(len(x)) for x in column]


def sizes(answered: Answered) -> Iterator[tuple[str, list[Any]]]:
    """The numbers and the lengths that all cases have."""
    every = [sizes_of(answered.names, case) for case in answered.cases]
    for name in every[0]:
        if all(name in one for one in every):
            yield name, [one[name] for one in every]
