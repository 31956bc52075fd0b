"""Checks for the exercise of lesson 16 on query heads that share keys."""

from collections.abc import Iterator

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _share_cases() -> list[tuple]:
    shapes = (((3, 7, 5), 6), ((1, 5, 3), 7), ((5, 1, 11), 15))
    others = [(random_array(*shape, seed=n), h) for n, (shape, h) in enumerate(shapes, start=1)]
    first = np.array(
        [[[1.0, 4.0], [2.0, -3.0], [0.0, 5.0]], [[6.0, -1.0], [3.0, 7.0], [-2.0, 8.0]]]
    )
    return [(first, 4), *others]


def _random_keys(chance: RandomValues) -> tuple:
    heads, length, d_k, times = chance.sizes(4)
    return chance.numbers(heads, length, d_k), heads * times


def _work_out_sharing(key: np.ndarray, num_heads: int, at: tuple) -> Iterator[Step]:
    head, word = at[0], at[1]
    group = num_heads // len(key)
    yield f"how many query heads share a key head, {num_heads} divided by {len(key)}", group
    yield (
        f"the key head of query head {head}, {head} divided by {group}, rounded down",
        head // group,
    )
    yield f"the key of that key head for word {word}", key[head // group, word]


shared_keys = Check(
    reference=lambda key, num_heads: np.repeat(key, num_heads // len(key), axis=0),
    cases=_share_cases,
    drawn=_random_keys,
    arguments=("key", "num_heads"),
    results=("the keys",),
    working=_work_out_sharing,
    verified="neighbouring query heads read the same keys",
    mistakes=[
        Mistake(
            lambda key, num_heads: np.tile(key, (num_heads // len(key), 1, 1)),
            "your key heads alternate, as in 0, 1, 0, 1. Neighbours form a group, so the order "
            "should be 0, 0, 1, 1.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key, num_heads // len(key), axis=1),
            "you repeated each *word*, but you should repeat the key heads, which are axis 0.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key[:1], num_heads, axis=0),
            "all heads read the first head's keys, as in multi-query attention. Each group should "
            "have its own key head.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key.mean(axis=0, keepdims=True), num_heads, axis=0),
            "you averaged the key heads, but each should stay as it is and serve its own group.",
        ),
        Mistake(
            lambda key, num_heads: np.concatenate(
                [key, np.zeros((num_heads - len(key), *key.shape[1:]))]
            ),
            "the last query heads get zeros instead of keys. Repeat each key head for every query "
            "head in its group.",
        ),
        Mistake(
            lambda key, num_heads: (
                np.repeat(key, num_heads // len(key), axis=0) / (num_heads // len(key))
            ),
            "you divided the keys by the size of the group, which would flatten the softmax.",
        ),
        Mistake(
            lambda key, num_heads: np.repeat(key, num_heads, axis=0),
            "you repeated each key head `num_heads` times, but it should occur `num_heads // "
            "len(key)` times, once for each query head in its group.",
        ),
    ],
)
