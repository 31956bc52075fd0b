"""Decoding with a KV cache: `prefill` encodes the source, `decode_step` writes one word more.

Greedy decoding, beam search, sampling and lesson 10 use it.
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
    """All that a decoder needs to write the next word: the cache of each layer, and the masks.

    It behaves as a value: `decode_step` returns a new one and leaves the old one as it was. The
    memory of a sentence may serve several neighbouring rows, its partial hypotheses in a beam.
    """

    layers: tuple[LayerCache, ...]
    memory_mask: Bool[Tensor, "sentences 1 1 source"]

    @property
    def length(self) -> int:
        """How many target positions it holds."""
        return cached_length(self.layers)

    @torch.no_grad()
    def select(
        self, rows: Int[Tensor, " rows"], sentences: Int[Tensor, " sentences"] | None = None
    ) -> "DecoderCache":
        """Return the cache of these rows, in this order; a row may be taken twice or left out.

        `sentences` says which memories they read, in the order of the rows; by default the memory
        of row i is row i.
        """
        memories = rows if sentences is None else sentences
        layers = (
            LayerCache(layer.words.select(rows), layer.memory.select(memories))
            for layer in self.layers
        )
        return DecoderCache(tuple(layers), self.memory_mask[memories])

    @torch.no_grad()
    def reorder(self, rows: Int[Tensor, " rows"]) -> "DecoderCache":
        """Return the cache with these rows of words, and the same memories, which are not copied.

        Each memory is then read by the same number of neighbouring rows.
        """
        layers = (LayerCache(layer.words.select(rows), layer.memory) for layer in self.layers)
        return DecoderCache(tuple(layers), self.memory_mask)

    @torch.no_grad()
    def copy_rows_(
        self, rows: Int[Tensor, " copied"], places: Int[Tensor, " copied"]
    ) -> "DecoderCache":
        """Overwrite the words of the rows `places` with those of `rows`, in place; returns itself.

        Where most rows stay, this copies much less than `select`. But every cache that shares these
        buffers sees other words afterwards, including earlier values of this one.
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
    """Encode the source, and return the cache before the first word: the memory's keys and values.

    Raises:
        ValueError: For a decoder without layers, whose cache could not tell how far it is.
    """
    count = len(model.decoder.layers)
    check("num_decoder_layers", count, "at least 1 to write word by word", count >= 1)
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
    """Return the logits of the word after `last`, the latest word of each row, and the new cache.

    They equal those of a pass over all words so far. Nothing here has a gradient.
    """
    layers = tuple(LayerCache(words.fork(), memory) for words, memory in cache.layers)
    # The whole memory is cached already, so the layers get no new positions of it.
    read = cache.layers[0].memory.key
    assert read is not None
    nothing = read.tensor.new_empty(len(last), 0, model.config.d_model)
    x = model.decode(last[:, None], nothing, cache.memory_mask, layers)
    return model.output(x)[:, 0], DecoderCache(layers, cache.memory_mask)
