"""What an answer does with one case of a check: results, gradients, changes, or an error."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab.course.belongings import unchanged
from transformer_lab.course.calls import Call, Calls
from transformer_lab.course.comparing import close, same_kind
from transformer_lab.course.errors import UnusableError, Watched, complaint_about, shown_error
from transformer_lab.course.reading import as_array
from transformer_lab.course.words import kind_of

Gradients = tuple[tuple[str, np.ndarray], ...]


@dataclass(frozen=True)
class Outcome:
    """What an answer did with one case.

    Attributes:
        results: What it returned.
        error: What stopped it.
        complaint: The error in words for whoever wrote the answer.
        changed: The names of what it changed in place.
        gradients: Of the results with respect to what asks for a gradient, by its name.
        are_tensors: For each result, whether it is a PyTorch tensor.
        is_row: Whether the results came as a tuple or a list.
        calls: What it called of what it was given, or of its own parts.
    """

    results: tuple[np.ndarray, ...] = ()
    error: BaseException | None = None
    complaint: str = ""
    changed: tuple[str, ...] = ()
    gradients: Gradients = ()
    are_tensors: tuple[bool, ...] = ()
    is_row: bool = False
    calls: tuple[Call, ...] = ()

    def equals(self, other: "Outcome", tolerance: float) -> bool:
        """Whether two answers did the same: equal results and gradients, or the same error."""
        if self.error is not None or other.error is not None:
            # Errors of one type may have many causes; those of one text, in all cases, hardly.
            if self.error is None or other.error is None:
                return False
            same_type = type(self.error) is type(other.error)
            return same_type and shown_error(self.error) == shown_error(other.error)
        if self.changed != other.changed or len(self.results) != len(other.results):
            return False
        same = zip(self.results, other.results, strict=True)
        return all(close(a, b, tolerance) for a, b in same) and self.same_gradients(other)

    def same_gradients(self, other: "Outcome") -> bool:
        """Whether the same gradient reaches everything that asks for one."""
        if [name for name, _ in self.gradients] != [name for name, _ in other.gradients]:
            return False
        # A gradient that is 0 in theory is not quite 0: compare with the largest of all.
        size = max((float(np.abs(g).max(initial=0)) for _, g in other.gradients), default=0.0)
        pairs = zip(self.gradients, other.gradients, strict=True)
        return all(np.allclose(a, b, rtol=1e-5, atol=1e-6 * size) for (_, a), (_, b) in pairs)

    def is_right(self, expected: "Outcome", tolerance: float) -> bool:
        """Whether an answer did what was expected, in numbers of the kind that was expected."""
        if not self.equals(expected, tolerance):
            return False
        kinds = zip(self.results, expected.results, strict=True)
        if not all(same_kind(a, b) for a, b in kinds):
            return False
        return not (self.lacks_tensors(expected) or self.is_wrapped(expected))

    def lacks_tensors(self, expected: "Outcome") -> bool:
        """Whether a NumPy array stands where the next cell needs a PyTorch tensor."""
        kinds = zip(self.results, self.are_tensors, expected.are_tensors, strict=True)
        return any(array.ndim and wanted and not is_one for array, is_one, wanted in kinds)

    def is_wrapped(self, expected: "Outcome") -> bool:
        """Whether the one thing asked for came in a tuple or a list."""
        return len(self.results) == 1 and self.is_row and not expected.is_row

    def unstacked(self, expected: "Outcome") -> "Outcome":
        """One array of all results, which can be unpacked like a tuple, as that tuple."""
        n = len(expected.results)
        if n < 2 or len(self.results) != 1 or self.is_row or len(self.results[0].shape) == 0:
            return self
        (whole,) = self.results
        if any(whole.shape != (n, *one.shape) for one in expected.results):
            return self
        return replace(
            self, results=tuple(map(np.asarray, whole)), are_tensors=self.are_tensors * n
        )


def outcome_of(
    answer: Callable[..., Any],
    run: Callable[..., Any],
    case: tuple[Any, ...],
    names: Sequence[str],
) -> Outcome:
    """Run an answer on a copy of a case; an error of any kind is something that it may do."""
    calls = Calls()
    watched = Watched(answer, calls.watch)
    arguments = tuple(map(calls.watched, names, copy.deepcopy(case)))
    try:
        with np.errstate(all="ignore"), torch.random.fork_rng([]):
            returned = run(watched, *arguments)
            parts, modules = parts_of(returned)
            results = tuple(map(as_array, parts))
            gradients = gradients_of(parts, dict(zip(names, arguments, strict=True)), modules)
    except (Exception, SystemExit) as error:
        return Outcome(error=error, complaint=complaint_about(error, watched))
    changed = tuple(
        name
        for name, before, after in zip(names, case, arguments, strict=True)
        if not unchanged(before, after)
    )
    return Outcome(
        results,
        changed=changed,
        gradients=gradients,
        are_tensors=tuple(isinstance(part, Tensor) for part in parts),
        is_row=isinstance(returned, tuple | list),
        calls=tuple(calls.kept),
    )


def parts_of(returned: Any) -> tuple[list[Any], list[nn.Module]]:
    """What was returned, one by one; modules that a check hands on for their gradients apart."""
    if returned is None:
        return [], []
    parts = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(parts) > 1000:
        raise UnusableError(f"it returns {kind_of(returned)}, far more than was asked")
    modules = [part for part in parts if isinstance(part, nn.Module)]
    return [part for part in parts if not isinstance(part, nn.Module)], modules


def gradients_of(
    parts: Sequence[Any], arguments: dict[str, Any], modules: Sequence[nn.Module]
) -> Gradients:
    """The gradient of a fixed mix of all results, for each tensor of the case that asks for one."""
    leaves = {name: x for name, x in arguments.items() if wants_gradient(x)}
    owners = [value for value in arguments.values() if isinstance(value, nn.Module)]
    for module in [*owners, *modules]:
        leaves |= dict(module.named_parameters())
    asked = [part for part in parts if wants_gradient(part)]
    if not (leaves and asked):
        return ()
    mix = sum((part * _fixed(part)).sum() for part in asked)
    found = torch.autograd.grad(mix, list(leaves.values()), allow_unused=True)
    pairs = sorted(zip(leaves, leaves.values(), found, strict=True), key=lambda row: row[0])
    return tuple((name, as_array(torch.zeros_like(x) if g is None else g)) for name, x, g in pairs)


def wants_gradient(x: Any) -> bool:
    """Whether x is a tensor that a gradient is asked of."""
    return isinstance(x, Tensor) and x.requires_grad


def _fixed(part: Tensor) -> Tensor:
    numbers = torch.linspace(-1, 2, part.numel(), dtype=part.dtype) if part.numel() else part
    return numbers.reshape(part.shape).sin() + 0.5
