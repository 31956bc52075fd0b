"""Find an argument that an answer misreads, for example by swapping, ignoring or transposing it.

`Check` uses this for a wrong answer. It runs the reference on modified cases. If, in every
case, the reference then returns what the answer returned for the original case, the modification
shows how the argument was misread.
"""

import dis
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.config import join_with_and
from transformer_lab.course.judge.closeness import is_equal
from transformer_lab.course.judge.outcome import Outcome

Case = tuple[Any, ...]
Run = Callable[[Case], Outcome]


def find_misread_argument(
    run_reference: Run,
    cases: Sequence[Case],
    names: Sequence[str],
    given: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> str | None:
    """Describe the misread argument that explains all results of an answer, if there is one.

    A change that does not affect the expected results explains nothing.
    """
    if any(outcome.error is not None for outcome in given) or _is_one_value(given):
        return None
    for words, change in list_changes(cases[0], names):
        changed = []
        for case, outcome in zip(cases, given, strict=True):
            try:
                other = run_reference(change(case))
            except Exception:
                break
            if other.error is not None or not _has_same_results(outcome, other):
                break
            changed.append(other)
        pairs = zip(changed, expected, strict=False)
        if len(changed) == len(cases) and not all(_has_same_results(a, b) for a, b in pairs):
            return words
    return None


def _is_one_value(given: Sequence[Outcome]) -> bool:
    """Return whether all results consist of one repeated value, which any misreading might give."""
    flat = [x.ravel() for outcome in given for x in outcome.results if x.size]
    return bool(flat) and all((x == flat[0][0]).all() for x in flat)


def _has_same_results(a: Outcome, b: Outcome) -> bool:
    if len(a.results) != len(b.results):
        return False
    pairs = zip(a.results, b.results, strict=True)
    return all(Outcome((x,)).equals(Outcome((y,)), 1e-6) for x, y in pairs)


def _is_identical(a: Outcome, b: Outcome) -> bool:
    """Return whether all results are exactly equal."""
    pairs = zip(a.results, b.results, strict=False)
    return len(a.results) == len(b.results) and all(is_equal(x, y) for x, y in pairs)


def find_unread_arguments(
    run_reference: Run, run_answer: Run, case: Case, names: Sequence[str], given: Outcome
) -> str | None:
    """Describe the arguments that only the reference reads, if there are any.

    An argument counts as unread if changing its value changes the reference's result but not the
    answer's.
    """
    before = run_reference(case)
    if any(np.issubdtype(x.dtype, np.floating) and np.isnan(x).any() for x in given.results):
        return None
    idle = []
    for place, name in enumerate(names):
        if not _is_numbers(case[place]) or not _is_float(case[place]):
            continue
        others = [_replace(case, place, change) for change in (_perturb, _flip, operator.neg)]
        pairs = [(run_reference(other), run_answer(other)) for other in others]
        if any(reference.error or answer.error for reference, answer in pairs):
            continue
        # One change may not affect the result: the largest number may stay the largest, for
        # example.
        is_asked = not _has_same_results(before, pairs[0][0])
        if is_asked and all(_is_identical(given, answer) for _, answer in pairs):
            idle.append(f"`{name}`")
    if not idle:
        return None
    if len(idle) == 1:
        return f"{idle[0]} does not affect the result, so your answer seems to ignore it"
    return f"{join_with_and(idle)} do not affect the result, so your answer seems to ignore them"


def find_numbers_of_the_page(answer: Callable[..., Any]) -> str | None:
    """Return a hint if an answer reads the notebook's arrays instead of its arguments.

    For example, the body of `def attention(q, k, v)` may contain `Q @ K.T`.
    """
    if not isinstance(answer, FunctionType):
        return None
    code = answer.__code__
    read = set(code.co_cellvars)  # what inner functions read
    page = []
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    for step in itertools.chain.from_iterable(map(dis.get_instructions, [code, *inner])):
        if "LOAD_FAST" in step.opname:  # newer Pythons load two at once
            read |= set(step.argval) if isinstance(step.argval, tuple) else {step.argval}
        elif step.opname == "LOAD_GLOBAL":
            page.append(step.argval)
    idle = [name for name in code.co_varnames[: code.co_argcount] if name not in read]
    arrays = [
        name
        for name in dict.fromkeys(page)
        if isinstance(answer.__globals__.get(name), np.ndarray | Tensor)
    ]
    if not (idle and arrays):
        return None
    quoted = [join_with_and([f"`{name}`" for name in names]) for names in (arrays, idle)]
    verb = "was" if len(arrays) == 1 else "were"
    return (
        f"your answer reads {quoted[0]}, which {verb} made elsewhere in the notebook, but not its "
        f"{'argument' if len(idle) == 1 else 'arguments'} {quoted[1]}. The check calls "
        "your answer with other numbers, so use the arguments."
    )


def list_changes(case: Case, names: Sequence[str]) -> Iterator[tuple[str, Callable[[Case], Case]]]:
    """Yield the misreadings to try, each as a sentence and a function that applies it to a case."""
    places = [n for n, value in enumerate(case) if _is_numbers(value)]
    for a, b in itertools.combinations(places, 2):
        words = (
            f"`{names[a]}` and `{names[b]}` are swapped. If you exchange them, the result is right"
        )
        yield words, partial(_swap, a, b)
    for a, b in itertools.permutations(places, 2):
        words = f"`{names[a]}` is used in place of `{names[b]}`, which is never read"
        yield words, partial(_copy_argument, a, b)
    for place in places:
        name, value = names[place], case[place]
        for words, change in _single_changes(value):
            yield words.replace("{}", name), partial(_replace_at, place, change)


def _single_changes(value: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    if not isinstance(value, np.ndarray | Tensor):
        for add in (-1, 1):
            words = f"the result would be right if `{{}}` were {'smaller' if add < 0 else 'larger'} by 1"
            yield words, partial(operator.add, add)
        for number in (0, 1, 2):
            words = f"the result would be right if `{{}}` were {number}, so `{{}}` may be unused"
            yield words, partial(_constant, number)
        yield "the result would be right if `{}` were squared", lambda x: x * x
        yield "the result would be right if `{}` were replaced by its square root", lambda x: x**0.5
        yield "the result would be right if `{}` had the opposite sign", lambda x: -x
        return
    if _is_float(value):
        yield (
            "the result would be right if `{}` contained only zeros, so `{}` may be unused",
            lambda x: x * 0,
        )
        yield (
            "the result would be right if `{}` contained only ones, so `{}` may be unused",
            lambda x: x * 0 + 1,
        )
        yield "the result would be right if `{}` had the opposite sign", lambda x: -x
        yield (
            "the result would be right if `{}` were squared, so you may have squared it by mistake",
            lambda x: x * x,
        )
        yield "the absolute value of `{}` is used instead of `{}` itself", lambda x: abs(x)
    if value.ndim >= 2:
        yield "the result would be right if `{}` were transposed", lambda x: x.swapaxes(-1, -2)
    if value.ndim and not _is_float(value) and _dtype(value) == "bool":
        yield "True and False in `{}` are mixed up", lambda x: ~x
        yield (
            "the result would be right if `{}` were True everywhere, so `{}` may be unused",
            lambda x: x | True,
        )
    if value.ndim >= 1:
        yield "the result would be right if `{}` were in reverse order", lambda x: _flip_axis(x, -1)
        yield "the first axis of `{}` is read in reverse order", lambda x: _flip_axis(x, 0)


def _flip_axis(x: Any, axis: int) -> Any:
    return x.flip(axis) if isinstance(x, Tensor) else np.flip(x, axis)


def _dtype(x: Any) -> str:
    return str(x.dtype).rpartition(".")[2]


def _is_numbers(value: Any) -> bool:
    return isinstance(value, np.ndarray | Tensor | int | float) and not isinstance(value, bool)


def _is_float(value: Any) -> bool:
    if isinstance(value, np.ndarray | Tensor):
        return "float" in _dtype(value)
    return isinstance(value, float)


def _replace(case: Case, place: int, change: Callable[[Any], Any]) -> Case:
    value = case[place]
    if isinstance(value, Tensor) and value.requires_grad:
        return (*case[:place], change(value.detach()).requires_grad_(), *case[place + 1 :])
    return (*case[:place], change(value), *case[place + 1 :])


def _replace_at(place: int, change: Callable[[Any], Any], case: Case) -> Case:
    return _replace(case, place, change)


def _swap(a: int, b: int, case: Case) -> Case:
    turned = list(case)
    turned[a], turned[b] = case[b], case[a]
    return tuple(turned)


def _copy_argument(a: int, b: int, case: Case) -> Case:
    return (*case[:b], case[a], *case[b + 1 :])


def _constant(number: int, _: Any) -> int:
    return number


def _flip(x: Any) -> Any:
    return _flip_axis(x, -1) if isinstance(x, np.ndarray | Tensor) and x.ndim else 3 * x


def _perturb(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x + torch.linspace(0.1, 0.9, x.numel(), dtype=x.dtype).reshape(x.shape)
    if isinstance(x, np.ndarray):
        return x + np.linspace(0.1, 0.9, x.size).reshape(x.shape)
    return x * 1.25 + 0.125
