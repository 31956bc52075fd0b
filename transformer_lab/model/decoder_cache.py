"""Decoding with a KV cache: `prefill` encodes the source, and `decode_step` predicts one word.

Greedy decoding, beam search, sampling and lesson 10b use it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.config import check
from transformer_lab.model.kv_cache import KVCache, LayerCache, cached_length
from transformer_lab.model.transformer import Transformer


@dataclass(frozen=True)
class DecoderCache:
    """The state that a decoder needs to predict the next word: layer caches and the source mask.

    `decode_step` returns a new cache and leaves the old one unchanged. Each batch row is one
    partial translation. If neighbouring rows are hypotheses in the same beam, they may share one
    memory (the keys and values of cross-attention).
    """

    layers: tuple[LayerCache, ...]
    memory_mask: Bool[Tensor, "sentences 1 1 source"]

    @property
    def length(self) -> int:
        """The number of target positions in the cache."""
        return cached_length(self.layers)

    @torch.no_grad()
    def select(
        self, rows: Int[Tensor, " rows"], sentences: Int[Tensor, " sentences"] | None = None
    ) -> "DecoderCache":
        """Return a cache with these batch rows, in this order; a row may appear more than once.

        `sentences` lists the memories to keep, in the order of the rows that read them. By default
        it equals `rows`, so each row has a separate memory.
        """
        memories = rows if sentences is None else sentences
        layers = (
            LayerCache(layer.words.select(rows), layer.memory.select(memories))
            for layer in self.layers
        )
        return DecoderCache(tuple(layers), self.memory_mask[memories])

    @torch.no_grad()
    def reorder(self, rows: Int[Tensor, " rows"]) -> "DecoderCache":
        """Return a cache with the words of these rows, in this order, and the same memories.

        The memories are not copied. Each memory must still serve the same number of adjacent rows.
        """
        layers = (LayerCache(layer.words.select(rows), layer.memory) for layer in self.layers)
        return DecoderCache(tuple(layers), self.memory_mask)

    @torch.no_grad()
    def copy_rows_(
        self, rows: Int[Tensor, " copied"], places: Int[Tensor, " copied"]
    ) -> "DecoderCache":
        """Overwrite the words of batch rows `places` with those of `rows`, and return this cache.

        The cache is changed in place. When most rows stay where they are, this copies much less
        than `select`. But it also changes every cache that shares the buffers, including earlier
        caches that this one extends.
        """
        for layer in self.layers:
            layer.words.copy_rows_(rows, places)
        return self


@torch.no_grad()
def prefill(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"],
) -> DecoderCache:
    """Encode the source and return a decoder cache that contains no target words yet.

    It holds the keys and values of each layer's cross-attention.

    Raises:
        ValueError: If the decoder has no layers, because a cache without layers cannot tell how
            many words it contains.
    """
    count = len(model.decoder.layers)
    check("num_decoder_layers", count, "at least 1 for decoding word by word", count >= 1)
    memory = model.encode(source, source_mask)
    layers = []
    for layer in model.decoder.layers:
        read = KVCache()
        read.append(*layer.cross_attention.keys_and_values(memory, memory))
        layers.append(LayerCache(KVCache(), read))
    return DecoderCache(tuple(layers), source_mask.expand(len(source), -1, -1, -1))


@torch.no_grad()
def decode_step(
    model: Transformer, last: Int[Tensor, " batch"], cache: DecoderCache
) -> tuple[Float[Tensor, "batch vocabulary"], DecoderCache]:
    """Return the logits of each row's next word, and a cache that includes the words in `last`.

    The logits equal those from a pass over all words so far. No gradients are computed.
    """
    layers = tuple(LayerCache(words.fork(), memory) for words, memory in cache.layers)
    # The whole memory is cached already, so the layers get no new positions of it.
    read = cache.layers[0].memory.key
    assert read is not None
    nothing = read.tensor.new_empty(len(last), 0, model.config.d_model)
    x = model.decode(last[:, None], nothing, cache.memory_mask, layers)
    return model.output(x)[:, 0], DecoderCache(layers, cache.memory_mask)
