"""What the cases have in common that an answer does right."""

from collections.abc import Iterator
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
    for name, values in features(answered):
        good = {v for v, is_right in zip(values, right, strict=True) if is_right}
        bad = {v for v, is_right in zip(values, right, strict=True) if not is_right}
        if good & bad:
            continue
        if len(good) == 1 and (sum(right) > 1 or isinstance(next(iter(good)), bool)):
            return f"{many}: those in which {said(name, next(iter(good)))}"
        if len(bad) == 1 and (len(right) - sum(right) > 1 or isinstance(next(iter(bad)), bool)):
            return f"{many}; wrong where {said(name, next(iter(bad)))}"
    return many


def said(name: str, value: Any) -> str:
    """A feature of a case in words."""
    if isinstance(value, bool):
        return name if value else name.replace(" has ", " has no ").replace(" is ", " is not ")
    return f"{name} is {number(value)}"


def features(answered: Answered) -> Iterator[tuple[str, list[Any]]]:
    """Truth values and numbers that each case has."""
    columns = list(zip(*answered.cases, strict=True)) if answered.cases else []
    for name, column in zip(answered.names, columns, strict=False):
        if all(isinstance(x, np.ndarray | Tensor) for x in column):
            arrays = [np.asarray(x.detach() if isinstance(x, Tensor) else x) for x in column]
            yield f"the number of axes of {name}", [a.ndim for a in arrays]
            yield f"{name} is empty", [a.size == 0 for a in arrays]
            if all(is_number(a) and a.dtype != bool for a in arrays):
                yield f"{name} has infinite numbers", [bool(np.isinf(a).any()) for a in arrays]
                yield f"{name} has zeros", [bool((a == 0).any()) for a in arrays]
                yield f"{name} has numbers below 0", [bool((a < 0).any()) for a in arrays]
            if all(a.ndim for a in arrays):
                yield f"the first axis of {name} has length 1", [a.shape[0] == 1 for a in arrays]
        if all(isinstance(x, list | tuple | set | dict) for x in column):
            yield f"{name} has entries", [bool(len(x)) for x in column]
    sizes = [sizes_of(answered.names, case) for case in answered.cases]
    for name in sizes[0]:
        if all(name in one for one in sizes):
            yield name, [one[name] for one in sizes]
