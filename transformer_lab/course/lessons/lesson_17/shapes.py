"""Checks for the exercises of lesson 17: naming the shapes, and finding five mistakes."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- say the shapes

Shape = tuple[int, ...]


def _list_shapes(
    batch: int, source: int, target: int, d_model: int, heads: int, words: int
) -> tuple[Shape, ...]:
    return (
        (batch, source, d_model),
        (batch, heads, source, source),
        (batch, heads, target, target),
        (batch, heads, target, source),
        (batch, target, words),
    )


_edit_shapes = partial(edit_reference, _list_shapes)


def _random_sizes(chance: RandomValues) -> tuple:
    batch, source, target, heads, d_k, words = chance.sizes(6)
    return batch, source, target, 2 * heads * d_k, heads, words


_MEANINGS = (
    "the memory, batch × source × d_model, a vector for each source word",
    "encoder self-attention, batch × heads × source × source, as source words attend to source words",
    "decoder self-attention, batch × heads × target × target, as target words attend to target words",
    "cross-attention, batch × heads × target × source, as target words attend to source words",
    "the logits, batch × target × words, a number for each word of the vocabulary",
)


def _work_out_shapes(*sizes: int, at: tuple) -> Iterator[Step]:
    yield from zip(_MEANINGS, _list_shapes(*sizes), strict=True)


shapes = Check(
    reference=_list_shapes,
    cases=lambda: [(2, 7, 5, 6, 3, 11), (1, 3, 4, 10, 2, 13), (3, 2, 9, 8, 4, 17)],
    drawn=_random_sizes,
    results=(
        "the memory's shape",
        "the encoder self-attention's shape",
        "the decoder self-attention's shape",
        "the cross-attention's shape",
        "the logits' shape",
    ),
    working=_work_out_shapes,
    verified="the shapes of memory, three kinds of weights, and logits",
    mistakes=[
        Mistake(
            _edit_shapes(("heads, target, source", "heads, source, target")),
            "cross-attention is the wrong way round. The queries come from the decoder, so the "
            "rows should be target words.",
        ),
        Mistake(
            _edit_shapes(("heads, target, source", "heads, target, target")),
            "cross-attention reads the memory, so its columns should be source words.",
        ),
        Mistake(
            _edit_shapes(("batch, source, d_model", "batch, target, d_model")),
            "the memory is the encoder's output, so it should have a vector for each source word.",
        ),
        Mistake(
            _edit_shapes(("batch, target, words", "batch, target, d_model")),
            "your last shape is that of the decoder's vectors, but the logits should have a number "
            "for each word of the vocabulary.",
        ),
        Mistake(
            _edit_shapes(("batch, target, words", "batch, words")),
            "your last shape is for the logits at a single position, but there should be logits at "
            "every target position.",
        ),
        Mistake(
            _edit_shapes(("heads, target, target", "heads, target, source")),
            "in decoder self-attention, the keys should be target words, like the queries.",
        ),
        Mistake(
            _edit_shapes(("batch, heads, ", "batch, ")),
            "the heads are missing. Each head has its own weights, so the shape is (batch, "
            "heads, query, key).",
        ),
        Mistake(
            _edit_shapes(
                ("heads, source,", "source, heads,"), ("heads, target,", "target, heads,")
            ),
            "the heads should come before the queries: the shape is (batch, heads, query, key).",
        ),
    ],
)

# ---------------------------------------------------------------- find the five mistakes

SYMPTOMS = {
    "by_view": "Each head gets all the numbers of a few words instead of a few numbers of every "
    "word.",
    "root_of_d_model": "With the same matrices as PyTorch's layer, your layer gets smaller scores.",
    "over_queries": "Each key splits a weight of 1 among the queries. Instead, each query should "
    "split a weight of 1 among the keys.",
    "mask_late": "Hidden keys get a share of the weights before the mask is applied.",
    "no_output": "The heads are joined side by side but never mixed.",
}
"""The names of the planted mistakes, each mapped to its visible symptom."""

STILL_THERE = (
    "one of the five mistakes is",
    "two of the five mistakes are",
    "three of the five mistakes are",
    "four of the five mistakes are",
    "all five mistakes are",
)


def attend_with_mistakes(
    x: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    num_heads: int,
    mask: Tensor,
    left: tuple[str, ...] = (),
) -> Tensor:
    """Compute multi-head attention from x to the memory, with the mistakes named in `left`."""

    def split(vectors: Tensor) -> Tensor:
        batch, length, width = vectors.shape
        if "by_view" in left:
            return vectors.reshape(batch, num_heads, length, width // num_heads)
        return vectors.reshape(batch, length, num_heads, -1).transpose(1, 2)

    q, k, v = split(x @ w_q), split(memory @ w_k), split(memory @ w_v)
    width = x.size(-1) if "root_of_d_model" in left else q.size(-1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(width)
    axis = -2 if "over_queries" in left else -1
    if "mask_late" in left:
        weights = scores.softmax(dim=axis) * mask
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=axis)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return merged if "no_output" in left else merged @ w_o


def _keep_mistakes(*left: str) -> Callable[..., Tensor]:
    return partial(attend_with_mistakes, left=left)


def _mended_cases() -> list[tuple]:
    cases = []
    for seed, (batch, query, key, heads, d_k) in enumerate(
        ((1, 3, 5, 2, 3), (2, 5, 7, 3, 2), (3, 1, 2, 2, 3))
    ):
        d_model = heads * d_k
        w = [torch.tensor(random_array(d_model, d_model, seed=seed + 7 * i)) for i in range(1, 5)]
        # Every query sees a key and every key is seen, so that no wrong axis ends in 0/0.
        always = torch.arange(key) % query == torch.arange(query)[:, None]
        mask = (torch.tensor(random_array(batch, 1, query, key, seed=seed)) > 0) | always
        x, memory = (
            random_array(batch, query, d_model, seed=seed + 50),
            random_array(batch, key, d_model),
        )
        cases.append((torch.tensor(x), torch.tensor(memory), *w, heads, mask))
    return [*cases[:2], require_gradients(*cases[2])]


def _random_inputs(chance: RandomValues) -> tuple:
    batch, query, key, heads, d_k = chance.sizes(5)
    d_model = heads * d_k
    w = (chance.tensor(d_model, d_model, scale=0.5) for _ in range(4))
    x, memory = (chance.tensor(batch, length, d_model) for length in (query, key))
    always = (torch.arange(key) % query == torch.arange(query)[:, None]) | (
        torch.arange(query)[:, None] % key == torch.arange(key)
    )
    return require_gradients(x, memory, *w, heads, chance.mask(batch, 1, query, key) | always)


def _work_out_attention(
    x: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    num_heads: int,
    mask: Tensor,
    at: tuple,
) -> Iterator[Step]:
    (batch, row), d_k = at[:2], x.size(-1) // num_heads
    q, k, v = x[batch, row] @ w_q, memory[batch] @ w_k, memory[batch] @ w_v
    scores = k[:, :d_k] @ q[:d_k] / math.sqrt(d_k)
    weights = scores.masked_fill(~mask[batch, 0, row], -math.inf).softmax(dim=-1)
    merged = attend_with_mistakes(x, memory, w_q, w_k, w_v, w_o, num_heads, mask, ("no_output",))
    yield (
        f"the query of word {row} in head 0, the first {d_k} numbers of its row of x @ w_q",
        q[:d_k],
    )
    yield f"its scores, that query times the keys' first {d_k} numbers, divided by √{d_k}", scores
    yield "its weights, the softmax over the keys that mask allows", weights
    yield "head 0's output, the sum of the values, each times its weight", weights @ v[:, :d_k]
    yield "the same for all heads, one after the other", merged[batch, row]
    yield "that times w_o", merged[batch, row] @ w_o


mended = Check(
    reference=attend_with_mistakes,
    cases=_mended_cases,
    drawn=_random_inputs,
    arguments=("x", "memory", "w_q", "w_k", "w_v", "w_o", "num_heads", "mask"),
    results=("the output",),
    working=_work_out_attention,
    verified="all five mistakes are gone, so this is multi-head attention under a mask",
    mistakes=[
        Mistake(
            _keep_mistakes(*left),
            f"{found} still there. {' '.join(SYMPTOMS[name] for name in left)}",
        )
        for count, found in enumerate(STILL_THERE, start=1)
        for left in itertools.combinations(SYMPTOMS, count)
    ],
)
