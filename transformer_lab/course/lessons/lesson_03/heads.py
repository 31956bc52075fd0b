"""Checks of the exercises of lesson 03: splitting and merging heads, and all of it in NumPy."""

from typing import Any

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

SHAPES = [(1, 2, 3, 2), (2, 3, 2, 5), (2, 5, 3, 4), (3, 7, 5, 2)]
"""(batch, length, heads, width of a head): no two of a case alike but where the reader may start."""

# ---------------------------------------------------------------- splitting and merging


def _split_cases() -> list[tuple]:
    return [(random_array(b, n, h * d), h) for b, n, h, d in SHAPES]


def _cut(x: np.ndarray, h: int) -> np.ndarray:
    return x.reshape(*x.shape[:2], h, -1)  # (batch, length, heads, d)


def _random_split(chance: RandomValues) -> tuple:
    batch, length, heads, d = chance.sizes(4)
    return chance.numbers(batch, length, heads * d), heads


split_heads = Check(
    reference=reference.split_heads,
    cases=_split_cases,
    drawn=_random_split,
    results=("the heads",),
    verified="head i has columns i·d to (i+1)·d of every position, for several sizes",
    mistakes=[
        Mistake(
            lambda x, h: x.reshape(len(x), h, x.shape[1], -1),
            "the shape is right, the numbers are not: reshaping straight to (batch, heads, length, "
            "d) mixes positions. Cut the last dimension first, then swap axes.",
        ),
        Mistake(
            _cut,
            "this is (batch, length, heads, d): swap the two middle axes, so that heads come "
            "before positions.",
        ),
        Mistake(
            lambda x, h: x.reshape(*x.shape[:2], -1, h).transpose(0, 3, 1, 2),
            "each head got every h-th column. A head is a block of neighbouring columns: cut into "
            "(heads, d), not (d, heads).",
        ),
        Mistake(
            lambda x, h: _cut(x, h).transpose(2, 0, 1, 3),
            "heads stand before the batch; expected (batch, heads, length, d).",
        ),
        Mistake(
            lambda x, h: _cut(x, h).transpose(0, 2, 3, 1),
            "the last two axes are swapped: this is Kᵀ already; expected (batch, heads, length, d).",
        ),
    ],
)


def _merge_cases() -> list[tuple]:
    return [(random_array(b, h, n, d),) for b, n, h, d in SHAPES]


def _random_merge(chance: RandomValues) -> tuple:
    return (chance.numbers(*chance.sizes(4)),)


merge_heads = Check(
    reference=reference.merge_heads,
    cases=_merge_cases,
    drawn=_random_merge,
    results=("the concatenation",),
    verified="the inverse of split_heads, for several sizes",
    mistakes=[
        Mistake(
            lambda x: x.reshape(len(x), x.shape[2], -1),
            "the shape is right, the numbers are not: swap heads and positions before the reshape.",
        ),
        Mistake(
            lambda x: x.mean(axis=1),
            "the heads are averaged. They should stand side by side: h · d columns.",
        ),
        Mistake(
            lambda x: x.sum(axis=1),
            "the heads are added up. They should stand side by side: h · d columns.",
        ),
        Mistake(
            lambda x: x.transpose(0, 2, 3, 1).reshape(len(x), x.shape[2], -1),
            "the columns of the heads alternate. Keep each head's d columns together.",
        ),
        Mistake(
            lambda x: x.swapaxes(1, 2),
            "heads and d are still two axes: reshape the last two into one.",
        ),
    ],
)

# ---------------------------------------------------------------- all of it, in NumPy


def _multi_head_cases() -> list[tuple]:
    cases = []
    for n, (b, length, h, d) in enumerate(SHAPES):
        weights = (random_array(h * d, h * d, seed=10 * n + i, scale=0.5) for i in range(4))
        cases.append((random_array(b, length, h * d, seed=n), *weights, h))
    return cases


