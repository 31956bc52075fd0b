"""Lesson 15, what attention costs: the checks of its exercises, and its quiz."""

import tracemalloc
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz

# ---------------------------------------------------------------- counting products


products = Check(
    reference=lambda n, d: (4 * n * d * d, 2 * n * n * d),
    cases=lambda: [(3, 2), (7, 5), (101, 64)],
    results=("the projections", "scores and mix"),
    verified="four projections of n·d² each, and two products of n²·d",
    mistakes=[
        Mistake(
            lambda n, d: (8 * n * d * d, 4 * n * n * d),
            "these are multiplications and additions together; count the multiplications alone.",
        ),
        Mistake(
            lambda n, d: (3 * n * d * d, 2 * n * n * d),
            "a projection is missing: W_Q, W_K, W_V, and W_O behind the heads.",
        ),
        Mistake(
            lambda n, d: (4 * n * d * d, n * n * d),
            "only one of the two is counted: queries times keys gives the scores, and weights "
            "times values the mix.",
        ),
        Mistake(
            lambda n, d: (2 * n * n * d, 4 * n * d * d),
            "the two numbers have changed places: the projections come first.",
        ),
        Mistake(
            lambda n, d: (4 * d * d, 2 * n * n * d),
            "4 d² are the projections' parameters. There are as many for every n; what grows is "
            "that each of the n vectors is multiplied by them.",
        ),
        Mistake(
            lambda n, d: (4 * n * d * d, 2 * n * n),
            "n² is the number of entries; each entry takes d multiplications, all heads together.",
        ),
        Mistake(
            lambda n, d: (4 * n * n * d, 2 * n * n * d),
            "a projection multiplies each vector by a d × d matrix: n·d², not n²·d.",
        ),
    ],
)

# ---------------------------------------------------------------- an exponent


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


def _power_law(n: list[int], power: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array(n, dtype=float)
    return lengths, 3e-6 * lengths**power * np.exp(0.3 * draw(len(n), seed=seed))


exponent = Check(
    reference=lambda n, seconds: _slope(np.log(n), np.log(seconds)),
    cases=lambda: [
        _power_law([2, 3, 7], 1.0, seed=1),
        _power_law([64, 128, 256, 512, 1024], 2.0, seed=2),
        _power_law([5, 11, 101, 211, 1009, 2003, 4001], 1.4, seed=3),
    ],
    arguments=("n", "seconds"),
    results=("the exponent",),
    verified="the slope of log seconds over log n, by least squares",
    mistakes=[
        Mistake(
            lambda n, seconds: _slope(n, seconds),
            "there is no logarithm: this is the slope in seconds for each token. A power law is "
            "a straight line only where both axes are logarithmic.",
        ),
        Mistake(
            lambda n, seconds: _slope(n, np.log(seconds)),
            "only the seconds are taken as logarithms; a straight line there would be an "
            "exponential law.",
        ),
        Mistake(
            lambda n, seconds: _slope(np.log(seconds), np.log(n)),
            "the axes have changed places: this is the slope of log n over log seconds.",
        ),
        Mistake(
            lambda n, seconds: float(np.log(seconds[-1] / seconds[0]) / np.log(n[-1] / n[0])),
            "this joins the first point to the last; the points between count too. Least squares.",
        ),
        Mistake(
            lambda n, seconds: float(np.polyfit(np.log(n), np.log(seconds), 1)[1]),
            "this is the line's height at log n = 0. polyfit gives the highest power first.",
        ),
        Mistake(
            lambda n, seconds: float((np.log(seconds) / np.log(n)).mean()),
            "this divides logarithms point by point: a constant factor in front of the power "
            "would change it. Take the slope.",
        ),
    ],
)

# ---------------------------------------------------------------- two parts of a softmax

Part = tuple[np.ndarray, np.ndarray, np.ndarray]


def _part(rows: int, keys: int, width: int, seed: int, above: float = 0.0) -> Part:
    scores = draw(rows, keys, seed=seed, scale=2.0) + above
    values = draw(keys, width, seed=seed + 50)
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


merge = Check(
    reference=_merge,
    cases=lambda: [
        (*_part(1, 2, 3, seed=1), *_part(1, 3, 3, seed=2)),
        (*_part(5, 7, 2, seed=3), *_part(5, 3, 2, seed=4)),
        (*_part(11, 3, 5, seed=5), *_part(11, 13, 5, seed=6)),
        # Only differences of scores may stand in an exponential: exp(900) is no number.
        (*_part(3, 5, 2, seed=7, above=900.0), *_part(3, 2, 2, seed=8, above=900.0)),
    ],
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
            np.exp(draw(queries, width, seed=n, scale=0.7)),
            np.exp(draw(keys, width, seed=n + 10, scale=0.7)),
            draw(keys, d_v, seed=n + 20),
        )
        for n, (queries, keys, width, d_v) in enumerate(shapes)
    ]


