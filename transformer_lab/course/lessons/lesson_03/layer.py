"""Checks for the exercises of lesson 03: the multi-head attention class, and its cost."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.cases import build_module, random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.course.lessons.lesson_03.heads import SHAPES
from transformer_lab.model.attention import MultiHeadAttention, attention_weights

# ---------------------------------------------------------------- the class


def _build_and_run(
    answer: Callable[..., Any], d_model: int, num_heads: int, *inputs: Tensor
) -> tuple[Any, nn.Module]:
    """Build an instance of the class with known weights; return its output and the instance."""
    module = build_module(answer, MultiHeadAttention, d_model, num_heads)
    return module(*inputs), module


def _work_out_class(
    d_model: int, num_heads: int, query: Tensor, key: Tensor, value: Tensor, at: tuple
) -> Iterator[Step]:
    batch, row, _ = at
    with torch.random.fork_rng([]):
        layer: Any = build_module(MultiHeadAttention, MultiHeadAttention, d_model, num_heads)
    q, (k, v) = layer.split(layer.w_q(query)), layer.keys_and_values(key, value)
    weights = attention_weights(q, k)
    heads = weights @ v
    yield f"row {row} of query[{batch}] through w_q, cut into {num_heads} heads", q[batch, :, row]
    yield f"the weights of row {row} in each head", weights[batch, :, row]
    yield (
        "these weights times the values (value through w_v, cut the same way)",
        heads[batch, :, row],
    )
    yield "the heads side by side, through w_o", layer.w_o(heads[batch, :, row].flatten())


def _class_cases() -> list[tuple]:
    cases = []
    for n, (b, length, h, d) in enumerate(SHAPES):
        query = torch.tensor(random_array(b, length, h * d, seed=n))
        key = torch.tensor(random_array(b, length + 2, h * d, seed=n + 10))
        value = torch.tensor(random_array(b, length + 2, h * d, seed=n + 20))
        cases.append((h * d, h, query, key, value))
    cases[-1] = require_gradients(*cases[-1])
    return cases


class _Attention(MultiHeadAttention):
    """A correct answer whose source the check edits to create wrong ones."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None, cache: Any = None
    ) -> Tensor:
        q, (k, v) = self.split(self.w_q(query)), self.keys_and_values(key, value)
        return self.w_o(self.merge(self.core(q, k, v)))


_edit_class = partial(edit_reference, _Attention)


class _SplitsByView(MultiHeadAttention):
    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)


def _random_class(chance: RandomValues) -> tuple:
    batch, query, key, heads, d = chance.sizes(5)
    width = heads * d
    inputs = (chance.tensor(batch, length, width) for length in (query, key, key))
    return require_gradients(width, heads, *inputs)


multi_head_class = Check(
    reference=MultiHeadAttention,
    cases=_class_cases,
    drawn=_random_class,
    run=_build_and_run,
    arguments=("d_model", "num_heads", "query", "key", "value"),
    working=_work_out_class,
    verified="with the same weights, your class returns the same as the package's, for several "
    "sizes",
    mistakes=[
        Mistake(
            _edit_class(("(key, value)", "(query, query)")),
            "you compute keys and values from `query`, but they should come from `key` and "
            "`value`, which may belong to another sentence.",
        ),
        Mistake(
            _edit_class(
                ("w_q(query)", "w_q(key)"),
                ("(key, value)", "(query, query)"),
                (
                    "self.merge(self.core(q, k, v))",
                    "self.merge(self.core(q, k, v))[:, : query.size(1)]",
                ),
            ),
            "you compute queries from `key`, and keys and values from `query`. Compute queries "
            "from `query`, keys from `key` and values from `value`.",
        ),
        Mistake(
            _edit_class(("(key, value)", "(key, key)")),
            "you compute the values from `key`, so `value` is never used.",
        ),
        Mistake(
            _edit_class(("(key, value)", "(value, value)")),
            "you compute the keys from `value`, so `key` is never used.",
        ),
        Mistake(_edit_class(("self.w_o", "")), "the final projection w_o is not applied."),
        Mistake(
            _edit_class(
                ("self.merge(self.core(q, k, v))", "self.core(q, k, v).reshape(query.shape)")
            ),
            "you merge the heads without a swap. Swap heads and positions first, and then join the "
            "last two axes.",
        ),
        Mistake(
            _SplitsByView,
            "when you split the heads, you only change the shape, which mixes words. Split the "
            "last axis into heads first, then swap the middle axes.",
        ),
        Mistake(
            _edit_class(("core(q,", "core(q * q.size(-1) ** 0.5,")),
            "the scores are not divided by √d_k.",
        ),
        Mistake(
            _edit_class(("core(q,", "core(q / self.num_heads**0.5,")),
            "you divide the scores by √d_model, but you should divide them by √d_k.",
        ),
        Mistake(
            _edit_class(("core(q, k, v)", "core(q, v, k)")),
            "keys and values are swapped where you compute the attention.",
        ),
    ],
)

# ---------------------------------------------------------------- cost


def _count_products(length: int, d_model: int, num_heads: int) -> int:
    return 4 * length * d_model**2 + 2 * length**2 * d_model


def _work_out_products(length: int, d_model: int, num_heads: int, at: tuple) -> Iterator[Step]:
    projections, scores = 4 * length * d_model**2, length**2 * d_model
    yield f"one projection, {length} rows times {d_model} × {d_model} weights", projections // 4
    yield "four projections (w_q, w_k, w_v and w_o)", projections
    yield (
        f"the scores of all heads, {d_model} products for each of {length} × {length} pairs",
        scores,
    )
    yield "twice that, because the weights times the values cost as much again", 2 * scores
    yield "the four projections and these products together", projections + 2 * scores


def _random_sizes(chance: RandomValues) -> tuple:
    heads = chance.between(1, 9)
    return chance.between(1, 300), heads * chance.between(1, 70), heads


multiplications = Check(
    reference=_count_products,
    cases=lambda: [(2, 6, 1), (2, 6, 3), (7, 20, 5), (128, 512, 8)],
    drawn=_random_sizes,
    results=("the number of multiplications",),
    working=_work_out_products,
    verified="four projections and two products inside attention, whatever h is",
    mistakes=[
        Mistake(
            lambda n, d, h: h * _count_products(n, d, h),
            "this is h times too large, because each head is only d_model / h wide.",
        ),
        Mistake(
            lambda n, d, h: 3 * n * d**2 + 2 * n**2 * d,
            "one projection is missing. There should be four (W_Q, W_K, W_V and W_O).",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + n**2 * d,
            "inside attention, you count only Q Kᵀ. Multiplying the weights by V costs as much "
            "again.",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + 2 * h * n**2 * d,
            "the projections are right, but you count h times too much for the two products inside "
            "attention. For all heads together, each product costs n² · h · d_k = n² d_model.",
        ),
        Mistake(
            lambda n, d, h: 4 * d**2 + 2 * n**2 * d,
            "you count the projections for only one position, but they should cost 4 n d_model², "
            "because each of the n positions is projected.",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + 2 * n * d,
            "your cost of attention grows with n, but it should grow with n², because every query "
            "is compared with every key.",
        ),
    ],
)
