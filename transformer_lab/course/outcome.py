"""What an answer does with one case of a check: results, gradients, changes, or an error."""

import copy
import inspect
import re
import sysconfig
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab.course.words import kind_of, shown

Gradients = tuple[tuple[str, np.ndarray], ...]
PACKAGE = str(Path(__file__).parents[1])
LARGEST = 10**7
"""As many numbers no exercise asks for."""
LIBRARIES = (sysconfig.get_path("stdlib"), "site-packages", "dist-packages", "<frozen", "<__array")


class UnusableError(ValueError):
    """What was returned is not what was asked; the text says what is."""


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
    """

    results: tuple[np.ndarray, ...] = ()
    error: BaseException | None = None
    complaint: str = ""
    changed: tuple[str, ...] = ()
    gradients: Gradients = ()
    are_tensors: tuple[bool, ...] = ()
    is_row: bool = False

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


class Watched:
    """An answer that can be asked afterwards what it returned, and whether it ever did."""

    def __init__(self, answer: Callable[..., Any]):
        self.answer = answer
        self.given: tuple[Any, ...] = ()
        self.returned: Any = None
        self.has_returned = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the answer, and keep what comes back."""
        self.given, self.has_returned = arguments, False
        self.returned = self.answer(*arguments, **named)
        self.has_returned = True
        return self.returned


def outcome_of(
    answer: Callable[..., Any],
    run: Callable[..., Any],
    case: tuple[Any, ...],
    names: Sequence[str],
) -> Outcome:
    """Run an answer on a copy of a case; an error of any kind is something that it may do."""
    arguments, watched = copy.deepcopy(case), Watched(answer)
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
    kinds = tuple(isinstance(part, Tensor) for part in parts)
    is_row = isinstance(returned, tuple | list)
    return Outcome(results, changed=changed, gradients=gradients, are_tensors=kinds, is_row=is_row)


def parts_of(returned: Any) -> tuple[list[Any], list[nn.Module]]:
    """What was returned, one by one; modules that a check hands on for their gradients apart."""
    if returned is None:
        return [], []
    parts = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(parts) > 1000:
        raise UnusableError(f"it returns {kind_of(returned)}, far more than was asked")
    modules = [part for part in parts if isinstance(part, nn.Module)]
    return [part for part in parts if not isinstance(part, nn.Module)], modules


def as_array(part: Any) -> np.ndarray:
    """A number, a text, a tensor, or lists of them as an array; anything else is refused."""
    if isinstance(part, Tensor):
        return part.detach().cpu().resolve_conj().numpy()
    array = np.asarray(part if isinstance(part, np.ndarray) else plain(part))
    if array.size > LARGEST:
        raise UnusableError(f"it returns {kind_of(part)}, far more than was asked")
    if array.dtype.kind not in "biufUcS":
        raise UnusableError(f"this cannot be compared: {shown(part)}")
    return array


def plain(part: Any) -> Any:
    """Numbers, texts and nested lists as they are; it stops at anything else."""
    if isinstance(part, bool | int | float | complex | str | np.generic | np.ndarray):
        return part
    if isinstance(part, Tensor):
        return part.detach().cpu().numpy()
    if isinstance(part, list | tuple):
        return [plain(one) for one in part]
    raise UnusableError(f"this cannot be compared: {shown(part)}")


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


# ---------------------------------------------------------------- comparing


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal shapes and kinds, no number off by more than the tolerance; NaN equals NaN."""
    if a.shape != b.shape or (a.dtype == bool) != (b.dtype == bool):
        return False
    if not (is_number(a) and is_number(b)):
        return is_number(a) == is_number(b) and bool(np.array_equal(a, b))
    return bool(near(a, b, tolerance).all())


def near(a: np.ndarray, b: np.ndarray, tolerance: float) -> np.ndarray:
    """Where two arrays of numbers are equal up to a part of their size, or of the largest of b.

    A number in single precision cannot be nearer than that, and is right all the same.
    """
    if np.float32 in (a.dtype, b.dtype) and tolerance > 0:
        tolerance = max(tolerance, 5e-6)
    finite = np.abs(b[np.isfinite(b)].astype(float))
    size = finite.max() if finite.size else 0.0
    with np.errstate(all="ignore"):
        return np.isclose(a, b, rtol=tolerance, atol=tolerance * (size or 1.0), equal_nan=True)


def same_kind(given: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether truth values are given for truth values, and whole numbers for whole numbers."""
    if wanted.dtype.kind in "iu" and given.dtype.kind == "f":
        return False
    return (given.dtype == bool) == (wanted.dtype == bool)


