"""Checks for the exercises of lesson 15: counting multiplications, and fitting an exponent."""

from collections.abc import Iterator

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- counting products


def _random_sizes(chance: RandomValues) -> tuple:
    return chance.between(1, 3000), chance.between(1, 600)


def _count_products(n: int, d: int) -> tuple[int, int]:
    return 4 * n * d * d, 2 * n * n * d


def _work_out_products(n: int, d: int, at: tuple) -> Iterator[Step]:
    yield "one projection, n vectors each times a d × d matrix", n * d * d
    yield "four of them, for queries, keys, values and the output", 4 * n * d * d
    yield "the scores, n · n of them with d multiplications each", n * n * d
    yield "the mix, n · d numbers with n multiplications each", n * d * n
    yield "scores and mix together", 2 * n * n * d


products = Check(
    reference=_count_products,
    cases=lambda: [(3, 2), (7, 5), (101, 64)],
    drawn=_random_sizes,
    results=("the cost of the projections", "the cost of the two products"),
    working=_work_out_products,
    verified="four projections of n·d² each, and two products of n²·d",
    mistakes=[
        Mistake(
            lambda n, d: (8 * n * d * d, 4 * n * n * d),
            "this counts multiplications and additions together. Count only the multiplications.",
        ),
        Mistake(
            lambda n, d: (3 * n * d * d, 2 * n * n * d),
            "you counted three projections, but there are four: W_Q, W_K, W_V, and W_O after the "
            "heads.",
        ),
        Mistake(
            lambda n, d: (4 * n * d * d, n * n * d),
            "you counted only one of the two products. Queries times keys give the scores, and "
            "then weights times values give the mix.",
        ),
        Mistake(
            lambda n, d: (2 * n * n * d, 4 * n * d * d),
            "you swapped the two numbers. The projections should come first.",
        ),
        Mistake(
            lambda n, d: (4 * d * d, 2 * n * n * d),
            "4 d² is the number of parameters in the projections. Each of the n vectors is "
            "multiplied by all of them, so there should be a factor of n.",
        ),
        Mistake(
            lambda n, d: (4 * n * d * d, 2 * n * n),
            "you counted only the n² pairs of query and key. Each pair takes d multiplications in "
            "each of the two products.",
        ),
        Mistake(
            lambda n, d: (4 * n * n * d, 2 * n * n * d),
            "a projection multiplies each vector by a d × d matrix, so it takes n·d² "
            "multiplications, not n²·d.",
        ),
    ],
)


# ---------------------------------------------------------------- an exponent


def _fit_slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def _fit_exponent(n: np.ndarray, seconds: np.ndarray) -> float:
    x, y = np.log(n), np.log(seconds)
    return ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()


def _make_power_law(n: list[int], power: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array(n, dtype=float)
    return lengths, 3e-6 * lengths**power * np.exp(0.3 * random_array(len(n), seed=seed))


def _random_times(chance: RandomValues) -> tuple:
    lengths = [2 + n for n in chance.different(chance.between(3, 12), 4000)]
    power = chance.real(0.5, 2.5) * chance.one_of(-1, 1)
    return _make_power_law(lengths, power, seed=chance.between(5, 999))


def _work_out_exponent(n: np.ndarray, seconds: np.ndarray, at: tuple) -> Iterator[Step]:
    x, y = np.log(n), np.log(seconds)
    dx, dy = x - x.mean(), y - y.mean()
    yield "log n", x
    yield "log seconds", y
    yield "log n minus the mean of log n", dx
    yield "log seconds minus the mean of log seconds", dy
    sums = [dx @ dy, dx @ dx]
    yield "the sum of the products of these two, and the sum of the squares of the first", sums
    yield "the first sum divided by the second, which is the slope", dx @ dy / (dx @ dx)


exponent = Check(
    reference=_fit_exponent,
    cases=lambda: [
        (np.array([2.0, 4.0, 16.0]), np.array([3.0, 6.0, 48.0])),
        _make_power_law([64, 128, 256, 512, 1024], 2.0, seed=2),
        _make_power_law([2003, 11, 101, 4001, 5, 1009, 211], 1.4, seed=3),
        _make_power_law([31, 7, 127, 17, 67], -0.6, seed=4),  # it need not grow
    ],
    drawn=_random_times,
    arguments=("n", "seconds"),
    results=("the exponent",),
    working=_work_out_exponent,
    verified="the slope of log seconds over log n, by least squares",
    mistakes=[
        Mistake(
            lambda n, seconds: _fit_slope(n, seconds),
            "you did not take logarithms, so this is a slope in seconds per token. A power law is "
            "a straight line only if both axes are logarithmic.",
        ),
        Mistake(
            lambda n, seconds: _fit_slope(n, np.log(seconds)),
            "you took the logarithm of the seconds only. With one logarithmic axis, a straight "
            "line would mean exponential growth. Take log n as well.",
        ),
        Mistake(
            lambda n, seconds: _fit_slope(np.log(seconds), np.log(n)),
            "you swapped the axes, so this is the slope of log n over log seconds.",
        ),
        Mistake(
            lambda n, seconds: float(np.log(seconds[-1] / seconds[0]) / np.log(n[-1] / n[0])),
            "this joins the first point to the last. The points between them should count too, so "
            "fit a least-squares line.",
        ),
        Mistake(
            lambda n, seconds: float(np.polyfit(np.log(n), np.log(seconds), 1)[1]),
            "this is the line's height at log n = 0. Return the slope, which polyfit gives first.",
        ),
        Mistake(
            lambda n, seconds: float((np.log(seconds) / np.log(n)).mean()),
            "this divides the logarithms point by point, so a constant factor in front of the "
            "power would change the result. Return the slope instead.",
        ),
        Mistake(
            lambda n, seconds: abs(_fit_slope(np.log(n), np.log(seconds))),
            "you dropped the sign of the slope. If a longer text takes fewer seconds, the "
            "exponent should be negative.",
        ),
        Mistake(
            lambda n, seconds: _fit_slope(np.log(np.sort(n)), np.log(seconds)),
            "you sorted n but not the seconds, so each n may be paired with the wrong time.",
        ),
    ],
)
