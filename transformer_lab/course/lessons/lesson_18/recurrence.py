"""Checks of the exercises of lesson 18: the recurrence in the place of the decoder's self-attention."""

from collections.abc import Callable

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

Gate = Callable[[np.ndarray], np.ndarray]


def _step_cases() -> list[tuple]:
    cases: list[tuple] = []
    for seed, d in enumerate((2, 3, 5, 7)):
        state, x, bias = (random_array(d, seed=10 * seed + n) for n in range(3))
        w, w_f = (random_array(d, d, seed=10 * seed + n) for n in (3, 4))
        cases.append((state, x, w, w_f, bias))
    (_, x, w, w_f, bias), d = cases[-1], 7
    return [*cases, (np.zeros(d), 9 * x, w, w_f, bias)]


def _step(
    state: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    w_f: np.ndarray,
    b_f: np.ndarray,
    *,
    old: Gate = lambda f: f,
    new: Gate = lambda f: 1 - f,
    carried: Gate = lambda c: c,
    written: Gate = lambda c: np.maximum(c, 0),
) -> tuple[np.ndarray, np.ndarray]:
    f = 1 / (1 + np.exp(-(w_f @ x + b_f)))
    c = old(f) * state + new(f) * (w @ x)
    return written(c), carried(c)


def _random_step(chance: RandomValues) -> tuple:
    (d,) = chance.sizes(1)
    shapes = ((d,), (d,), (d, d), (d, d), (d,))
    return tuple(chance.numbers(*shape) for shape in shapes)


ssru_step = Check(
    reference=_step,
    run=lambda answer, *case: answer(*case),
    cases=_step_cases,
    drawn=_random_step,
    arguments=("state", "x", "w", "w_f", "b_f"),
    results=("what is written", "the new state"),
    verified="the gate says how much of the old state stays, and the rest is new",
    mistakes=[
        Mistake(
            lambda *a: _step(*a, old=lambda f: 1 - f, new=lambda f: f),
            "the gate works the wrong way round: f is what *stays*.",
        ),
        Mistake(
            lambda *a: _step(*a, new=np.ones_like),
            "the new part comes in whole; it has the weight 1 − f.",
        ),
        Mistake(
            lambda state, x, w, w_f, b_f: _step(state, x, np.eye(len(x)), w_f, b_f),
            "the new part is x itself; it is w @ x.",
        ),
        Mistake(
            lambda state, x, w, w_f, b_f: _step(state, x, w, 0 * w_f, w_f @ state + b_f),
            "the gate is computed from the state; it is computed from x.",
        ),
        Mistake(
            lambda *a: _step(*a, old=np.ones_like),
            "the old state stays whole; it has the weight f.",
        ),
        Mistake(
            lambda *a: _step(*a, carried=lambda c: np.maximum(c, 0)),
            "the state is carried on behind the ReLU: what is below 0 would be forgotten.",
        ),
        Mistake(
            lambda *a: _step(*a, written=lambda c: c),
            "the state is written as it is; what is written is ReLU(c).",
        ),
        Mistake(
            lambda state, x, w, w_f, b_f: _step(state, x, w, w_f, 0 * b_f),
            "the gate has no bias.",
        ),
        Mistake(
            lambda state, x, w, w_f, b_f: _step(state, x, w.T, w_f.T, b_f),
            "the matrices are turned: the product is w @ x.",
        ),
        Mistake(
            lambda *a: _step(*a)[::-1],
            "the order is: what is written, then the state.",
        ),
    ],
)