def _linear_mix(q: np.ndarray, k: np.ndarray, value: np.ndarray) -> np.ndarray:
    return (q @ (k.T @ value)) / (q @ k.sum(axis=0))[:, None]


def _with_its_room(answer: Callable, q: np.ndarray, k: np.ndarray, value: np.ndarray) -> tuple:
    """The output, and whether a right one was had without a matrix of queries × keys."""
    tracemalloc.start()
    try:
        output = answer(q, k, value)
        room = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    wanted = _linear_mix(q, k, value)
    is_right = np.shape(output) == wanted.shape and np.allclose(output, wanted)
    return output, not (is_right and len(q) >= _LONG and room >= 4 * len(q) * len(k))


linear_mix = Check(
    run=_with_its_room,
    reference=_linear_mix,
    cases=_linear_cases,
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


cache_bytes = Check(
    reference=lambda layers, heads, d_k, d_v, words, each: (
        layers * heads * (d_k + d_v) * words * each
    ),
    cases=lambda: [(1, 1, 2, 3, 5, 4), (2, 3, 5, 7, 11, 4), (6, 8, 64, 64, 1009, 2)],
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

check = SimpleNamespace(
    products=products,
    exponent=exponent,
    merge=merge,
    linear_mix=linear_mix,
    cache_bytes=cache_bytes,
)

quiz = Quiz(
    [
        Question(
            "A sequence becomes twice as long. How many more parameters has an attention layer?",
            (
                ("four times as many: it is O(n²)", "n² is time, and entries of the matrix."),
                ("none", "4 d² (and biases), whatever n is."),
                ("twice as many", "No parameter belongs to a place; positions are added before."),
            ),
            right=1,
        ),
        Question(
            "When does attention need n² memory?",
            (
                (
                    "always: every word asks every other",
                    "They all ask; yet chunks and the fused kernel compute the same output "
                    "without that memory.",
                ),
                (
                    "when the matrix is written down",
                    "It is a choice of how to compute, not of what.",
                ),
                (
                    "only in training, for the way back",
                    "The explicit way holds it in a forward pass too.",
                ),
            ),
            right=1,
        ),
        Question(
            "FlashAttention is fast because …",
            (
                ("it approximates small weights by 0", "It is exact up to rounding."),
                ("it needs fewer multiplications", "It has as many, and in training more."),
                (
                    "it keeps the matrix out of slow memory",
                    "Blocks live in the fast one, and an online softmax joins them.",
                ),
            ),
            right=2,
        ),
        Question(
            "Linear attention in a model trained with softmax attention gives …",
            (
                ("the same output, sooner", "Its weights are other ones: see the error."),
                ("another function of the same inputs", "A model has to be trained with it."),
                ("the same output, up to rounding", "The error here is of the output's own size."),
            ),
            right=1,
        ),
        Question(
            "What does a KV cache hold for a past word?",
            (
                ("its query, key and value", "Nobody asks a past word's query again."),
                ("its row of weights", "Weights belong to a query, and are used once."),
                ("its key and its value", "In each layer: 2 · layers · d_model numbers a word."),
            ),
            right=2,
        ),
        Question(
            "At n = 2 d an LSTM layer has as many multiplications as an attention layer. What holds "
            "it back when the batch is one sequence?",
            (
                (
                    "step t + 1 must wait for step t",
                    "n small products one after the other, against a few large ones.",
                ),
                (
                    "it has more parameters, so more to compute",
                    "It has more, 8 d² against 4 d²; the multiplications are equal.",
                ),
                (
                    "attention skips small weights and saves work",
                    "It computes every one of them, and is not slower for it.",
                ),
            ),
            right=0,
        ),
        Question(
            "The path from the first word to the last is one step in attention. Its gradient …",
            (
                (
                    "is the same for every length: it is one step",
                    "The weight on one word among n is about 1/n.",
                ),
                (
                    "falls about as 1/n before training",
                    "A short path, shared by n words. The LSTM's gradient falls exponentially.",
                ),
                ("is 0 before training", "Every word sees every word from the start."),
            ),
            right=1,
        ),
    ]
)
