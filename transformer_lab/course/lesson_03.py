"""Lesson 03, multi-head attention: the checks of its exercises, and its quiz."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab import numpy_reference as reference
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.model.attention import MultiHeadAttention

SHAPES = [(1, 2, 3, 2), (2, 3, 2, 5), (2, 5, 3, 4)]
"""(batch, length, heads, width of a head): no two of a case alike but where the reader may start."""

# ---------------------------------------------------------------- splitting and merging


def _split_cases() -> list[tuple]:
    return [(draw(b, n, h * d), h) for b, n, h, d in SHAPES]


def _cut(x: np.ndarray, h: int) -> np.ndarray:
    return x.reshape(*x.shape[:2], h, -1)  # (batch, length, heads, d)


split_heads = Check(
    reference=reference.split_heads,
    cases=_split_cases,
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
    return [(draw(b, h, n, d),) for b, n, h, d in SHAPES]


merge_heads = Check(
    reference=reference.merge_heads,
    cases=_merge_cases,
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
        weights = (draw(h * d, h * d, seed=10 * n + i, scale=0.5) for i in range(4))
        cases.append((draw(b, length, h * d, seed=n), *weights, h))
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


def _merged_by_reshape(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    q, k, v = (reference.split_heads(x @ w, h) for w in weights)
    return reference.scaled_dot_product_attention(q, k, v)[0].reshape(x.shape) @ w_o


def _averaged(x: np.ndarray, *rest: Any) -> np.ndarray:
    *weights, w_o, h = rest
    q, k, v = (reference.split_heads(x @ w, h) for w in weights)
    mean = reference.scaled_dot_product_attention(q, k, v)[0].mean(axis=1)
    return np.concatenate([mean] * h, axis=-1) @ w_o


multi_head = Check(
    reference=_multi_head,
    cases=_multi_head_cases,
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

# ---------------------------------------------------------------- the class


def fill_with_known_weights(module: nn.Module) -> None:
    """Random weights that depend on the names of the parameters alone."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            seed = sum(map(ord, name))
            values = draw(*parameter.shape, seed=seed, scale=0.4)
            parameter.copy_(torch.tensor(values))


def _build_and_run(
    answer: Callable[..., Any], d_model: int, num_heads: int, *inputs: Tensor
) -> Tensor:
    """Build the class, give its four linear layers known weights, and run it."""
    module = answer(d_model, num_heads).double()
    names = sorted(name for name, _ in module.named_parameters())
    wanted = sorted(f"w_{x}.{kind}" for x in "qkvo" for kind in ("weight", "bias"))
    if names != wanted:
        raise TypeError(f"the module has the parameters {names}; expected {wanted}")
    fill_with_known_weights(module)
    return module(*inputs)


def _class_cases() -> list[tuple]:
    cases = []
    for n, (b, length, h, d) in enumerate(SHAPES):
        query = torch.tensor(draw(b, length, h * d, seed=n))
        key = torch.tensor(draw(b, length + 2, h * d, seed=n + 10))
        value = torch.tensor(draw(b, length + 2, h * d, seed=n + 20))
        cases.append((h * d, h, query, key, value))
    return cases


