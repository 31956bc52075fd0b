"""A decoder that writes one word at a time, with the past of each layer kept as an explicit value."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.config import check
from transformer_lab.model.past import LayerPast, Past, length_of
from transformer_lab.model.transformer import Transformer


@dataclass(frozen=True)
class Cache:
    """All that a decoder needs to write the next word: the past of each layer, and the masks.

    It is a value: `decode_step` returns a new one and leaves the old as it was. The memory of a
    sentence may serve several neighbouring rows, its beginnings in a beam.
    """

    layers: tuple[LayerPast, ...]
    memory_mask: Bool[Tensor, "sentences 1 1 source"]

    @property
    def length(self) -> int:
        """How many target positions it holds."""
        return length_of(self.layers)

    @torch.no_grad()
    def select(
        self, rows: Int[Tensor, " rows"], sentences: Int[Tensor, " sentences"] | None = None
    ) -> "Cache":
        """The cache of these rows, in this order; one may be taken twice or left out.

        `sentences` says which memories they read, in the order of the rows; by default the memory
        of row i is row i.
        """
        memories = rows if sentences is None else sentences
        layers = (
            LayerPast(past.words.select(rows), past.memory.select(memories)) for past in self.layers
        )
        return Cache(tuple(layers), self.memory_mask[memories])

    @torch.no_grad()
    def regroup(self, rows: Int[Tensor, " rows"]) -> "Cache":
        """The same memories, each read by as many of these rows; of the memories nothing is copied."""
        layers = (LayerPast(past.words.select(rows), past.memory) for past in self.layers)
        return Cache(tuple(layers), self.memory_mask)

    @torch.no_grad()
    def move_(self, rows: Int[Tensor, " moved"], places: Int[Tensor, " moved"]) -> "Cache":
        """Write the words of these rows into these places, in place; returns itself.

        Much less is copied than by `select` where most rows stay, but every cache that shares
        these buffers, this one's past values too, sees other words.
        """
        for past in self.layers:
            past.words.move_(rows, places)
        return self


@torch.no_grad()
def start_cache(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"],
) -> Cache:
    """Encode the source; the cache before the first word holds the memory's keys and values.

    A ValueError for a decoder without layers: it keeps nothing that could tell how far it is.
    """
    count = len(model.decoder.layers)
    check("num_decoder_layers", count, "at least 1 to write word by word", count >= 1)
    memory = model.encode(source, source_mask)
    layers = []
    for layer in model.decoder.layers:
        kept = Past()
        kept.append(*layer.cross_attention.keys_and_values(memory, memory))
        layers.append(LayerPast(Past(), kept))
    return Cache(tuple(layers), source_mask.expand(len(source), -1, -1, -1))


@torch.no_grad()
def decode_step(
    model: Transformer, last: Int[Tensor, " batch"], cache: Cache
) -> tuple[Float[Tensor, "batch vocabulary"], Cache]:
    """Logits of the word after `last`, the latest word of each sentence, and the new cache.

    They equal those of a pass over all words so far. Nothing here has a gradient.
    """
    layers = tuple(LayerPast(words.branch(), memory) for words, memory in cache.layers)
    # The memory is all in its past: of it there is nothing new.
    known = cache.layers[0].memory.key
    assert known is not None
    nothing = known.tensor.new_empty(len(last), 0, model.config.d_model)
    x = model.decode(last[:, None], nothing, cache.memory_mask, layers)
    return model.output(x)[:, 0], Cache(layers, cache.memory_mask)
