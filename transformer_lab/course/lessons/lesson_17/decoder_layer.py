"""Checks for the exercise of lesson 17 on the decoder layer."""

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
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.masks import causal_mask


class _Layer(nn.Module):
    """A correct answer whose source the check edits to create wrong ones."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


_edit_layer = partial(edit_reference, _Layer)

NO_MASK = ("self_attention(x, x, x, mask)", "self_attention(x, x, x)")
NO_MEMORY_MASK = ("memory, memory, memory_mask", "memory, memory")


def _build_and_run(answer: Callable[..., Any], *sizes_and_inputs: Any) -> tuple[Any, nn.Module]:
    *sizes, x, memory, mask, memory_mask = sizes_and_inputs
    layer = build_module(answer, _Layer, *sizes)
    return layer(x, memory, mask, memory_mask), layer


def _layer_cases() -> list[tuple]:
    cases = []
    for seed, (batch, target, source, heads, d_k) in enumerate(((1, 3, 5, 2, 3), (2, 5, 4, 3, 2))):
        d_model = heads * d_k
        words = torch.ones(batch, 1, 1, source, dtype=torch.bool)
        words[-1, ..., -1] = False
        words[0, ..., 1] = False  # what is hidden need not be at the end
        # In the second case the target is padded, too, so an answer fails if it makes its own
        # causal mask.
        written = torch.ones(batch, 1, 1, target, dtype=torch.bool)
        written[1:, ..., -1] = False
        mask = causal_mask(target) & written if batch > 1 else causal_mask(target)
        x = torch.tensor(random_array(batch, target, d_model, seed=seed))
        memory = torch.tensor(random_array(batch, source, d_model, seed=seed + 9))
        cases.append((d_model, heads, 7 + seed, x, memory, mask, words))
    return [*cases, require_gradients(*cases[-1])]


def _random_layer(chance: RandomValues) -> tuple:
    batch, target, source, heads, d_k = chance.sizes(5)
    d_model = heads * d_k
    x, memory = (chance.tensor(batch, length, d_model) for length in (target, source))
    seen = chance.causal(batch, target), chance.mask(batch, 1, 1, source)
    return require_gradients(d_model, heads, chance.between(3, 17), x, memory, *seen)


def _work_out_layer(
    d_model: int,
    num_heads: int,
    d_ff: int,
    x: Tensor,
    memory: Tensor,
    mask: Tensor,
    memory_mask: Tensor,
    at: tuple,
) -> Iterator[Step]:
    layer: Any = build_module(_Layer, _Layer, d_model, num_heads, d_ff)
    row = at[:-1]
    added = x + layer.self_attention(x, x, x, mask)
    one = layer.norm_1(added)
    more = one + layer.cross_attention(one, memory, memory, memory_mask)
    two = layer.norm_2(more)
    yield f"x plus self-attention with mask, at row {row[-1]} of sentence {row[0]}", added[row]
    yield "that row after norm_1", one[row]
    yield "that plus cross-attention to the memory with memory_mask", more[row]
    yield "that row after norm_2", two[row]
    yield "that plus what feed_forward returns for it", (two + layer.feed_forward(two))[row]
    yield "that row after norm_3", layer.norm_3(two + layer.feed_forward(two))[row]


decoder_layer = Check(
    reference=_Layer,
    cases=_layer_cases,
    drawn=_random_layer,
    run=_build_and_run,
    arguments=("d_model", "num_heads", "d_ff", "x", "memory", "mask", "memory_mask"),
    working=_work_out_layer,
    verified="three sub-layers, each inside Add & Norm, each with its own mask",
    mistakes=[
        Mistake(
            _edit_layer(NO_MASK),
            "each target word sees the words after it. Pass `mask` to self-attention.",
        ),
        Mistake(
            _edit_layer(NO_MEMORY_MASK),
            "the source's padding is visible. Pass `memory_mask` to cross-attention.",
        ),
        Mistake(
            _edit_layer(NO_MASK, NO_MEMORY_MASK),
            "you used neither mask. Pass `mask` to self-attention, and `memory_mask` to "
            "cross-attention.",
        ),
        Mistake(
            _edit_layer(
                ("self_attention(x, x, x, mask)", "(other)"),
                (
                    "cross_attention(x, memory, memory, memory_mask)",
                    "self_attention(x, x, x, mask)",
                ),
                ("(other)", "cross_attention(x, memory, memory, memory_mask)"),
            ),
            "the order is wrong: self-attention should come before cross-attention.",
        ),
        Mistake(
            _edit_layer(
                (
                    "cross_attention(x, memory, memory, memory_mask)",
                    "cross_attention(x, x, x, mask)",
                )
            ),
            "you never read the memory, but the keys and values of cross-attention should come "
            "from it.",
        ),
        Mistake(
            _edit_layer(("x + self.cross_attention", "self.cross_attention")),
            "the residual connection around cross-attention is missing.",
        ),
        Mistake(
            _edit_layer(
                ("x = self.norm_1(", "y = self.norm_1("), ("x = self.norm_2(x", "x = self.norm_2(y")
            ),
            "cross-attention's queries come from the layer's input, but they should come from the "
            "first Add & Norm.",
        ),
        Mistake(
            _edit_layer(
                (
                    "x = self.norm_1(x + self.self_attention(x, x, x, mask))",
                    "y = self.norm_1(x)\n        x = x + self.self_attention(y, y, y, mask)",
                ),
                (
                    "self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask))",
                    "x + self.cross_attention(self.norm_2(x), memory, memory, memory_mask)",
                ),
                ("self.norm_3(x + self.feed_forward(x))", "x + self.feed_forward(self.norm_3(x))"),
            ),
            "this is pre-norm, but the paper normalises after the sum.",
        ),
    ],
)