class _SelfOnly(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        return super().forward(query, query, query)


class _QueryFromMemory(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        return super().forward(key, query, query)[:, : query.size(1)]


class _ValuesFromKey(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        return super().forward(query, key, key)


class _KeysFromValue(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        return super().forward(query, value, value)


class _ForgetsOutput(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.merge(self.core(q, k, v))


class _MergesByView(MultiHeadAttention):
    def merge(self, heads: Tensor) -> Tensor:
        return heads.reshape(heads.size(0), heads.size(2), -1)


class _SplitsByView(MultiHeadAttention):
    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)


class _ScalesByModel(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.w_o(self.merge(self.core(q / self.num_heads**0.5, k, v)))


class _SwapsKeyAndValue(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.w_o(self.merge(self.core(q, v, k)))


class _Unscaled(MultiHeadAttention):
    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        return self.w_o(self.merge(self.core(q * q.size(-1) ** 0.5, k, v)))


multi_head_class = Check(
    reference=MultiHeadAttention,
    cases=_class_cases,
    run=_build_and_run,
    arguments=("d_model", "num_heads", "query", "key", "value"),
    verified="self- and cross-attention sizes, equal to the package's class at equal weights",
    mistakes=[
        Mistake(
            _SelfOnly, "it attends to the query's own sentence; keys and values are arguments."
        ),
        Mistake(_QueryFromMemory, "queries are made from `key`, keys from `query`: swap them."),
        Mistake(_ValuesFromKey, "values are made from `key`; `value` is never read."),
        Mistake(_KeysFromValue, "keys are made from `value`; `key` is never read."),
        Mistake(_ForgetsOutput, "the last projection w_o is not applied."),
        Mistake(_MergesByView, "merging: swap heads and positions before the last two axes join."),
        Mistake(
            _SplitsByView, "splitting: cut the last dimension, then swap axes; a view mixes words."
        ),
        Mistake(_Unscaled, "the scores are not divided by √d_k."),
        Mistake(_ScalesByModel, "the scores are divided by √d_model, not √d_k."),
        Mistake(_SwapsKeyAndValue, "keys and values are swapped in the attention itself."),
    ],
)

# ---------------------------------------------------------------- cost


def _products(length: int, d_model: int, num_heads: int) -> int:
    return 4 * length * d_model**2 + 2 * length**2 * d_model


multiplications = Check(
    reference=_products,
    cases=lambda: [(2, 6, 1), (2, 6, 3), (7, 20, 5), (128, 512, 8)],
    results=("the number",),
    verified="four projections and two products with the weights, whatever h is",
    mistakes=[
        Mistake(
            lambda n, d, h: h * _products(n, d, h),
            "h times too many: each head is only d_model / h wide.",
        ),
        Mistake(
            lambda n, d, h: 3 * n * d**2 + 2 * n**2 * d,
            "one projection is missing: W_Q, W_K, W_V and W_O.",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + n**2 * d,
            "n² d_model is for Q Kᵀ; the weights times V cost as much again.",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + 2 * h * n**2 * d,
            "the projections are right; in Q Kᵀ all heads together cost n² · h · d_k = n² d_model.",
        ),
        Mistake(
            lambda n, d, h: 4 * d**2 + 2 * n**2 * d,
            "each of the n positions is projected: 4 n d_model².",
        ),
        Mistake(
            lambda n, d, h: 4 * n * d**2 + 2 * n * d,
            "every query meets every key: n², not n.",
        ),
    ],
)

check = SimpleNamespace(
    split_heads=split_heads,
    merge_heads=merge_heads,
    multi_head=multi_head,
    multi_head_class=multi_head_class,
    multiplications=multiplications,
)

quiz = Quiz(
    [
        Question(
            "What do several heads buy?",
            (
                (
                    "more parameters: each head has its own matrices",
                    "They are narrower: with d_k = d_model / h the number of parameters is the "
                    "same.",
                ),
                (
                    "several sets of weights per query",
                    "One head gives one weighted mix. Four words looked at by one head come back "
                    "as one average.",
                ),
                (
                    "speed: heads are computed in parallel",
                    "The matrix products are as many as in one large head, and there are h times "
                    "more softmaxes.",
                ),
            ),
            right=1,
        ),
        Question(
            "Why several heads rather than one large one?",
            (
                ("a large head cannot be trained", "It trains; on this page it reaches its floor."),
                (
                    "one softmax makes one distribution",
                    "However wide, a head divides 1 among the keys once. It cannot keep apart what "
                    "it took from each.",
                ),
                (
                    "a large head overfits: it has more parameters",
                    "The numbers of parameters are equal.",
                ),
            ),
            right=1,
        ),
        Question(
            "d_model = 512, h = 8, d_k = d_v = 64. What is the shape of all W_i^Q side by side?",
            (
                ("512 × 512", "Eight blocks of 512 × 64: each head projects the whole vector."),
                ("512 × 64", "That is one head's."),
                ("64 × 64", "Then a head would see a slice of the input; it sees all of it."),
                ("8 × 64", "Each of the 512 numbers of the input takes part."),
            ),
            right=0,
        ),
        Question(
            "x.view(batch, heads, length, d) in place of view and transpose: what happens?",
            (
                (
                    "an error: the shapes do not fit",
                    "The number of elements fits, so nothing complains.",
                ),
                (
                    "the same, faster: it saves the transpose",
                    "Print it: head 0 holds the first words, or pieces of them.",
                ),
                (
                    "it runs; heads mix positions",
                    "The shape is right and the numbers are not. Only a comparison finds it.",
                ),
            ),
            right=2,
        ),
        Question(
            "On this page's task, what did 64 heads of width 1 do?",
            (
                (
                    "the best: most sets of weights",
                    "With d_k = 1 no query can pick out a key in the middle of the line.",
                ),
                (
                    "about as badly as a single head",
                    "One number puts all keys on a line, and a query can only prefer one end of "
                    "it.",
                ),
                (
                    "the same as 8 heads: as many parameters",
                    "As many parameters, but another loss. Read the picture again: 8 heads lie in "
                    "the valley.",
                ),
            ),
            right=1,
        ),
        Question(
            "Is anything more expensive with more heads, at d_k = d_model / h?",
            (
                ("nothing at all", "Look at the number of weights: h matrices of n × n."),
                (
                    "everything, h times: each head does all of it",
                    "The products are over d_model / h numbers each.",
                ),
                (
                    "the softmax and its memory",
                    "h · n² weights must be computed and, unless fused, stored.",
                ),
            ),
            right=2,
        ),
    ]
)
