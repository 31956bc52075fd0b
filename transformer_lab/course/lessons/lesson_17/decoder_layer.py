"""Checks of the exercises of lesson 17: the decoder layer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.cases import build_module, random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.masks import causal_mask


class _Layer(nn.Module):
    """The right answer, from which the wrong ones are derived."""

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


class _SeesTheFuture(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, torch.ones_like(mask), memory_mask)


class _SeesPadding(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, mask, torch.ones_like(memory_mask))


class _NoMasks(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, torch.ones_like(mask), torch.ones_like(memory_mask))


class _CrossFirst(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.cross_attention(x, memory, memory, memory_mask))
        x = self.norm_2(x + self.self_attention(x, x, x, mask))
        return self.norm_3(x + self.feed_forward(x))


class _NeverReadsTheMemory(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, x, x, mask))
        return self.norm_3(x + self.feed_forward(x))


class _NoResidualOnCross(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


class _AsksWithTheInput(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        y = self.norm_1(x + self.self_attention(x, x, x, mask))
        y = self.norm_2(y + self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(y + self.feed_forward(y))


class _PreNorm(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        y = self.norm_1(x)
        x = x + self.self_attention(y, y, y, mask)
        x = x + self.cross_attention(self.norm_2(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))


def _build_layer(answer: Callable[..., Any], *sizes_and_inputs: Any) -> tuple[Any, nn.Module]:
    *sizes, x, memory, mask, memory_mask = sizes_and_inputs
    layer = build_module(answer, _Layer, *sizes)
    return layer(x, memory, mask, memory_mask), layer


def _layer_cases() -> list[tuple]:
    cases = []
    for seed, (batch, target, source, heads, d_k) in enumerate(((1, 3, 5, 2, 3), (2, 5, 4, 3, 2))):
        d_model = heads * d_k
        words = torch.ones(batch, 1, 1, source, dtype=torch.bool)
        words[-1, ..., -1] = False
        words[0, ..., 1] = False  # what is hidden need not stand at the end
        # In the second case the target is padded, too: a triangle of one's own is not enough.
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


decoder_layer = Check(
    reference=_Layer,
    cases=_layer_cases,
    drawn=_random_layer,
    run=_build_layer,
    arguments=("d_model", "num_heads", "d_ff", "x", "memory", "mask", "memory_mask"),
    verified="three sub-layers, each inside Add & Norm, each with the mask that is its own",
    mistakes=[
        Mistake(_SeesTheFuture, "the words see the future: self-attention takes `mask`."),
        Mistake(
            _SeesPadding, "the padding of the source is seen: cross-attention takes `memory_mask`."
        ),
        Mistake(
            _NoMasks, "neither mask is used: self-attention takes one, cross-attention the other."
        ),
        Mistake(_CrossFirst, "self-attention comes before cross-attention."),
        Mistake(
            _NeverReadsTheMemory,
            "the memory is never read: keys and values of cross-attention come from it.",
        ),
        Mistake(_NoResidualOnCross, "around cross-attention the residual is missing."),
        Mistake(
            _AsksWithTheInput,
            "cross-attention asks with the layer's input; it works on what the first Add & Norm gave.",
        ),
        Mistake(_PreNorm, "this is pre-norm; the paper normalises after the sum."),
    ],
)
