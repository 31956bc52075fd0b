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
from transformer_lab.model.grouped import GroupedQueryAttention
from transformer_lab.model.transformer import Transformer

FIRST_ROOM = 64
"""Words that a new cache has room for; each time they are used up, the room doubles."""


@dataclass
class Buffer:
    """Memory set aside for more words than there are yet; the first `used` are written."""

    tensor: Float[Tensor, "batch heads room width"]
    used: int = 0


@dataclass(frozen=True)
class Written:
    """One vector for each head and word so far: the first `length` words of a buffer.

    It is a value, although the buffer is shared: `append` writes behind the last
    word, where this value never looks, and returns a longer value. It copies
    only when the room is used up, or when another value has written there before.
    """

    buffer: Buffer
    length: int = 0

    @classmethod
    def nothing(cls, like: Float[Tensor, "batch heads _ width"]) -> "Written":
        """No word yet, and room for vectors of the batch, heads and width of `like`."""
        batch, heads, _, width = like.shape
        return cls(Buffer(like.new_empty(batch, heads, FIRST_ROOM, width)))

    @property
    def tensor(self) -> Float[Tensor, "batch heads past width"]:
        """The vectors themselves."""
        return self.buffer.tensor[:, :, : self.length]

    def append(self, new: Float[Tensor, "batch heads 1 width"]) -> "Written":
        """These words and one more."""
        buffer, room = self.buffer, self.buffer.tensor.size(2)
        if self.length == room or self.length < buffer.used:
            batch, heads, _, width = new.shape
            room = 2 * room if self.length == room else room
            buffer = Buffer(new.new_empty(batch, heads, room, width), self.length)
            buffer.tensor[:, :, : self.length] = self.tensor
        buffer.tensor[:, :, self.length : self.length + 1] = new
        buffer.used += 1
        return Written(buffer, self.length + 1)

    def select(self, rows: Int[Tensor, " rows"]) -> "Written":
        """The same for these sentences, in a buffer of its own."""
        _, heads, room, width = self.buffer.tensor.shape
        chosen = self.buffer.tensor.new_empty(len(rows), heads, room, width)
        torch.index_select(self.tensor, 0, rows, out=chosen[:, :, : self.length])
        return Written(Buffer(chosen, self.length), self.length)


@dataclass(frozen=True)
class LayerCache:
    """One decoder layer's past: its own keys and values, and those of the memory."""

    self_key: Written
    self_value: Written
    cross_key: Float[Tensor, "batch heads source d_k"]
    cross_value: Float[Tensor, "batch heads source d_v"]


@dataclass(frozen=True)
class Cache:
    """All that a decoder needs to write the next word: one `LayerCache` a layer, and the masks.

    It is a value: `decode_step` returns a new one and leaves the old as it was.
    `sentence` says which row of the source each row translates.
    """

    layers: tuple[LayerCache, ...]
    memory_mask: Bool[Tensor, "batch 1 1 source"]
    sentence: Int[Tensor, " batch"]

    @property
    def length(self) -> int:
        """How many target positions it holds."""
        return self.layers[0].self_key.length if self.layers else 0

    @torch.no_grad()
    def select(self, rows: Int[Tensor, " rows"]) -> "Cache":
        """The cache of these sentences, in this order; a row may be taken twice or left out.

        Beams that change places within a sentence read the same memory as
        before: its keys and values are then not copied.
        """
        sentence, mask = self.sentence[rows], self.memory_mask
        moves = not torch.equal(sentence, self.sentence)

        def pick(layer: LayerCache) -> LayerCache:
            key, value = layer.cross_key, layer.cross_value
            if moves:
                # Much faster on a CPU than key[rows], and the same.
                key, value = key.index_select(0, rows), value.index_select(0, rows)
            return LayerCache(
                layer.self_key.select(rows), layer.self_value.select(rows), key, value
            )

        layers = tuple(map(pick, self.layers))
        return Cache(layers, mask[rows] if moves else mask, sentence)


@torch.no_grad()
def start_cache(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch 1 1 source"],
) -> Cache:
    """Encode the source; the cache before the first word holds the memory's keys and values."""
    memory = model.encode(source, source_mask)

    def start(layer: DecoderLayer) -> LayerCache:
        # Contiguous, as every step reads them: (batch, heads, source, width).
        key, value = (t.contiguous() for t in keys_and_values(layer.cross_attention, memory))
        no_key, no_value = keys_and_values(layer.self_attention, memory[:, :0])
        return LayerCache(Written.nothing(no_key), Written.nothing(no_value), key, value)

    layers = tuple(start(layer) for layer in model.decoder.layers)
    return Cache(layers, source_mask, torch.arange(len(source), device=source.device))


@torch.no_grad()
def decode_step(
    model: Transformer, last: Int[Tensor, " batch"], cache: Cache
) -> tuple[Float[Tensor, "batch vocabulary"], Cache]:
    """Logits of the word after `last`, the latest word of each sentence, and the new cache.

    They equal those of a pass over all words so far. No causal mask is needed:
    the cache holds the past and nothing else. Nothing here has a gradient.
    """
    x = model.embed(model.target_embedding, last[:, None])
    x = model.dropout(model.target_positions(x, start=cache.length))
    layers = []
    for layer, past in zip(model.decoder.layers, cache.layers, strict=True):
        x, past = layer_step(layer, x, past, cache.memory_mask)
        layers.append(past)
    x = model.decoder.final_norm(x)
    return model.output(x)[:, 0], Cache(tuple(layers), cache.memory_mask, cache.sentence)


def keys_and_values(
    attention: MultiHeadAttention, x: Float[Tensor, "batch length d_model"]
) -> tuple[Tensor, Tensor]:
    """What the heads offer at these positions: (batch, heads, length, d_k) and (…, d_v).

    Shared keys and values are kept once for their group.
    """
    split = attention.split
    if isinstance(attention, GroupedQueryAttention):
        split = attention.split_shared
    return split(attention.w_k(x)), split(attention.w_v(x))


def attend_to(
    attention: MultiHeadAttention,
    x: Float[Tensor, "batch 1 d_model"],
    key: Float[Tensor, "batch shared key d_k"],
    value: Float[Tensor, "batch shared key d_v"],
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
        keys, values = keys.append(key), values.append(value)
        return attend_to(layer.self_attention, x, keys.tensor, values.tensor)

    def cross_attention(x: Tensor) -> Tensor:
        memory = past.cross_key, past.cross_value
        return attend_to(layer.cross_attention, x, *memory, memory_mask)

    x = layer.add_norm_1(x, self_attention)
    x = layer.add_norm_2(x, cross_attention)
    x = layer.add_norm_3(x, layer.feed_forward)
    return x, LayerCache(keys, values, past.cross_key, past.cross_value)
