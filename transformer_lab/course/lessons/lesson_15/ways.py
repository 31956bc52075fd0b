"""Checks of the exercises of lesson 15: two parts of a softmax, linear attention, and the cache."""

import tracemalloc
from collections.abc import Callable

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- two parts of a softmax

Part = tuple[np.ndarray, np.ndarray, np.ndarray]


def _part(rows: int, keys: int, width: int, seed: int, above: float = 0.0) -> Part:
    scores = random_array(rows, keys, seed=seed, scale=2.0) + above
    values = random_array(keys, width, seed=seed + 50)
    largest = scores.max(axis=1)
    weights = np.exp(scores - largest[:, None])
    return largest, weights.sum(axis=1), weights @ values


def _merge(
    largest_a: np.ndarray,
    total_a: np.ndarray,
    mixed_a: np.ndarray,
    largest_b: np.ndarray,
    total_b: np.ndarray,
    mixed_b: np.ndarray,
) -> Part:
    new = np.maximum(largest_a, largest_b)
    a, b = np.exp(largest_a - new), np.exp(largest_b - new)
    return new, a * total_a + b * total_b, a[:, None] * mixed_a + b[:, None] * mixed_b


def _random_parts(chance: RandomValues) -> tuple:
    rows, one, other, width = chance.sizes(4)
    above, seed = chance.real(-900, 900), chance.between(9, 999)
    parts = (_part(rows, n, width, seed + n, above) for n in (one, other))
    return tuple(x for part in parts for x in part)


merge = Check(
    reference=_merge,
    cases=lambda: [
        (*_part(1, 2, 3, seed=1), *_part(1, 3, 3, seed=2)),
        (*_part(5, 7, 2, seed=3), *_part(5, 3, 2, seed=4)),
        (*_part(11, 3, 5, seed=5), *_part(11, 13, 5, seed=6)),
        # Only differences of scores may stand in an exponential: exp(900) is no number.
        (*_part(3, 5, 2, seed=7, above=900.0), *_part(3, 2, 2, seed=8, above=900.0)),
    ],
    drawn=_random_parts,
    results=("the largest", "the total", "the mix"),
    verified="both parts are scaled to the new largest score, total and mix alike",
    mistakes=[
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (np.maximum(la, lb), ta + tb, ma + mb),
            "nothing is scaled: the two totals subtract different scores inside their exponentials.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (
                lb,
                np.exp(la - lb) * ta + tb,
                np.exp(la - lb)[:, None] * ma + mb,
            ),
            "the second part's largest is taken for the new one. Where the first has a larger "
            "score this is right as a number and overflows one day: take the larger of the two.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (
                np.maximum(la, lb),
                np.exp(la - np.maximum(la, lb)) * ta + tb,
                np.exp(la - np.maximum(la, lb))[:, None] * ma + mb,
            ),
            "only the first part is scaled; where its score is the larger one, the second must "
            "shrink.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (
                np.maximum(la, lb),
                np.exp(np.maximum(la, lb) - la) * ta + np.exp(np.maximum(la, lb) - lb) * tb,
                np.exp(np.maximum(la, lb) - la)[:, None] * ma
                + np.exp(np.maximum(la, lb) - lb)[:, None] * mb,
            ),
            "the sign in the exponent is turned: a larger maximum makes old exponentials smaller.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (*_merge(la, ta, ma, lb, tb, mb)[:2], ma + mb),
            "the totals are scaled and the mixes are not; both are sums of the same exponentials.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (
                *_merge(la, ta, ma, lb, tb, mb)[:2],
                _merge(la, ta, ma, lb, tb, mb)[2] / _merge(la, ta, ma, lb, tb, mb)[1][:, None],
            ),
            "the mix is divided by the total already. That is done once, after the last part.",
        ),
        Mistake(
            lambda la, ta, ma, lb, tb, mb: (la + lb, *_merge(la, ta, ma, lb, tb, mb)[1:]),
            "the largest of two is their maximum, not their sum.",
        ),
    ],
)


# ---------------------------------------------------------------- linear attention


_LONG = 701
"""Queries and keys of the case in which memory is looked at."""


def _linear_cases() -> list[tuple]:
    shapes = ((2, 3, 2, 3), (5, 7, 3, 2), (11, 3, 5, 7), (_LONG, _LONG, 3, 2))
    return [
        (
            # Not too large, so that the exponentials of a softmax do not overflow.
            np.exp(random_array(queries, width, seed=n, scale=0.7)),
            np.exp(random_array(keys, width, seed=n + 10, scale=0.7)),
            random_array(keys, d_v, seed=n + 20),
        )
        for n, (queries, keys, width, d_v) in enumerate(shapes)
    ]


