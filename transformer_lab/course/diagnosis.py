"""What is wrong with an answer that no list knows: a true sentence, found by probing the answer."""

import itertools
from collections.abc import Sequence

import numpy as np

from transformer_lab.course import probes
from transformer_lab.course.about_numbers import about_numbers, about_others
from transformer_lab.course.answered import Answered, first_difference
from transformer_lab.course.calls import first_other_call
from transformer_lab.course.comparing import close, is_number, same_kind
from transformer_lab.course.outcome import Outcome
from transformer_lab.course.pattern import pattern
from transformer_lab.course.probes.where import sizes
from transformer_lab.course.words import kind_of

LINES = 12
"""As many lines a learner reads."""


def describe(answered: Answered, misread: str | None = None) -> str:
    """What is wrong, in a sentence and a number; what is true of all cases goes first."""
    text = in_words(answered, misread)
    where = pattern(answered)
    if where and ("those in which" in where or "wrong where" in where):
        return f"{where}.\n{text}"  # that says more than any number does
    return f"{text}\n{where}" if where else text


def in_words(answered: Answered, misread: str | None) -> str:
    """What is wrong with the smallest case that fails."""
    at = answered.first_wrong()
    got, want, names = answered.given[at], answered.expected[at], answered.results
    if got.error is not None:
        return got.complaint
    new = [name for name in got.changed if name not in want.changed]
    if new:
        return (
            f"it changes {' and '.join(new)} in place; whoever called it still needs what was there"
        )
    if not got.results and want.results:
        return "it returns None: is there a `return`?"
    if len(got.results) != len(want.results):
        asked = f"{len(want.results)}: {', '.join(names)}"
        note = " (a list counts as several things)" if len(want.results) == 1 else ""
        many = "1 thing" if len(got.results) == 1 else f"{len(got.results)} things"
        return f"it returns {many}; expected {asked}{note}"
    if got.is_wrapped(want):
        return (
            f"it returns {names[0]} in a tuple or list of 1 thing; without it, please (a comma "
            "behind it makes a tuple)"
        )
    order = other_order(got, want, names)
    if order:
        return order
    place = answered.wrong_result()
    if place is not None:
        return about_result(answered, at, place, misread)
    if got.lacks_tensors(want):
        return "it returns a NumPy array; a PyTorch tensor is asked, as the next cells need one"
    missing = [name for name in want.changed if name not in got.changed]
    if missing:
        return f"it leaves {' and '.join(missing)} as it was; that should have changed"
    return about_gradients(got, want)


def other_order(got: Outcome, want: Outcome, names: Sequence[str]) -> str | None:
    """All results are right, and one stands in the place of another."""
    n = len(names)
    if not 2 <= n <= 5:
        return None
    for order in itertools.permutations(range(n)):
        pairs = [(got.results[i], want.results[j]) for i, j in enumerate(order)]
        if all(close(a, b, 1e-6) and same_kind(a, b) for a, b in pairs):
            if list(order) == sorted(order):
                return None
            said = ", ".join(names[j] for j in order)
            return (
                f"right, but in another order: it returns ({said}); expected ({', '.join(names)})"
            )
    return None


def about_result(answered: Answered, at: int, place: int, misread: str | None) -> str:
    """What is wrong with one result."""
    name = answered.results[place]
    got, want = answered.given[at].results[place], answered.expected[at].results[place]
    others = [
        other
        for n, other in enumerate(answered.results)
        if n != place
        and close(answered.given[at].results[n], answered.expected[at].results[n], 1e-6)
    ]
    rest = f" ({' and '.join(others)}: right)" if others else ""
    if got.dtype.kind in "US" and is_number(want):
        return f"{name} is a text, {kind_of(got.tolist())}; expected a number{rest}"
    if is_number(got) and want.dtype.kind in "US":
        return f"{name} is a number, {kind_of(got.tolist())}; expected a text such as {want.ravel()[0]!r}"
    if got.shape != want.shape:
        reason = probes.first_of(probes.SHAPES, got, want) or on_the_way(answered, at)
        line = f"{name} has shape {got.shape}; expected {want.shape}{rest}"
        return f"{line}: {reason}" if reason else line
    if want.dtype.kind in "iu" and got.dtype.kind == "f":
        return f"{name} should be made of whole numbers (with // where you divide){rest}"
    if not same_kind(got, want):
        return f"{name} has dtype {got.dtype}; expected {want.dtype}{rest}"
    reason = misread or about_numbers(answered, at, place) or about_others(answered, at, place)
    reason = reason or on_the_way(answered, at) or sizes(got, want)
    first = first_difference(got, want, answered.tolerance)
    where = f"{name}[{', '.join(map(str, first))}]" if first else name
    if is_number(got):
        figures = f"{got[first]:.9g}; expected {want[first]:.9g}"
    else:
        figures = f"{str(got[first])[:160]}; expected: {str(want[first])[:160]}"
    line = f"{where} is {figures}"
    return f"{name}{rest}: {reason}\n{line}" if reason else f"{line}{rest}"


def on_the_way(answered: Answered, at: int) -> str | None:
    """Where the answer is still right, seen from what it calls."""
    return first_other_call(answered.given[at].calls, answered.expected[at].calls)


def about_gradients(got: Outcome, want: Outcome) -> str:
    """Which gradient is missing or another."""
    cut = "is there a detach, no_grad, .data, .item(), a new torch.tensor(…) or NumPy on the way?"
    if not got.gradients:
        return f"the numbers are right, and no gradient comes through: {cut}"
    theirs = dict(got.gradients)
    none = np.zeros(1)
    size = max(float(np.abs(g).max(initial=0)) for _, g in want.gradients)
    some = [n for n, g in want.gradients if np.abs(g).max(initial=0) > 1e-7 * size]
    lost = [n for n in some if not theirs.get(n, none).any()]
    if lost:
        few = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
        return f"the numbers are right, and no gradient reaches {few}: {cut}"
    off = [n for n, g in want.gradients if n not in theirs or not close(theirs[n], g, 1e-6)]
    return f"the numbers are right; the gradient of {off[0] if off else 'something'} is not: {cut}"