def _multi_head(x: np.ndarray, *rest: Any) -> np.ndarray:
    w_q, w_k, w_v, w_o, num_heads = rest
    q, k, v = (reference.split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    heads, _ = reference.scaled_dot_product_attention(q, k, v)
    return reference.merge_heads(heads) @ w_o


def _no_w_o(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    return _multi_head(x, *weights, np.eye(len(w_o)), h)


def _one_head(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, _ = rest
    return _multi_head(x, *weights, w_o, 1)


def _by_d_model(x: np.ndarray, w_q: np.ndarray, *rest: Any) -> np.ndarray:
    return _multi_head(x, w_q / np.sqrt(rest[-1]), *rest)


def _unscaled(x: np.ndarray, w_q: np.ndarray, *rest: Any) -> np.ndarray:
    return _multi_head(x, w_q * np.sqrt(x.shape[-1] / rest[-1]), *rest)


def _slices_of_the_input(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    d = x.shape[-1] // h
    inside = np.kron(np.eye(h), np.ones((d, d)))  # a head's columns see the same columns of x only
    return _multi_head(x, *(w * inside for w in weights), w_o, h)


def _view_alone(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    shape = (len(x), h, x.shape[1], -1)
    heads, _ = reference.scaled_dot_product_attention(*((x @ w).reshape(shape) for w in weights))
    return heads.reshape(x.shape) @ w_o


def _view_then_swap(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    shape = (len(x), h, x.shape[1], -1)
    heads, _ = reference.scaled_dot_product_attention(*((x @ w).reshape(shape) for w in weights))
    return reference.merge_heads(heads) @ w_o


def _heads_of_one_word(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    shape = (*x.shape[:2], h, -1)
    mixed, _ = reference.scaled_dot_product_attention(*((x @ w).reshape(shape) for w in weights))
    return mixed.reshape(x.shape) @ w_o


def _every_hth_column(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    order = np.arange(x.shape[-1]).reshape(-1, h).T.ravel()
    return _multi_head(x, *(w[:, order] for w in weights), w_o, h)


def _merged_by_reshape(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    q, k, v = (reference.split_heads(x @ w, h) for w in weights)
    return reference.scaled_dot_product_attention(q, k, v)[0].reshape(x.shape) @ w_o


def _averaged(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    q, k, v = (reference.split_heads(x @ w, h) for w in weights)
    mean = reference.scaled_dot_product_attention(q, k, v)[0].mean(axis=1)
    return np.concatenate([mean] * h, axis=-1) @ w_o


def _random_multi_head(chance: RandomValues) -> tuple:
    batch, length, heads, d = chance.sizes(4)
    width = heads * d
    weights = (chance.numbers(width, width, scale=0.3) for _ in range(4))
    return chance.numbers(batch, length, width), *weights, heads


multi_head = Check(
    reference=_multi_head,
    cases=_multi_head_cases,
    drawn=_random_multi_head,
    arguments=("x", "w_q", "w_k", "w_v", "w_o", "num_heads"),
    verified="Concat(head_1, …, head_h) W_O, for several sizes and batches",
    mistakes=[
        Mistake(_no_w_o, "the last projection W_O is missing."),
        Mistake(_one_head, "this is one wide head: the softmax must run for each head apart."),
        Mistake(
            _by_d_model, "the scores are divided by √d_model; a head is d_k = d_model / h wide."
        ),
        Mistake(_unscaled, "the scores are not divided by √d_k."),
        Mistake(
            _slices_of_the_input,
            "each head sees a slice of the input only. Project the whole of x first, then split.",
        ),
        Mistake(
            _view_alone,
            "it runs and it is wrong: reshape to (batch, heads, length, d) without the swap of axes "
            "mixes positions.",
        ),
        Mistake(
            _view_then_swap,
            "reshape alone mixes words: cut the last axis into heads first, then swap the middle axes.",
        ),
        Mistake(
            _heads_of_one_word,
            "the heads of one word attend to each other: swap heads and positions before the scores.",
        ),
        Mistake(
            _every_hth_column,
            "each head has every h-th column; a head is a block of neighbouring columns.",
        ),
        Mistake(
            _merged_by_reshape,
            "merging: swap heads and positions before the last two axes are joined.",
        ),
        Mistake(
            lambda x, *rest: _multi_head(x, *(w.T for w in rest[:-1]), rest[-1]),
            "the matrices are transposed: a projection is x @ w.",
        ),
        Mistake(_averaged, "the heads are averaged; concatenate them."),
    ],
)
