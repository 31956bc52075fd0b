"""Checks for the exercise of lesson 14 on a paired difference and its standard error."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- a difference and its error


def _compare_runs(base: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    d = other - base
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


def _work_out_difference(base: np.ndarray, other: np.ndarray, at: tuple) -> Iterator[Step]:
    d = other - base
    yield "other − base, run by run", d
    yield "their mean", d.mean()
    yield "how far each is from that mean", d - d.mean()
    yield f"the spread, √(the sum of the squares of these / {len(d) - 1})", d.std(ddof=1)
    yield f"the spread divided by √{len(d)}", d.std(ddof=1) / math.sqrt(len(d))


_edit_difference = partial(edit_reference, _compare_runs)


def _run_cases() -> list[tuple]:
    cases = [(np.array([0.4, 0.5, 0.3]), np.array([0.5, 0.7, 0.3]))]
    for n in (2, 5, 7):
        common, own = random_array(n, seed=n), random_array(2, n, seed=n + 10)
        cases.append((common + 0.3 * own[0], common + 0.3 * own[1] + 0.5))
    return cases


def _random_runs(chance: RandomValues) -> tuple:
    count = chance.between(3, 20)
    common = chance.numbers(count, scale=3.0)
    return common + chance.numbers(count), common + chance.numbers(count) + chance.real(-2, 2)


paired_difference = Check(
    reference=_compare_runs,
    cases=_run_cases,
    drawn=_random_runs,
    results=("the difference", "the standard error"),
    working=_work_out_difference,
    verified="the mean of the differences seed by seed, and their spread divided by √n",
    mistakes=[
        Mistake(
            _edit_difference(("d.std(ddof=1)", "math.sqrt(base.var(ddof=1) + other.var(ddof=1))")),
            "your standard error treats the two settings as unrelated. But each run uses the same "
            "sentences in both settings, so compute the differences first, and then their spread.",
        ),
        Mistake(
            _edit_difference(("ddof=1", "")),
            "your standard deviation divides by n. But the mean that it uses comes from the same "
            "few numbers, so divide by n − 1 (ddof=1).",
        ),
        Mistake(
            _edit_difference((" / math.sqrt(len(d))", "")),
            "this is the standard deviation of the single differences. The mean of n differences "
            "is more certain, so divide by √n.",
        ),
        Mistake(
            _edit_difference(("math.sqrt(len(d))", "len(d)")),
            "you divided the spread by n. A variance would be divided by n, but a spread should "
            "be divided by √n.",
        ),
        Mistake(
            _edit_difference(("other - base", "base - other")),
            "the sign is wrong. The difference should be what the change adds, other − base.",
        ),
        Mistake(
            _edit_difference(("d.std(ddof=1) / math.sqrt(len(d))", "d.var(ddof=1) / len(d)")),
            "this is the variance of the mean. Return its square root, the standard error.",
        ),
    ],
)