def is_number(array: np.ndarray) -> bool:
    """Whether an array holds numbers or truth values, which can be subtracted."""
    return array.dtype.kind in "biuf"


def unchanged(before: Any, after: Any) -> bool:
    """Whether an argument is what it was before the call; functions are not looked at."""
    if isinstance(before, nn.Module):
        same_mode = [m.training for m in before.modules()] == [m.training for m in after.modules()]
        return same_mode and unchanged(before.state_dict(), after.state_dict())
    if isinstance(before, dict):
        return list(before) == list(after) and unchanged([*before.values()], [*after.values()])
    if isinstance(before, list | tuple):
        if type(before) is not type(after) or len(before) != len(after):
            return False
        return all(map(unchanged, before, after))
    if isinstance(before, set | bool | int | float | str):
        return bool(before == after)
    if not isinstance(before, np.ndarray | Tensor):
        return True
    return close(as_array(before), as_array(after), 0.0)


# ---------------------------------------------------------------- what belongs to an answer


def surroundings(answer: Callable[..., Any]) -> dict[str, Any]:
    """A copy of the data that an answer keeps between calls: its defaults, its globals."""
    owned = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    found: dict[str, Any] = {}
    for function in (part for part in owned if isinstance(part, types.FunctionType)):
        arguments = inspect.signature(function).parameters.values()
        found |= {f"the default of {a.name}": a.default for a in arguments}
        names = function.__globals__.keys() & set(function.__code__.co_names)
        found |= {f"the global {name}": function.__globals__[name] for name in names}
    kinds = (bool, int, float, list, dict, set, np.ndarray, Tensor)
    return {name: copy.deepcopy(x) for name, x in found.items() if type(x) in kinds}


def codes_of(owned: Callable[..., Any]) -> set[types.CodeType]:
    """The code of a function, or of a class's methods, below anything wrapped around it.

    To build an object is no work of its own: a check does that, too.
    """
    methods = vars(owned).items() if isinstance(owned, type) else [("", owned)]
    inner = [inspect.unwrap(f) for name, f in methods if callable(f) and name != "__init__"]
    return {part.__code__ for part in inner if isinstance(part, types.FunctionType)}


# ---------------------------------------------------------------- errors


def complaint_about(error: BaseException, watched: Watched) -> str:
    """An error in words: whose it is, and where, and what was returned if reading it failed."""
    if isinstance(error, UnusableError):
        return str(error)
    said = f"{type(error).__name__}: {shown_error(error)}"
    line = learners_line(error)
    if line:
        cause = numpy_on_a_tensor(error)
        return f"{cause} ({said}){line}" if cause else f"it stops with {said}{line}"
    if watched.has_returned:
        return f"it returns {kind_of(watched.returned)}, which cannot be used here ({said})"
    if isinstance(error, TypeError):
        many = len(watched.given)
        return f"it cannot be called with the {many} arguments of this exercise ({said})"
    return f"it stops with {said}"


def numpy_on_a_tensor(error: BaseException) -> str:
    """Says so if a NumPy function was called on a tensor, which the error's own text does not."""
    text = shown_error(error)
    if isinstance(error, RuntimeError) and "numpy() on Tensor that requires grad" in text:
        return (
            "a NumPy function gets a tensor that needs a gradient, and NumPy hands none on: use "
            "@, the tensor's own methods or torch's functions, such as torch.exp for np.exp"
        )
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    is_numpys = bool(files) and str(Path(np.__file__).parent) in files[-1]
    if isinstance(error, TypeError) and is_numpys and re.search("combination|unexpected", text):
        return (
            "a NumPy function is called on a tensor and hands it NumPy's words, where PyTorch's "
            "are others: dim for axis, keepdim for keepdims; use the tensor's own method"
        )
    return ""


def shown_error(error: BaseException) -> str:
    """The first line of an error's text; an error may fail at that, too."""
    try:
        text = str(error).strip().splitlines()
    except Exception:
        return "(its text cannot be read)"
    return text[0][:160] if text else "no text"


def learners_line(error: BaseException) -> str:
    """The last line of the learner's own code that was running: neither ours nor a library's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not f.filename.startswith((PACKAGE, *LIBRARIES[:1]))]
    own = [f for f in own if not any(library in f.filename for library in LIBRARIES[1:])]
    if not own:
        return ""
    text = f": {own[-1].line}" if own[-1].line else ""
    return f"\n  in your line {own[-1].lineno}{text}"
