"""Checks for the exercises of lesson 15: partial softmaxes, linear attention and cache size."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- two parts of a softmax

Part = tuple[np.ndarray, np.ndarray, np.ndarray]


def _make_part(
    rows: int, keys: int, width: int, seed: int, above: float | np.ndarray = 0.0
) -> Part:
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
    total = a * total_a + b * total_b
    mixed = a[:, None] * mixed_a + b[:, None] * mixed_b
    return new, total, mixed


_edit_merge = partial(edit_reference, _merge)


_FAR = np.array([[900.0], [0.0], [-900.0]])


def _random_parts(chance: RandomValues) -> tuple:
    rows, one, other, width = chance.sizes(4)
    above, seed = chance.real(-900, 900), chance.between(9, 999)
    # How far part b's scores lie above or below part a's, row by row.
    farther = chance.one_of(0.0, 900.0) * chance.numbers(rows, 1)
    parts = (
        _make_part(rows, n, width, seed + n, above + more)
        for n, more in ((one, 0.0), (other, farther))
    )
    return tuple(x for part in parts for x in part)


def _work_out_merge(
    largest_a: np.ndarray,
    total_a: np.ndarray,
    mixed_a: np.ndarray,
    largest_b: np.ndarray,
    total_b: np.ndarray,
    mixed_b: np.ndarray,
    at: tuple,
) -> Iterator[Step]:
    row = at[0]
    largest, total = (
        np.array([one[row], other[row]])
        for one, other in ((largest_a, largest_b), (total_a, total_b))
    )
    mixed, scale = np.array([mixed_a[row], mixed_b[row]]), np.exp(largest - largest.max())
    yield f"the largest score of part a and that of part b, in row {row}", largest
    yield "the larger of the two", largest.max()
    yield "each part's largest score minus that one", largest - largest.max()
    yield "e to the power of these, the factors of the two parts", scale
    yield "the sum of total_a and total_b, each times its factor", scale @ total
    yield f"the sum of row {row} of mixed_a and of mixed_b, each times its factor", scale @ mixed


merge = Check(
    reference=_merge,
    cases=lambda: [
        tuple(map(np.array, ([3.0], [1.5], [[2.0, 0.0, 4.0]], [1.0], [2.0], [[1.0, 3.0, -2.0]]))),
        (*_make_part(5, 7, 2, seed=3), *_make_part(5, 3, 2, seed=4)),
        (*_make_part(11, 3, 5, seed=5), *_make_part(11, 13, 5, seed=6)),
        # Only differences of scores may be put into an exponential, because exp(900) overflows.
        (*_make_part(3, 5, 2, seed=7, above=900.0), *_make_part(3, 2, 2, seed=8, above=900.0)),
        # Some differences overflow, too: one row of the first part is far above the second, another
        # far below.
        (*_make_part(3, 2, 5, seed=9, above=_FAR), *_make_part(3, 7, 5, seed=10)),
    ],
    drawn=_random_parts,
    results=("the largest score", "the total", "the mix"),
    working=_work_out_merge,
    verified="both parts are scaled to the new largest score, total and mix alike",
    mistakes=[
        Mistake(
            _edit_merge(
                ("np.exp(largest_a - new)", "np.ones_like(new)"),
                ("np.exp(largest_b - new)", "np.ones_like(new)"),
            ),
            "you did not scale the parts. In its exponentials, each part has subtracted its own "
            "largest score, so scale both parts to the larger of the two.",
        ),
        Mistake(
            _edit_merge(("np.maximum(largest_a, largest_b)", "largest_b")),
            "this uses the second part's largest score as the new one. If the first part has a "
            "larger one, the exponential can overflow. Use the larger of the two.",
        ),
        Mistake(
            _edit_merge(("np.exp(largest_b - new)", "np.ones_like(new)")),
            "you scaled only the first part. If its largest score is the larger of the two, the "
            "second part should be scaled down.",
        ),
        Mistake(
            _edit_merge(
                ("np.exp(largest_a - new)", "np.exp(new - largest_a)"),
                ("np.exp(largest_b - new)", "np.exp(new - largest_b)"),
            ),
            "the sign in the exponent is wrong. A larger maximum should make the old exponentials "
            "smaller.",
        ),
        Mistake(
            _edit_merge(
                ("np.exp(largest_b - new)", "np.exp(largest_b - largest_a)"),
                ("a * total_a + b * total_b", "a * (total_a + b * total_b)"),
                (
                    "a[:, None] * mixed_a + b[:, None] * mixed_b",
                    "a[:, None] * (mixed_a + b[:, None] * mixed_b)",
                ),
            ),
            "you scaled the second part twice, first to the first part's largest score. That "
            "factor overflows if the second part's largest score is far larger. Scale each part "
            "once, to the new largest score.",
        ),
        Mistake(
            _edit_merge(("a[:, None] * mixed_a + b[:, None] * mixed_b", "mixed_a + mixed_b")),
            "you scaled the totals but not the mixes. Both are sums of the same exponentials, so "
            "both should be scaled.",
        ),
        Mistake(
            _edit_merge(("new, total, mixed", "new, total, mixed / total[:, None]")),
            "you divided the mix by the total too early. Do that once, after the last part.",
        ),
        Mistake(
            _edit_merge(("return new", "return largest_a + largest_b")),
            "you added the two largest scores, but you should return the larger of the two.",
        ),
    ],
)


# ---------------------------------------------------------------- linear attention


def _linear_cases() -> list[tuple]:
    first = (
        np.array([[7.0, 2.0], [1.0, 6.0]]),
        np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 1.0]]),
        np.array([[1.0, -2.0, 3.0], [0.0, 4.0, 2.0], [5.0, -1.0, 6.0]]),
    )
    others = [
        (
            # Not too large, so that the exponentials of a softmax do not overflow.
            np.exp(random_array(queries, width, seed=n, scale=0.7)),
            np.exp(random_array(keys, width, seed=n + 10, scale=0.7)),
            random_array(keys, d_v, seed=n + 20),
        )
        for n, (queries, keys, width, d_v) in enumerate(((5, 7, 3, 2), (11, 3, 5, 7)), start=1)
    ]
    return [first, *others]


def _attend_linearly(q: np.ndarray, k: np.ndarray, value: np.ndarray) -> np.ndarray:
    return (q @ (k.T @ value)) / (q @ k.sum(axis=0))[:, None]


def _random_rows(chance: RandomValues) -> tuple:
    queries, keys, width, d_v = chance.sizes(4)
    q, k = (np.exp(chance.numbers(n, width, scale=0.7)) for n in (queries, keys))
    return q, k, chance.numbers(keys, d_v)


def _work_out_linear_mix(
    q: np.ndarray, k: np.ndarray, value: np.ndarray, at: tuple
) -> Iterator[Step]:
    row, column = at
    keys, summary = k.sum(axis=0), k.T @ value[:, column]
    yield "the sum of all keys", keys
    yield f"the sum of all keys, each multiplied by entry {column} of its value", summary
    yield f"the product of row {row} of q with the second sum", q[row] @ summary
    yield (
        f"the product of row {row} of q with the first sum, the total of its weights",
        q[row] @ keys,
    )
    yield "the first product divided by the second", q[row] @ summary / (q[row] @ keys)


linear_mix = Check(
    reference=_attend_linearly,
    cases=_linear_cases,
    drawn=_random_rows,
    arguments=("q", "k", "value"),
    results=("the output",),
    working=_work_out_linear_mix,
    verified="weights q·k divided by their sum over the keys",
    mistakes=[
        Mistake(
            lambda q, k, value: q @ (k.T @ value),
            "the weights do not sum to 1. Divide each row by its sum of q·k over all keys.",
        ),
        Mistake(
            lambda q, k, value: q @ (k.T @ value) / len(k),
            "this divides by the number of keys. To make the weights in a row sum to 1, divide by "
            "that row's sum of q·k.",
        ),
        Mistake(
            lambda q, k, value: (
                (e := np.exp(q @ k.T - (q @ k.T).max(1, keepdims=True)))
                @ value
                / e.sum(1, keepdims=True)
            ),
            "this is the softmax. Here each weight should be q·k, without the exponential, divided "
            "by the sum of q·k over the keys.",
        ),
        Mistake(
            lambda q, k, value: (q @ (k.T @ value)) / (q @ (k.T @ value)).sum(1, keepdims=True),
            "this makes the outputs sum to 1, but the weights should sum to 1 instead.",
        ),
        Mistake(
            lambda q, k, value: q @ (k.T @ value / k.sum(axis=0)[:, None]),
            "you divided each feature by its own sum over the keys. Divide each row by a single "
            "number instead, its entry in `q @ k.sum(axis=0)`.",
        ),
        Mistake(
            lambda q, k, value: (q @ k.T / (q @ k.T).sum(axis=0)) @ value,
            "your columns sum to 1, because your sum runs over the queries. It should run over "
            "the keys.",
        ),
    ],
)


# ---------------------------------------------------------------- the cache


def _random_sizes(chance: RandomValues) -> tuple:
    return *chance.sizes(4), chance.between(1, 3000), chance.one_of(1, 2, 4, 8)


def _count_bytes(layers: int, heads: int, d_k: int, d_v: int, words: int, each: int) -> int:
    return layers * heads * (d_k + d_v) * words * each


_edit_count = partial(edit_reference, _count_bytes)


def _work_out_bytes(
    layers: int, heads: int, d_k: int, d_v: int, words: int, each: int, at: tuple
) -> Iterator[Step]:
    yield "how many numbers one key and one value hold", d_k + d_v
    yield "times the number of heads, because a word has both in every head", heads * (d_k + d_v)
    yield "times the number of layers", layers * heads * (d_k + d_v)
    yield "times the number of words", layers * heads * (d_k + d_v) * words
    yield "times the bytes of each number", _count_bytes(layers, heads, d_k, d_v, words, each)


cache_bytes = Check(
    reference=_count_bytes,
    cases=lambda: [(1, 1, 2, 3, 5, 4), (2, 3, 5, 7, 11, 4), (6, 8, 64, 64, 1009, 2)],
    drawn=_random_sizes,
    results=("the number of bytes",),
    working=_work_out_bytes,
    verified="a key and a value for each word, head and layer",
    mistakes=[
        Mistake(
            _edit_count(("d_k + d_v", "2 * d_k + d_v")),
            "this counts queries, too. But a past word's query is never needed again, so the cache "
            "does not store it.",
        ),
        Mistake(
            _edit_count(("(d_k + d_v)", "d_k")),
            "you counted only the keys, but the cache stores the values as well.",
        ),
        Mistake(
            _edit_count((" * each", "")),
            "this counts numbers, but the answer should be in bytes. Multiply your result by "
            "`each`, the size of one number in bytes.",
        ),
        Mistake(
            _edit_count(("(d_k + d_v)", "words")),
            "this is the size of the n × n matrix of weights, which is never stored. Decoding "
            "needs only one row of it at a time.",
        ),
        Mistake(
            _edit_count((" * heads", "")),
            "this counts a single head, but every head keeps its own keys and values.",
        ),
        Mistake(
            _edit_count(("layers * ", "")),
            "this counts a single layer, but every layer keeps its own keys and values.",
        ),
        Mistake(
            _edit_count(("(d_k + d_v)", "2 * d_k")),
            "you used d_k for the values, but their width is d_v, which may be different.",
        ),
    ],
)
