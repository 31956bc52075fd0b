"""Checks for the exercises of lesson 18: the best fixed offset, and the uncertainty of a mean."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- the best fixed offset


def _link_cases() -> list[tuple]:
    # The usual step makes up two in five. All others but one lie on one side of it, so neither the
    # mean, the median, the smallest nor the largest step finds it. One position is a governor more
    # often than any other. The links are in random order, so neither the first nor the last can
    # represent them all.
    cases = [(np.array([[2, 6], [0, 1], [6, 9], [3, 4], [5, 9], [8, 9], [1, 7]]),)]
    for seed, (count, usual, side) in enumerate(
        ((13, 1, 1), (31, -2, 1), (47, 3, -1), (53, -7, 1)), start=1
    ):
        rng = np.random.default_rng(seed)
        others = usual + side * rng.integers(1, 6, count)
        others[2] = usual - 3 * side
        steps = np.where(np.arange(count) % 5 < 2, usual, others)
        dependent = 30 * seed + rng.integers(9, 29, count)
        dependent[: count // 3] = 30 * seed + 30 - steps[: count // 3]
        cases.append((rng.permutation(np.stack([dependent, dependent + steps], axis=1)),))
    return cases


def _find_most_frequent(values: np.ndarray) -> tuple[int, float]:
    value, times = Counter(values.tolist()).most_common(1)[0]
    return value, times / len(values)


def _compute_steps(links: np.ndarray) -> np.ndarray:
    return links[:, 1] - links[:, 0]


def _compute_share(links: np.ndarray, offset: int) -> tuple[int, float]:
    return offset, float((_compute_steps(links) == offset).mean())


def _random_links(chance: RandomValues) -> tuple:
    count, usual = chance.between(20, 60), chance.between(-7, 7)
    others = usual + chance.one_of(1, -1) * chance.random.integers(1, 6, count)
    steps = np.where(np.arange(count) % 5 < 3, usual, others)
    dependent = chance.random.integers(12, 40, count)
    dependent[: count // 2] = 50 - steps[: count // 2]  # one governor more often than any other
    return (chance.random.permutation(np.stack([dependent, dependent + steps], axis=1)),)


def _work_out_offset(links: np.ndarray, at: tuple) -> Iterator[Step]:
    steps = _compute_steps(links)
    offset, share = _find_most_frequent(steps)
    yield "each link's step, the second number minus the first", steps
    yield "the step that turns up most often, which is the offset", offset
    yield "how often it turns up", (steps == offset).sum()
    yield f"divided by the number of links, {len(links)}, which is the share", share


best_offset = Check(
    reference=lambda links: _find_most_frequent(_compute_steps(links)),
    cases=_link_cases,
    drawn=_random_links,
    results=("the offset", "the share"),
    working=_work_out_offset,
    verified="the step that leads to the right word most often, and how often that is",
    mistakes=[
        Mistake(
            lambda links: _find_most_frequent(-_compute_steps(links)),
            "the offset has the wrong sign: it should lead from the dependent to its governor.",
        ),
        Mistake(
            lambda links: _find_most_frequent(abs(_compute_steps(links))),
            "you counted steps to the left and to the right together, but a head looks in only "
            "one direction.",
        ),
        Mistake(
            lambda links: _compute_share(links, round(_compute_steps(links).mean())),
            "this is the mean step, in which a step of −2 and a step of 2 cancel. Use the most "
            "frequent step.",
        ),
        Mistake(
            lambda links: (
                _find_most_frequent(_compute_steps(links))[0],
                round(_find_most_frequent(_compute_steps(links))[1] * len(links)),
            ),
            "the second number is a count, but it should be a share of all links.",
        ),
        Mistake(
            lambda links: _find_most_frequent(_compute_steps(links))[::-1],
            "you swapped the two results: the offset should come first, and then its share.",
        ),
        Mistake(
            lambda links: _find_most_frequent(links[:, 1]),
            "this is the most frequent *position* of a governor, but you should return the most "
            "frequent step from a dependent to its governor.",
        ),
        Mistake(
            lambda links: _compute_share(links, int(_compute_steps(links)[0])),
            "this is the step of the first link. Find the step that occurs most often.",
        ),
        Mistake(
            lambda links: _compute_share(links, int(np.median(_compute_steps(links)))),
            "this is the median step, but you should use the most frequent step, which is right "
            "most often.",
        ),
        Mistake(
            lambda links: (
                _find_most_frequent(_compute_steps(links))[0],
                1 / len(set(_compute_steps(links).tolist())),
            ),
            "your share is 1 divided by the number of different steps. Divide the number of links "
            "with the most frequent step by the number of all links.",
        ),
    ],
)

# ---------------------------------------------------------------- how sure is a mean?


def _random_cases() -> list[tuple]:
    draws = [[0, 0, 1], [2, 1, 2], [0, 1, 2], [1, 1, 0], [0, 2, 0]]
    cases = [(np.array([3.0, 6.0, 15.0]), np.array(draws))]
    for seed, (count, rounds) in enumerate(((13, 101), (149, 211)), start=1):
        rng = np.random.default_rng(seed)
        values = rng.exponential(size=count)
        cases.append((values, rng.integers(0, count, (rounds, count))))
    return cases


def _find_interval(
    numbers: np.ndarray, low: float = 2.5, high: float = 97.5
) -> tuple[float, float]:
    return float(np.percentile(numbers, low)), float(np.percentile(numbers, high))


def _bootstrap(values: np.ndarray, draws: np.ndarray) -> tuple[float, float]:
    means = values[draws].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return low, high


def _surround(mean: float, wide: float) -> tuple[float, float]:
    return mean - 1.96 * wide, mean + 1.96 * wide


def _unpack_ends(answer: Callable[..., Any], *arguments: np.ndarray) -> Any:
    """Call the answer and return its interval; an array of two numbers becomes a tuple."""
    found = answer(*arguments)
    is_pair = isinstance(found, np.ndarray | torch.Tensor) and found.shape == (2,)
    return tuple(found) if is_pair else found


def _random_values(chance: RandomValues) -> tuple:
    count, rounds = chance.between(3, 40), chance.between(50, 250)
    values = chance.numbers(count) ** 2 + chance.real(-1, 1)
    return values, chance.random.integers(0, count, (rounds, count))


def _work_out_interval(values: np.ndarray, draws: np.ndarray, at: tuple) -> Iterator[Step]:
    means = values[draws].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    yield "the values that the first round draws", values[draws[0]]
    yield "their mean", means[0]
    yield "the means of all rounds, sorted", np.sort(means)
    yield "their 2.5th percentile, the lower end", low
    yield "their 97.5th percentile, the upper end", high


interval = Check(
    run=_unpack_ends,
    reference=_bootstrap,
    cases=_random_cases,
    drawn=_random_values,
    results=("the lower end", "the upper end"),
    working=_work_out_interval,
    verified="95% of the means of the redrawn samples lie between these ends",
    mistakes=[
        Mistake(
            lambda values, draws: _find_interval(values),
            "these are percentiles of the *values*, which show how the values scatter, not how "
            "certain their mean is.",
        ),
        Mistake(
            lambda values, draws: _find_interval(values[draws]),
            "you pooled all drawn values. Take the mean of each round first.",
        ),
        Mistake(
            lambda values, draws: _find_interval(values[draws].mean(axis=1), 5, 95),
            "the 5th and 95th percentiles leave 90% between them. For 95%, use 2.5 and 97.5.",
        ),
        Mistake(
            lambda values, draws: _find_interval(values[draws].mean(axis=1), 0.025, 0.975),
            "you used 0.025 and 0.975, but percentiles go from 0 to 100. Use 2.5 and 97.5 instead.",
        ),
        Mistake(
            lambda values, draws: _find_interval(values[draws].mean(axis=0)),
            "you took the mean over the rounds, but you should take it over the values in each "
            "round.",
        ),
        Mistake(
            lambda values, draws: _surround(values.mean(), values.std()),
            "this is the mean ± 1.96 standard deviations of the values, an interval that does not "
            "shrink with more values. Use the percentiles of the bootstrap means.",
        ),
        Mistake(
            lambda values, draws: _surround(values.mean(), values.std() / np.sqrt(len(values))),
            "this is the mean ± 1.96 standard errors, as if the means followed a bell curve. Use "
            "the percentiles of the bootstrap means.",
        ),
        Mistake(
            lambda values, draws: _surround(
                values[draws].mean(axis=1).mean(), values[draws].mean(axis=1).std()
            ),
            "this is the mean ± 1.96 standard deviations of the bootstrap means, as if they followed "
            "a bell curve. Use their percentiles.",
        ),
        Mistake(
            lambda values, draws: tuple(
                2 * values.mean() - np.percentile(values[draws].mean(axis=1), (97.5, 2.5))
            ),
            "you mirrored the interval about the mean, which is another kind of bootstrap. Return "
            "the percentiles themselves.",
        ),
        Mistake(
            lambda values, draws: tuple(
                np.percentile(values[draws].mean(axis=1), (2.5, 97.5)) - values.mean()
            ),
            "this says how far the ends are from the mean. Return the ends themselves.",
        ),
        Mistake(
            lambda values, draws: _find_interval(values[draws].std(axis=1)),
            "these are percentiles of the rounds' standard deviations, but they should be "
            "percentiles of the rounds' means.",
        ),
        Mistake(
            lambda values, draws: (
                float(values[draws].mean(axis=1).min()),
                float(values[draws].mean(axis=1).max()),
            ),
            "these are the smallest and largest means, which move apart with more rounds. Use the "
            "percentiles instead.",
        ),
        Mistake(
            lambda values, draws: _find_interval(np.median(values[draws], axis=1)),
            "these are percentiles of the rounds' medians, but they should be percentiles of the "
            "rounds' means.",
        ),
    ],
)
