"""Record the calls that an answer makes, and find the first call with wrong arguments.

`outcome.run_case` records the calls, and `diagnosis` compares them with the reference's. If an
answer has several steps, the arguments of the functions or modules that it calls show which step
goes wrong first.
"""

import functools
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from torch import nn

from transformer_lab.config import join_with_and
from transformer_lab.course.judge.closeness import is_close, is_numeric
from transformer_lab.course.judge.formatting import describe_kind, start_sentence
from transformer_lab.course.judge.probes import (
    NUMBER_PROBES,
    PLACE_PROBES,
    SHAPE_PROBES,
    run_probes,
)
from transformer_lab.course.judge.returned_arrays import as_array

MAX_CALLS = 200
"""The maximum number of recorded calls; more of them suggest an endless loop."""
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Call:
    """One call to a function or to a submodule.

    Attributes:
        name: The name of the function or submodule.
        given: The arguments as arrays, with None for any that cannot be converted.
        returned: The result as an array, or None if it cannot be converted.
        layer: The submodule's class if it is one of PyTorch's own, such as "LayerNorm"; otherwise
            "".
    """

    name: str
    given: tuple[np.ndarray | None, ...]
    returned: np.ndarray | None = None
    layer: str = ""


class CallRecorder:
    """A recorder of calls to functions and submodules, with their arguments.

    Attributes:
        calls: The calls, in the order in which they started.
        is_answer_running: Whether the answer is running. Only calls made while it runs are
            recorded. A check may call the same functions before or after the answer, but those
            calls say nothing about the answer.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.is_answer_running = True

    def watch(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs an answer and records the calls that it makes.

        After this, only calls made by the answer are recorded. If the answer returns a module,
        calls to its submodules count as the answer's own.
        """
        self.is_answer_running = False

        def run_answer(*given: Any, **named: Any) -> Any:
            self.is_answer_running = True
            try:
                returned = answer(*given, **named)
            finally:
                self.is_answer_running = False
            if isinstance(returned, nn.Module):
                self.is_answer_running = True
                self.hook_parts(returned)
            return returned

        vars(run_answer)["__wrapped__"] = answer
        return run_answer

    def record(self, name: str, given: Iterable[Any], layer: str = "") -> int | None:
        """Record a call made by the answer, unless `MAX_CALLS` calls are already recorded.

        Returns:
            The index of the call, or None if the call was not recorded or one of its arguments
            (such as a function) cannot be compared.
        """
        given = tuple(given)
        if not self.is_answer_running or len(self.calls) >= MAX_CALLS:
            return None
        kept = tuple(map(copy_as_array, given))
        self.calls.append(Call(name, kept, layer=layer))
        is_known = all(x is None or copy is not None for x, copy in zip(given, kept, strict=True))
        return len(self.calls) - 1 if is_known else None

    def record_returned(self, number: int | None, returned: Any) -> None:
        """Record the result of call `number`; do nothing if `number` is None."""
        if number is not None:
            self.calls[number] = replace(self.calls[number], returned=copy_as_array(returned))

    def wrap(self, name: str, value: Any) -> Any:
        """Return the value, with calls to it recorded if it is a function or a module.

        A function is wrapped. A module is returned as it is, with hooks on its submodules.
        """
        if isinstance(value, types.FunctionType):
            return self.wrap_function(name, value)
        self.hook_parts(value, f"{name}.")
        return value

    def wrap_function(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that records its calls and otherwise behaves like the given one."""

        @functools.wraps(function)
        def record_call(*given: Any, **named: Any) -> Any:
            number = self.record(name, (*given, *named.values()))
            returned = function(*given, **named)
            self.record_returned(number, returned)
            return returned

        return record_call

    def hook_parts(self, module: Any, before: str = "") -> None:
        """Register hooks that record the calls to a module's submodules; skip any other value."""
        if not isinstance(module, nn.Module):
            return

        for name, part in module.named_children():
            if not any(True for _ in part.parameters()):
                continue  # an answer may call dropout and the like in any way
            self.hook_part(before + name, part)

    def hook_part(self, name: str, part: nn.Module) -> None:
        """Register hooks that record the arguments and the results of one submodule."""
        running: list[int | None] = []
        layer = type(part).__name__ if type(part).__module__.startswith("torch.nn.") else ""

        def begin(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> None:
            running.append(self.record(name, (*given, *named.values()), layer))

        def end(_: nn.Module, __: tuple[Any, ...], returned: Any) -> None:
            if running:
                self.record_returned(running.pop(), returned)

        part.register_forward_pre_hook(begin, with_kwargs=True)
        part.register_forward_hook(end)


def copy_as_array(value: Any) -> np.ndarray | None:
    """Return a copy of the value as an array, or None if it cannot be converted."""
    try:
        return as_array(value).copy()
    except Exception:  # a learner may pass anything
        return None


def find_first_wrong_call(got: Sequence[Call], want: Sequence[Call]) -> str | None:
    """Describe the first call that differs from the reference's, if there is one.

    A call differs if its arguments differ, or if the same arguments give a different result. If all
    calls are right, the text says that the mistake comes after them. Return None if the reference
    makes no calls, if the answer makes too many to record, or if the answer makes all the right
    calls and some extra ones.
    """
    if not want or len(got) == MAX_CALLS:
        return None
    right: list[str] = []
    for n, call in enumerate(want):
        earlier = sum(other.name == call.name for other in want[:n])
        many = sum(other.name == call.name for other in want)
        mine = [other for other in got if other.name == call.name]
        start = "" if many == 1 else f"in call {earlier + 1}, "
        if len(mine) <= earlier:
            times = f"{len(mine)} times" if len(mine) != 1 else "once"
            said = f"`{call.name}` is called {times}, but should be called {many} times"
            return f"`{call.name}` is never called" if not mine else said
        one = mine[earlier]
        how = describe_difference(one.given, call.given, f"`{call.name}`")
        if how is None and not _gives_something_else(one, call):
            right = [*dict.fromkeys([*right, call.name])]
            continue
        if one.layer != call.layer and one.layer and call.layer:
            said = f"{start}`{call.name}` is a {one.layer}, but should be a {call.layer}"
            return start_sentence(said)
        if how is None:
            return start_sentence(
                f"{start}`{call.name}` gets the right arguments but returns a wrong result. Check "
                "how you build it and what it computes"
            )
        needless = find_needless_calls(got, want)
        if needless:
            return needless
        said = start_sentence(f"{start}{how}")
        if not right:
            return said
        calls = join_with_and([f"`{name}`" for name in right[-4:]])
        them, are = ("call", "is") if len(right) == 1 else ("calls", "are")
        return f"{said}. The earlier {them} to {calls} {are} right"
    if any(sum(o.name == c.name for o in got) > sum(o.name == c.name for o in want) for c in got):
        return None
    each = join_with_and([f"`{name}`" for name in right])
    get, its, results = (
        ("gets", "its", "result") if len(right) == 1 else ("get", "their", "results")
    )
    return f"{each} {get} the right arguments, so look at what you do with {its} {results}"


def _gives_something_else(one: Call, call: Call) -> bool:
    """Return whether two calls returned different arrays; False if either did not return one."""
    a, b = one.returned, call.returned
    return a is not None and b is not None and not is_close(a, b, TOLERANCE)


def find_needless_calls(got: Sequence[Call], want: Sequence[Call]) -> str | None:
    """Describe an extra call whose arguments match none of the reference's calls, if there is one.

    An answer that loops over the rows, and so makes many calls with one row each, is not reported.
    """
    for name in dict.fromkeys(call.name for call in want):
        mine = [call.given for call in got if call.name == name]
        theirs = [call.given for call in want if call.name == name]
        if len(mine) != len(theirs) + 1:
            continue
        shapes = [[None if x is None else x.shape for x in given] for given in (*mine, *theirs)]
        is_other = any(all(describe_difference(a, b, name) for b in theirs) for a in mine)
        if is_other and all(shape == shapes[0] for shape in shapes):
            times = "twice" if len(mine) == 2 else f"{len(mine)} times"
            enough = "one call is" if len(theirs) == 1 else f"{len(theirs)} calls are"
            return f"`{name}` is called {times}, but {enough} enough"
    return None


def describe_difference(
    got: Sequence[np.ndarray | None], want: Sequence[np.ndarray | None], function: str
) -> str | None:
    """Say how a call's arguments differ from the expected ones, or return None if they are equal.

    The text begins with a lower-case letter and has no full stop. `function` is the name of the
    called function.
    """
    got, want = _leave_out_defaults(got), _leave_out_defaults(want)
    if len(got) != len(want):
        return f"{function} gets {len(got)} argument{'s' * (len(got) != 1)}, but should get {len(want)}"
    for n, (a, b) in enumerate(zip(got, want, strict=True)):
        number = f"argument {n + 1}" if len(want) > 1 else "the argument"
        argument = f"{number} of {function}"
        if (a is None) != (b is None):
            return f"{argument} is {describe_kind(a)}, but should be {describe_kind(b)}"
        if a is None or b is None or (a.dtype.kind in "OU" and a.dtype == b.dtype):
            continue
        if a.shape != b.shape:
            how = run_probes(SHAPE_PROBES, a, b)
            why = f". {how}" if how else ""
            return f"{argument} has shape {a.shape}, but should have {b.shape}{why}"
        if not is_close(a, b, TOLERANCE):
            is_many = is_numeric(a) and is_numeric(b) and b.size > 2
            found = run_probes((*NUMBER_PROBES, *PLACE_PROBES[:-1]), a, b) if is_many else None
            return f"{argument} is wrong. {found}" if found else f"{argument} is wrong"
    return None


def _leave_out_defaults(arguments: Sequence[np.ndarray | None]) -> Sequence[np.ndarray | None]:
    """Return the arguments without trailing Nones, because omitting those makes no difference."""
    kept = len(arguments)
    while kept and arguments[kept - 1] is None:
        kept -= 1
    return arguments[:kept]
