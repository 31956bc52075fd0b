"""`run_case` runs an answer on one case; `Outcome` holds what it returned, changed or raised.

`Check` uses them for answers, the reference and the known mistakes.
"""

import copy
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab.course.judge.call_recorder import Call, CallRecorder
from transformer_lab.course.judge.closeness import is_close, is_same_kind
from transformer_lab.course.judge.errors import (
    NotComparableError,
    RecordedAnswer,
    UnusableError,
    describe_error,
    error_headline,
)
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.returned_arrays import as_array
from transformer_lab.course.judge.side_effects import is_unchanged
from transformer_lab.course.judge.time_limit import EndlessError, describe_endless, time_limit

Gradients = tuple[tuple[str, np.ndarray], ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of running an answer on one case.

    Attributes:
        results: The returned values, as arrays.
        error: The exception that stopped the answer, if any.
        complaint: An explanation of the error for the learner.
        changed: The names of the arguments that the answer changed in place.
        gradients: The gradients of the results, as pairs (tensor's name, gradient) from
            `compute_gradients`.
        are_tensors: For each result, whether it is a PyTorch tensor.
        came_as_sequence: Whether the results were in a tuple or a list.
        calls: The calls to submodules and to functions passed as arguments.
        printed: The answer's output, unless it was shown immediately.
    """

    results: tuple[np.ndarray, ...] = ()
    error: BaseException | None = None
    complaint: str = ""
    changed: tuple[str, ...] = ()
    gradients: Gradients = ()
    are_tensors: tuple[bool, ...] = ()
    came_as_sequence: bool = False
    calls: tuple[Call, ...] = ()
    printed: str = ""

    def equals(self, other: "Outcome", tolerance: float) -> bool:
        """Return whether two outcomes are equal within the tolerance.

        They are equal if their results, changes and gradients agree, or if their errors agree.
        """
        if self.error is not None or other.error is not None:
            # Errors of one type may have many causes; errors with the same text rarely do.
            if self.error is None or other.error is None:
                return False
            same_type = type(self.error) is type(other.error)
            return same_type and _error_key(self.error) == _error_key(other.error)
        if self.changed != other.changed or len(self.results) != len(other.results):
            return False
        same = zip(self.results, other.results, strict=True)
        return all(is_close(a, b, tolerance) for a, b in same) and self.has_same_gradients(other)

    def is_stub(self) -> bool:
        """Return whether the learner's own code, not a library, raised NotImplementedError."""
        own = re.search(r"on line \d+ of your code(?:\n|$|: .*\braise\b)", self.complaint)
        return isinstance(self.error, NotImplementedError) and own is not None

    def has_same_gradients(self, other: "Outcome") -> bool:
        """Return whether the gradients of two outcomes are close.

        Entries may differ by 1e-5 of their value plus 1e-6 of the largest entry of all gradients.
        """
        if [name for name, _ in self.gradients] != [name for name, _ in other.gradients]:
            return False
        # A gradient that is 0 in theory is not quite 0 in practice, so compare with the largest of
        # all.
        size = max((float(np.abs(g).max(initial=0)) for _, g in other.gradients), default=0.0)
        pairs = zip(self.gradients, other.gradients, strict=True)
        return all(np.allclose(a, b, rtol=1e-5, atol=1e-6 * size) for (_, a), (_, b) in pairs)

    def is_right(self, expected: "Outcome", tolerance: float) -> bool:
        """Return whether this outcome equals the expected one, with results of the right kinds."""
        if not self.equals(expected, tolerance):
            return False
        kinds = zip(self.results, expected.results, strict=True)
        if not all(is_same_kind(a, b) for a, b in kinds):
            return False
        return not (self.lacks_tensors(expected) or self.is_wrapped(expected))

    def lacks_tensors(self, expected: "Outcome") -> bool:
        """Return whether a result is a NumPy array but should be a PyTorch tensor."""
        kinds = zip(self.results, self.are_tensors, expected.are_tensors, strict=True)
        return any(array.ndim and wanted and not is_one for array, is_one, wanted in kinds)

    def is_wrapped(self, expected: "Outcome") -> bool:
        """Return whether a single expected result was returned inside a tuple or a list."""
        return len(self.results) == 1 and self.came_as_sequence and not expected.came_as_sequence

    def split_stacked(self, expected: "Outcome") -> "Outcome":
        """Return this outcome with its results stacked or split to match the expected ones.

        An array that should be a list is split, and a list that should be one array is stacked. If
        the shapes do not allow it, the outcome is returned unchanged.
        """
        n = len(expected.results)
        if self.came_as_sequence == expected.came_as_sequence:
            return self
        if self.came_as_sequence and n == 1:
            rows = expected.results[0].shape[:1]
            inner = expected.results[0].shape[1:]
            if rows != (len(self.results),) or any(x.shape != inner for x in self.results):
                return self
            stacked = np.stack(self.results) if self.results else expected.results[0][:0]
            return replace(self, results=(stacked,), are_tensors=(False,), came_as_sequence=False)
        if self.came_as_sequence or len(self.results) != 1 or self.results[0].ndim == 0:
            return self
        (whole,) = self.results
        if len(whole) != n or any(whole.shape[1:] != one.shape for one in expected.results):
            return self
        return replace(
            self,
            results=tuple(map(np.asarray, whole)),
            are_tensors=self.are_tensors * n,
            came_as_sequence=True,
        )


def run_case(
    answer: Callable[..., Any],
    run: Callable[..., Any],
    case: tuple[Any, ...],
    names: Sequence[str],
    seconds: float | None = None,
) -> Outcome:
    """Run an answer on a copy of a case and return the outcome, including any exception.

    An answer that does not finish is stopped (see `time_limit`).

    Args:
        answer: The answer.
        run: A function that calls the answer with the arguments of the case.
        case: The arguments of the case.
        names: The names of the arguments.
        seconds: How many seconds the answer may run; by default, as long as `time_limit` allows.
    """
    recorder = CallRecorder()
    watched = RecordedAnswer(recorder.watch(answer))
    arguments = tuple(map(recorder.wrap, names, copy.deepcopy(case)))
    try:
        with np.errstate(all="ignore"), torch.random.fork_rng([]), time_limit(seconds):
            returned = run(watched, *arguments)
            parts, modules = split_returned(returned)
            results = convert_results(returned, parts)
            gradients = compute_gradients(parts, dict(zip(names, arguments, strict=True)), modules)
    except EndlessError as error:
        return Outcome(error=error, complaint=describe_endless(error))
    except (Exception, SystemExit) as error:
        return Outcome(error=error, complaint=describe_error(error, watched))
    changed = tuple(
        name
        for name, before, after in zip(names, case, arguments, strict=True)
        if not is_unchanged(before, after)
    )
    return Outcome(
        results,
        changed=changed,
        gradients=gradients,
        are_tensors=tuple(isinstance(part, Tensor) for part in parts),
        came_as_sequence=isinstance(returned, tuple | list),
        calls=tuple(recorder.calls),
    )


def convert_results(returned: Any, parts: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Return the results as arrays.

    Raises:
        UnusableError: If a result cannot be converted to one array.
        NotComparableError: If a result does not consist of numbers or strings; the error says which
            one.
    """
    results: list[np.ndarray] = []
    for part in parts:
        try:
            results.append(as_array(part))
        except NotComparableError as error:
            # The learner returned the whole part, so the message should be about that, not about
            # what is inside.
            error.value, error.returned = part, returned
            error.place, error.count = len(results), len(parts)
            raise
    return tuple(results)


def split_returned(returned: Any) -> tuple[list[Any], list[nn.Module]]:
    """Split a returned value into the results and the modules whose gradients are compared.

    Raises:
        UnusableError: If there are more than 1,000 results.
    """
    if returned is None:
        return [], []
    parts = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(parts) > 1000:
        kind = describe_kind(returned)
        raise UnusableError(f"your answer returns {kind}, far more than was asked for")
    modules = [part for part in parts if isinstance(part, nn.Module)]
    return [part for part in parts if not isinstance(part, nn.Module)], modules


def compute_gradients(
    parts: Sequence[Any], arguments: dict[str, Any], modules: Sequence[nn.Module]
) -> Gradients:
    """Compute the gradients of a weighted sum of all results with respect to each tensor.

    The tensors are the arguments that require a gradient, and all parameters of `modules` and of
    modules among the arguments. The result is a tuple of pairs (name, gradient), sorted by name.
    """
    leaves = {name: x for name, x in arguments.items() if needs_gradient(x)}
    owners = [value for value in arguments.values() if isinstance(value, nn.Module)]
    for module in [*owners, *modules]:
        leaves |= dict(module.named_parameters())
    asked = [part for part in parts if needs_gradient(part)]
    if not (leaves and asked):
        return ()
    mix = sum((part * _mix_weights(part)).sum() for part in asked)
    found = torch.autograd.grad(mix, list(leaves.values()), allow_unused=True)
    pairs = sorted(zip(leaves, leaves.values(), found, strict=True), key=lambda row: row[0])
    return tuple((name, as_array(torch.zeros_like(x) if g is None else g)) for name, x, g in pairs)


def needs_gradient(x: Any) -> bool:
    """Return whether x is a tensor with `requires_grad`."""
    return isinstance(x, Tensor) and x.requires_grad


def _error_key(error: BaseException) -> str:
    """Return an error's headline without the index, because a different index may fail first."""
    return re.sub(r"index -?\d+ is out of bounds", "index out of bounds", error_headline(error))


def _mix_weights(part: Tensor) -> Tensor:
    numbers = torch.linspace(-1, 2, part.numel(), dtype=part.dtype) if part.numel() else part
    return numbers.reshape(part.shape).sin() + 0.5
