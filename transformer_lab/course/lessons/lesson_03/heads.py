"""Checks for the exercises of lesson 03: splitting and merging heads, and multi-head attention."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

SHAPES = [(1, 2, 3, 2), (2, 3, 2, 5), (2, 5, 3, 4), (3, 7, 5, 2)]
"""Shapes (batch, length, heads, width of a head); in the last two, all four numbers differ."""

# ---------------------------------------------------------------- splitting and merging


def _count_up(*shape: int) -> np.ndarray:
    """Return an array that counts up from 1, so each number shows where it came from."""
    return np.arange(1.0, 1 + np.prod(shape)).reshape(shape)


def _split_cases() -> list[tuple]:
    b, n, h, d = SHAPES[0]
    drawn = [(random_array(b, n, h * d), h) for b, n, h, d in SHAPES[1:]]
    return [(_count_up(b, n, h * d), h), *drawn, (random_array(2, 3, 5, seed=1), 1)]


def _cut_columns(x: np.ndarray, h: int) -> np.ndarray:
    return x.reshape(*x.shape[:2], h, -1)  # (batch, length, heads, d)


def _work_out_split(x: np.ndarray, num_heads: int, at: tuple) -> Iterator[Step]:
    batch, head, position, _ = at
    blocks = x[batch, position].reshape(num_heads, -1)
    d = blocks.shape[-1]
    yield f"row {position} of x[{batch}]", x[batch, position]
    yield f"cut into {num_heads} blocks of {d} columns, one for each head", blocks
    yield f"block {head} (row {position} of head {head})", blocks[head]


def _random_split(chance: RandomValues) -> tuple:
    batch, length, heads, d = chance.sizes(4)
    return chance.numbers(batch, length, heads * d), heads


split_heads = Check(
    reference=reference.split_heads,
    cases=_split_cases,
    drawn=_random_split,
    results=("the heads",),
    working=_work_out_split,
    verified="head i has columns i·d to (i+1)·d − 1 of every position, for several sizes",
    mistakes=[
        Mistake(
            lambda x, h: x.reshape(len(x), h, x.shape[1], -1),
            "the shape is right, but the numbers are not, because reshaping straight to (batch, "
            "heads, length, d) mixes positions. Split the last axis into (heads, d) first, then "
            "swap the two middle axes.",
        ),
        Mistake(
            _cut_columns,
            "your result is (batch, length, heads, d). Swap the two middle axes, so that the heads "
            "come before the positions.",
        ),
        Mistake(
            lambda x, h: x.reshape(*x.shape[:2], -1, h).transpose(0, 3, 1, 2),
            "each of your heads gets every h-th column, but it should get a block of neighbouring "
            "columns. Split the last axis into (heads, d), not (d, heads).",
        ),
        Mistake(
            lambda x, h: _cut_columns(x, h).transpose(2, 0, 1, 3),
            "your heads come before the batch, but the order should be (batch, heads, length, d).",
        ),
        Mistake(
            lambda x, h: _cut_columns(x, h).transpose(0, 2, 3, 1),
            "your last two axes are swapped, as in Kᵀ. The order should be (batch, heads, length, "
            "d).",
        ),
    ],
)


def _merge_cases() -> list[tuple]:
    b, n, h, d = SHAPES[0]
    return [(_count_up(b, h, n, d),), *((random_array(b, h, n, d),) for b, n, h, d in SHAPES[1:])]


def _work_out_merge(heads: np.ndarray, at: tuple) -> Iterator[Step]:
    batch, position, _ = at
    rows = heads[batch, :, position]
    yield f"row {position} of each head in heads[{batch}]", rows
    yield f"side by side (row {position} of the concatenation)", rows.reshape(-1)


def _random_merge(chance: RandomValues) -> tuple:
    return (chance.numbers(*chance.sizes(4)),)


merge_heads = Check(
    reference=reference.merge_heads,
    cases=_merge_cases,
    drawn=_random_merge,
    results=("the concatenation",),
    working=_work_out_merge,
    verified="the inverse of split_heads, for several sizes",
    mistakes=[
        Mistake(
            lambda x: x.reshape(len(x), x.shape[2], -1),
            "the shape is right, but the numbers are not. Swap heads and positions before you "
            "reshape.",
        ),
        Mistake(
            lambda x: x.mean(axis=1),
            "the heads are averaged, but they should be placed side by side, in h · d columns.",
        ),
        Mistake(
            lambda x: x.sum(axis=1),
            "the heads are added up, but they should be placed side by side, in h · d columns.",
        ),
        Mistake(
            lambda x: x.transpose(0, 2, 3, 1).reshape(len(x), x.shape[2], -1),
            "your result alternates between columns of different heads. Keep each head's d columns "
            "together.",
        ),
        Mistake(
            lambda x: x.swapaxes(1, 2),
            "heads and d are still two separate axes. Reshape them into one.",
        ),
    ],
)

# ---------------------------------------------------------------- all of it, in NumPy


def _multi_head_cases() -> list[tuple]:
    cases: list[tuple] = []
    for n, (b, length, h, d) in enumerate(SHAPES):
        weights = [random_array(h * d, h * d, seed=10 * n + i, scale=0.5) for i in range(4)]
        x = random_array(b, length, h * d, seed=n)
        if n == 0:  # whole numbers whose attention weights are neither 0 nor 1 nor all alike
            x = np.array([[[1.0, -1, 0, 2, 1, -2], [0, 1, 2, -1, -1, 1]]])
            weights = [*np.random.default_rng(5570).integers(-1, 2, (4, 6, 6)).astype(float)]
        cases.append((x, *weights, h))
    # In the last, scores are in the thousands, and their exponentials are infinite.
    return [*cases, (60 * cases[1][0], *cases[1][1:])]


def _attend_with_heads(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    num_heads: int,
) -> np.ndarray:
    q, k, v = (reference.split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    heads, _ = reference.scaled_dot_product_attention(q, k, v)
    return reference.merge_heads(heads) @ w_o


_edit_multi_head = partial(edit_reference, _attend_with_heads)


def _work_out_multi_head(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    num_heads: int,
    at: tuple,
) -> Iterator[Step]:
    batch, row, _ = at
    q, k, v = (reference.split_heads(x @ w, num_heads)[batch] for w in (w_q, w_k, w_v))
    heads, weights = reference.scaled_dot_product_attention(q, k, v)
    yield f"row {row} of x[{batch}] times w_q, cut into {num_heads} heads", q[:, row]
    yield f"the weights of row {row} in each head", weights[:, row]
    yield "these weights times the values (x times w_v, cut the same way)", heads[:, row]
    yield "the heads side by side, times w_o", heads[:, row].reshape(-1) @ w_o


SPLIT_BY_VIEW = (
    "reference.split_heads(x @ w, num_heads)",
    "(x @ w).reshape(len(x), num_heads, x.shape[1], -1)",
)
MERGE_BY_RESHAPE = ("reference.merge_heads(heads)", "heads.reshape(x.shape)")


def _keep_diagonal_blocks(w: np.ndarray, num_heads: int) -> np.ndarray:
    """Keep only the diagonal blocks of w, so each head sees only its own columns of x."""
    d = len(w) // num_heads
    return w * np.kron(np.eye(num_heads), np.ones((d, d)))


def _random_multi_head(chance: RandomValues) -> tuple:
    batch, length, heads, d = chance.sizes(4)
    width = heads * d
    weights = (chance.numbers(width, width, scale=0.3) for _ in range(4))
    scale = chance.one_of(1.0, 200.0)  # 200 makes exponentials infinite
    return chance.numbers(batch, length, width, scale=scale), *weights, heads


multi_head = Check(
    reference=_attend_with_heads,
    cases=_multi_head_cases,
    drawn=_random_multi_head,
    arguments=("x", "w_q", "w_k", "w_v", "w_o", "num_heads"),
    working=_work_out_multi_head,
    verified="Concat(head_1, …, head_h) W_O, for several sizes and batches",
    mistakes=[
        Mistake(
            _edit_multi_head(
                (
                    "heads, _ = reference.scaled_dot_product_attention(q, k, v)",
                    "e = np.exp(q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1]))\n"
                    "    heads = e / e.sum(axis=-1, keepdims=True) @ v",
                )
            ),
            "this works for small scores, but large ones give NaN, because their exponentials "
            "overflow. Subtract the largest score of each row first.",
        ),
        Mistake(_edit_multi_head((" @ w_o", "")), "the final projection W_O is missing."),
        Mistake(
            _edit_multi_head(("x @ w, num_heads", "x @ w, 1")),
            "you use one wide head, but there should be `num_heads` heads, each with its own "
            "softmax.",
        ),
        Mistake(
            _edit_multi_head(("(q, k, v)", "(q / np.sqrt(num_heads), k, v)")),
            "you divide the scores by √d_model, but you should divide them by √d_k, because a head "
            "has only d_k = d_model / h columns.",
        ),
        Mistake(
            _edit_multi_head(("(q, k, v)", "(q * np.sqrt(q.shape[-1]), k, v)")),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            _edit_multi_head(("x @ w,", "x @ _keep_diagonal_blocks(w, num_heads),")),
            "each of your heads sees only a slice of the input. Project all of x first, then "
            "split.",
        ),
        Mistake(
            _edit_multi_head(SPLIT_BY_VIEW, MERGE_BY_RESHAPE),
            "you split and merge without a swap, which mixes positions. Swap the middle axes once "
            "after you split the last axis, and again before you merge.",
        ),
        Mistake(
            _edit_multi_head(SPLIT_BY_VIEW),
            "when you split the heads, you only reshape, which mixes words. Split the last axis "
            "into heads first, then swap the middle axes.",
        ),
        Mistake(
            _edit_multi_head(
                (
                    "reference.split_heads(x @ w, num_heads)",
                    "(x @ w).reshape(*x.shape[:2], num_heads, -1)",
                ),
                MERGE_BY_RESHAPE,
            ),
            "the heads of each word attend to one another, but in each head, the words should "
            "attend to one another. Swap heads and positions before you compute the scores.",
        ),
        Mistake(
            _edit_multi_head(
                (
                    "reference.split_heads(x @ w, num_heads)",
                    "(x @ w).reshape(*x.shape[:2], -1, num_heads).transpose(0, 3, 1, 2)",
                )
            ),
            "each of your heads gets every h-th column, but it should get a block of neighbouring "
            "columns.",
        ),
        Mistake(
            _edit_multi_head(MERGE_BY_RESHAPE),
            "you merge the heads without a swap. Swap heads and positions first, and then join the "
            "last two axes.",
        ),
        Mistake(
            _edit_multi_head(("x @ w,", "x @ w.T,"), ("@ w_o", "@ w_o.T")),
            "you transposed the matrices. A projection should be x @ w.",
        ),
        Mistake(
            _edit_multi_head(
                (
                    "reference.merge_heads(heads)",
                    "np.concatenate([heads.mean(axis=1)] * num_heads, axis=-1)",
                )
            ),
            "the heads are averaged, but they should be concatenated.",
        ),
    ],
)
