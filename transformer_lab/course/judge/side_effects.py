"""Detect an answer's side effects: changed arguments, defaults and globals.

`Check` and `outcome.run_case` use it.
"""

import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor, nn

from transformer_lab.course.judge.closeness import is_close
from transformer_lab.course.judge.returned_arrays import as_array


def is_unchanged(before: Any, after: Any) -> bool:
    """Return whether an argument still equals the copy made before the call.

    Functions always count as equal.
    """
    if isinstance(before, nn.Module):
        same_mode = [m.training for m in before.modules()] == [m.training for m in after.modules()]
        return same_mode and is_unchanged(before.state_dict(), after.state_dict())
    if isinstance(before, dict):
        return list(before) == list(after) and is_unchanged([*before.values()], [*after.values()])
    if isinstance(before, list | tuple):
        if type(before) is not type(after) or len(before) != len(after):
            return False
        return all(map(is_unchanged, before, after))
    if isinstance(before, set | bool | int | float | str):
        return bool(before == after)
    if not isinstance(before, np.ndarray | Tensor):
        return True
    return is_close(as_array(before), as_array(after), 0.0)


def copy_defaults_and_globals(answer: Callable[..., Any]) -> dict[str, Any]:
    """Return copies of an answer's default arguments and of the globals that it uses.

    The keys are phrases for messages, such as "the default of n" and "the global table".
    """
    owned = [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    found: dict[str, Any] = {}
    for function in (part for part in owned if isinstance(part, types.FunctionType)):
        arguments = inspect.signature(function).parameters.values()
        found |= {f"the default of {a.name}": a.default for a in arguments}
        names = function.__globals__.keys() & set(function.__code__.co_names)
        found |= {f"the global {name}": function.__globals__[name] for name in names}
    kinds = (bool, int, float, list, dict, set, np.ndarray, Tensor)
    return {name: copy.deepcopy(x) for name, x in found.items() if type(x) in kinds}


def find_code_objects(owned: Callable[..., Any]) -> set[types.CodeType]:
    """Return the code objects of a function, or of a class's methods, without their decorators.

    `__init__` is left out, because a check may build the package's class itself.
    """
    methods = vars(owned).items() if isinstance(owned, type) else [("", owned)]
    inner = [inspect.unwrap(f) for name, f in methods if callable(f) and name != "__init__"]
    return {part.__code__ for part in inner if isinstance(part, types.FunctionType)}
