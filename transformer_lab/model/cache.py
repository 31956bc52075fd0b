"""Keys and values that decoding has already computed, kept as an explicit value.

A decoder that writes one word at a time would project the same words again at
every step. Their keys and values never change, so each step keeps them; the
queries of past words are needed by nobody, and are not kept.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder import DecoderLayer
from transformer_lab.model.transformer import Transformer


@dataclass(frozen=True)
class LayerCache:
    """One decoder layer's past: its own keys and values, and those of the memory."""

    self_key: Float[Tensor, "batch heads past d_k"]
    self_value: Float[Tensor, "batch heads past d_v"]
    cross_key: Float[Tensor, "batch heads source d_k"]
    cross_value: Float[Tensor, "batch heads source d_v"]

    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """All four, in the order of the fields."""
        return self.self_key, self.self_value, self.cross_key, self.cross_value


@dataclass(frozen=True)
class Cache:
    """All that a decoder needs to write the next word: one `LayerCache` a layer, and the masks.

    It is a value: `decode_step` returns a new one and leaves the old as it was.
    """

    layers: tuple[LayerCache, ...]
    memory_mask: Bool[Tensor, "batch 1 1 source"]

    @property
    def length(self) -> int:
        """How many target positions it holds."""
        return self.layers[0].self_key.size(2) if self.layers else 0

    def select(self, rows: Int[Tensor, " rows"]) -> "Cache":
        """The cache of these sentences, in this order; a row may be taken twice or left out."""
        layers = (LayerCache(*(t[rows] for t in layer.tensors())) for layer in self.layers)
        return Cache(tuple(layers), self.memory_mask[rows])


def start_cache(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch 1 1 source"],
) -> Cache:
    """Encode the source; the cache before the first word holds the memory's keys and values."""
    memory = model.encode(source, source_mask)

    def start(layer: DecoderLayer) -> LayerCache:
        key, value = keys_and_values(layer.cross_attention, memory)
        none = keys_and_values(layer.self_attention, memory[:, :0])
        return LayerCache(*none, key, value)

    return Cache(tuple(start(layer) for layer in model.decoder.layers), source_mask)


def decode_step(
    model: Transformer, last: Int[Tensor, " batch"], cache: Cache
) -> tuple[Float[Tensor, "batch vocabulary"], Cache]:
    """Logits of the word after `last`, the latest word of each sentence, and the new cache.

    They equal those of a pass over all words so far. No causal mask is needed:
    the cache holds the past and nothing else.
    """
    x = model.embed(model.target_embedding, last[:, None])
    x = model.dropout(model.target_positions(x, start=cache.length))
    layers = []
    for layer, past in zip(model.decoder.layers, cache.layers, strict=True):
        x, past = layer_step(layer, x, past, cache.memory_mask)
        layers.append(past)
    x = model.decoder.final_norm(x)
    return model.output(x)[:, 0], Cache(tuple(layers), cache.memory_mask)


def keys_and_values(
    attention: MultiHeadAttention, x: Float[Tensor, "batch length d_model"]
) -> tuple[Tensor, Tensor]:
    """What the heads offer at these positions: (batch, heads, length, d_k) and (…, d_v)."""
    return attention.split(attention.w_k(x)), attention.split(attention.w_v(x))


def attend_to(
    attention: MultiHeadAttention,
    x: Float[Tensor, "batch 1 d_model"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: Bool[Tensor, "batch 1 1 key"] | None = None,
) -> Float[Tensor, "batch 1 d_model"]:
    """Multi-head attention from x to keys and values that are already projected."""
    heads = attention.core(attention.split(attention.w_q(x)), key, value, mask)
    return attention.w_o(attention.merge(heads))


def layer_step(
    layer: DecoderLayer,
    x: Float[Tensor, "batch 1 d_model"],
    past: LayerCache,
    memory_mask: Bool[Tensor, "batch 1 1 source"],
) -> tuple[Float[Tensor, "batch 1 d_model"], LayerCache]:
    """`DecoderLayer.forward` for one position, with its past given."""
    keys, values = past.self_key, past.self_value

    def self_attention(x: Tensor) -> Tensor:
        nonlocal keys, values
        key, value = keys_and_values(layer.self_attention, x)
        keys, values = torch.cat([keys, key], dim=2), torch.cat([values, value], dim=2)
        return attend_to(layer.self_attention, x, keys, values)

    def cross_attention(x: Tensor) -> Tensor:
        memory = past.cross_key, past.cross_value
        return attend_to(layer.cross_attention, x, *memory, memory_mask)

    x = layer.add_norm_1(x, self_attention)
    x = layer.add_norm_2(x, cross_attention)
    x = layer.add_norm_3(x, layer.feed_forward)
    return x, LayerCache(keys, values, past.cross_key, past.cross_value)
