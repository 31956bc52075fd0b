"""Checks for the exercise of lesson 18 on the recurrence that replaces decoder self-attention."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _step_cases() -> list[tuple]:
    first = ([3, -1], [2, -1], [[1, -3], [-1, 1]], [[1, 3], [-1, -2]], [2, -1])
    cases: list[tuple] = [tuple(np.array(numbers, dtype=float) for numbers in first)]
    for seed, d in enumerate((3, 5, 7), start=1):
        state, x, bias = (random_array(d, seed=10 * seed + n) for n in range(3))
        w, w_f = (random_array(d, d, seed=10 * seed + n) for n in (3, 4))
        cases.append((state, x, w, w_f, bias))
    (state, x, w, w_f, bias), d = cases[-1], 7
    far = np.where(np.arange(d) % 2, 999.0, -999.0)  # gates wide open and shut
    return [*cases, (np.zeros(d), 9 * x, w, w_f, bias), (state, x, w, w_f, far)]


def _take_step(
    state: np.ndarray, x: np.ndarray, w: np.ndarray, w_f: np.ndarray, b_f: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    f = 1 / (1 + np.exp(-(w_f @ x + b_f)))
    c = f * state + (1 - f) * (w @ x)
    return np.maximum(c, 0), c


_edit_step = partial(edit_reference, _take_step)


def _random_step(chance: RandomValues) -> tuple:
    (d,) = chance.sizes(1)
    shapes = ((d,), (d,), (d, d), (d, d), (d,))
    *rest, bias = (chance.numbers(*shape) for shape in shapes)
    return *rest, chance.one_of(1.0, 1_000.0) * bias


def _work_out_step(
    state: np.ndarray, x: np.ndarray, w: np.ndarray, w_f: np.ndarray, b_f: np.ndarray, at: tuple
) -> Iterator[Step]:
    (i,) = at
    before = w_f[i] @ x + b_f[i]
    f, new = (1 + np.tanh(before / 2)) / 2, w[i] @ x  # a sigmoid that does not overflow
    parts = [f * state[i], (1 - f) * new]
    yield f"entry {i} of w_f @ x + b_f", before
    yield "the sigmoid of that, which is the gate", f
    yield f"entry {i} of w @ x, the new part", new
    yield f"the gate times entry {i} of state, and (1 − gate) times the new part", parts
    yield "their sum, which is the new state", sum(parts)
    yield "what is written, which is the new state, or 0 if it is negative", max(0.0, sum(parts))


ssru_step = Check(
    reference=_take_step,
    cases=_step_cases,
    drawn=_random_step,
    results=("what is written", "the new state"),
    working=_work_out_step,
    verified="the gate says how much of the old state stays, and the rest is new",
    mistakes=[
        Mistake(
            _edit_step(("f * state + (1 - f)", "(1 - f) * state + f")),
            "you have the gate the wrong way round. The share of the old state that *stays* should "
            "be f, not 1 − f.",
        ),
        Mistake(
            _edit_step(("(1 - f) * (w @ x)", "w @ x")),
            "the new part is added in full, but it should be multiplied by 1 − f.",
        ),
        Mistake(_edit_step(("(w @ x)", "x")), "the new part is x itself, but it should be w @ x."),
        Mistake(
            _edit_step(("w_f @ x", "w_f @ state")),
            "the gate is computed from the state, but it should come from x.",
        ),
        Mistake(
            _edit_step(("f * state", "state")),
            "the old state is kept in full, but it should be multiplied by f.",
        ),
        Mistake(
            _edit_step(("np.maximum(c, 0), c", "np.maximum(c, 0), np.maximum(c, 0)")),
            "you returned the state after the ReLU, so everything negative would be forgotten. "
            "Only the output should go through the ReLU.",
        ),
        Mistake(
            _edit_step(("np.maximum(c, 0), c", "c, c")),
            "you returned the state itself as the output, but the output should be ReLU(c).",
        ),
        Mistake(_edit_step((" + b_f", "")), "the gate's bias is missing."),
        Mistake(
            _edit_step(
                (
                    "1 / (1 + np.exp(-(w_f @ x + b_f)))",
                    "np.exp(z := w_f @ x + b_f) / (1 + np.exp(z))",
                )
            ),
            "the exponential of a large number is infinite, and ∞/∞ is NaN. Write the sigmoid as 1 "
            "/ (1 + e^(−z)), which is 0 where e^(−z) is infinite.",
        ),
        Mistake(
            _edit_step(("w_f @ x", "w_f.T @ x"), ("w @ x", "w.T @ x")),
            "you transposed the matrices. The products should be w @ x and w_f @ x.",
        ),
        Mistake(
            _edit_step(("np.maximum(c, 0), c", "c, np.maximum(c, 0)")),
            "you swapped the two results: the output should come first, and then the state.",
        ),
    ],
)