def _linear_mix(q: np.ndarray, k: np.ndarray, value: np.ndarray) -> np.ndarray:
    return (q @ (k.T @ value)) / (q @ k.sum(axis=0))[:, None]


def _with_its_room(answer: Callable, q: np.ndarray, k: np.ndarray, value: np.ndarray) -> tuple:
    """The output, and whether it was right without building a matrix queries × keys."""
    tracemalloc.start()
    try:
        output = answer(q, k, value)
        room = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    wanted = _linear_mix(q, k, value)
    is_right = np.shape(output) == wanted.shape and np.allclose(output, wanted)
    return output, not (is_right and len(q) >= _LONG and room >= 4 * len(q) * len(k))


def _random_rows(chance: RandomValues) -> tuple:
    queries, keys, width, d_v = chance.sizes(4)
    q, k = (np.exp(chance.numbers(n, width, scale=0.7)) for n in (queries, keys))
    return q, k, chance.numbers(keys, d_v)


linear_mix = Check(
    run=_with_its_room,
    reference=_linear_mix,
    cases=_linear_cases,
    drawn=_random_rows,
    arguments=("q", "k", "value"),
    results=("the output", "whether no matrix of queries × keys is held"),
    verified="weights q·k divided by their sum over the keys, and no matrix of queries × keys",
    mistakes=[
        Mistake(
            lambda q, k, value: q @ (k.T @ value),
            "the weights do not sum to 1: divide each row by the sum of q·k over all keys.",
        ),
        Mistake(
            lambda q, k, value: q @ (k.T @ value) / len(k),
            "this divides by the number of keys; each row's own sum of q·k is what makes its "
            "weights sum to 1.",
        ),
        Mistake(
            lambda q, k, value: (
                (e := np.exp(q @ k.T - (q @ k.T).max(1, keepdims=True)))
                @ value
                / e.sum(1, keepdims=True)
            ),
            "this is the softmax, and it needs every score. Here the weight is q·k itself.",
        ),
        Mistake(
            lambda q, k, value: (q @ (k.T @ value)) / (q @ (k.T @ value)).sum(1, keepdims=True),
            "this makes the outputs sum to 1; the weights should.",
        ),
        Mistake(
            lambda q, k, value: q @ (k.T @ value / k.sum(axis=0)[:, None]),
            "each feature is divided by its own sum over the keys; the sum belongs to the row, "
            "with its q: q @ k.sum(axis=0).",
        ),
        Mistake(
            lambda q, k, value: (q @ k.T / (q @ k.T).sum(axis=0)) @ value,
            "the columns sum to 1: the sum runs over the queries. It runs over the keys.",
        ),
    ],
)


# ---------------------------------------------------------------- the cache


def _random_sizes(chance: RandomValues) -> tuple:
    return *chance.sizes(4), chance.between(1, 3000), chance.one_of(1, 2, 4, 8)


cache_bytes = Check(
    reference=lambda layers, heads, d_k, d_v, words, each: (
        layers * heads * (d_k + d_v) * words * each
    ),
    cases=lambda: [(1, 1, 2, 3, 5, 4), (2, 3, 5, 7, 11, 4), (6, 8, 64, 64, 1009, 2)],
    drawn=_random_sizes,
    arguments=("layers", "heads", "d_k", "d_v", "words", "each"),
    results=("the bytes",),
    verified="a key and a value for each word, head and layer",
    mistakes=[
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: (
                layers * heads * (2 * d_k + d_v) * words * each
            ),
            "queries are counted too. A past word's query is used by nobody: it is not kept.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: layers * heads * d_k * words * each,
            "keys alone do not give an output: the values are kept as well.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: layers * heads * (d_k + d_v) * words,
            "these are numbers; each has `each` bytes.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: layers * heads * words * words * each,
            "this is the n × n matrix, which is never kept: of it, decoding needs one row at a "
            "time.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: layers * (d_k + d_v) * words * each,
            "every head has keys and values of its own.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: heads * (d_k + d_v) * words * each,
            "every layer has keys and values of its own.",
        ),
        Mistake(
            lambda layers, heads, d_k, d_v, words, each: layers * heads * 2 * d_k * words * each,
            "values have a width of their own, d_v; it need not be d_k.",
        ),
    ],
)
