"""The whole Transformer of Figure 1: embeddings, encoder, decoder and output projection."""

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model.decoder import Decoder
from transformer_lab.model.encoder import Encoder
from transformer_lab.model.kv_cache import LayerCache, cached_length
from transformer_lab.model.masks import (
    causal_mask,
    check_ids,
    check_source_mask,
    padding_in_front,
    padding_mask,
    roll_rows,
)
from transformer_lab.model.positions import added_positions
from transformer_lab.model.size import check_memory_first


class TransformerParts(nn.Module):
    """The submodules of a Transformer (the boxes of Figure 1), with initialised weights.

    `Transformer` adds the forward pass.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = c = config
        self.source_embedding = nn.Embedding(c.source_vocab_size, c.d_model)
        self.target_embedding = (
            self.source_embedding
            if c.tie_source_target
            else nn.Embedding(c.target_vocab_size, c.d_model)
        )
        self.source_positions = added_positions(c)
        self.target_positions = added_positions(c)
        self.dropout = nn.Dropout(c.dropout)
        self.encoder = Encoder(c)
        self.decoder = Decoder(c)
        self.output = nn.Linear(c.d_model, c.target_vocab_size)
        initialise(self)
        if c.tie_target_output:
            self.output.weight = self.target_embedding.weight


TransformerParts.__init__ = check_memory_first(TransformerParts.__init__)  # type: ignore[method-assign]


class Transformer(TransformerParts):
    """The encoder-decoder of *Attention Is All You Need* (§3, Figure 1).

    Source and target are batch-first token ids, padded with `pad_id`. The target is padded on the
    right, the source on either side.
    """

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Return the logits of the next word at each target position, computed in one pass.

        `target` starts with `bos_id`, so it is one word behind the predictions (teacher forcing).
        By default, `source_mask` hides every `pad_id`.
        """
        return self.output(self.features(source, target, source_mask))

    def features(
        self,
        source: Int[Tensor, "batch source"],
        target: Int[Tensor, "batch target"],
        source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the decoder's output vectors, which `forward` passes to the output projection."""
        check_ids("source", source)
        if source_mask is None:
            source_mask = padding_mask(source, self.config.pad_id)
        return self.decode(target, self.encode(source, source_mask), source_mask)

    def encode(
        self, source: Int[Tensor, "batch source"], source_mask: Bool[Tensor, "#batch 1 1 source"]
    ) -> Float[Tensor, "batch source d_model"]:
        """Return the memory: one vector for each source position.

        Positions are counted from the first word, so padding before a sentence has no effect.
        """
        check_source_mask(source_mask, source)
        start = padding_in_front(source, source_mask, self.config.pad_id)
        x = self.embed(self.source_embedding, roll_rows(source, start))
        x = roll_rows(self.source_positions(x), -start)
        return self.encoder(self.dropout(x), source_mask)

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch memory d_model"],
        source_mask: Bool[Tensor, "sentences 1 1 source"],
        cache: Sequence[LayerCache] | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Return the decoder's output vector at each target position.

        The target needs no padding mask: its padding comes last, where the causal mask hides it
        from every word. With a `cache` (lesson 10b), pass only the new positions of target and
        memory; they follow the cached positions.
        """
        start, new = cached_length(cache), target.size(1)
        x = self.target_positions(self.embed(self.target_embedding, target), start)
        # A single new word, after all earlier ones, may see everything.
        mask = causal_mask(new, start + new, target.device) if new > 1 else None
        return self.decoder(self.dropout(x), memory, mask, source_mask, cache)

    def embed(
        self, embedding: nn.Embedding, ids: Int[Tensor, "batch length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Return the embeddings of these ids, multiplied by √d_model (§3.4)."""
        return embed_ids(embedding, ids) * math.sqrt(self.config.d_model)


def refuse_left_padding(decode: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Wrap `decode` so that padding before a target's first word raises a ValueError.

    Without the check, the words of such a target would be at the wrong positions and attend to the
    padding, and the loss would count the prediction of bos. The check runs only if `pad_id` differs
    from `bos_id`, and only on a CPU, because on a GPU it would have to wait for the result.
    """

    @wraps(decode)
    def checked(
        model: Any,
        target: Tensor,
        memory: Tensor,
        source_mask: Tensor,
        cache: Sequence[LayerCache] | None = None,
    ) -> Tensor:
        check_ids("target", target)
        c = model.config
        traced = torch.compiler.is_compiling() or torch.jit.is_tracing()  # type: ignore[attr-defined]
        known = target.device.type == "cpu" and not traced and c.pad_id != c.bos_id
        if (
            known and target.size(1) > 1 and cached_length(cache) == 0
        ):  # if the cache holds words, these are not the first
            check_right_padded(target, c.pad_id)
        return decode(model, target, memory, source_mask, cache)

    return checked


def check_right_padded(target: Int[Tensor, "batch target"], pad_id: int) -> None:
    """Raise a ValueError that names the first sentence with padding before its words, if any."""
    wrong = (target[:, 0] == pad_id) & (target != pad_id).any(dim=1)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        raise ValueError(
            f"target[{row}] begins with padding (id {pad_id}); expected padding only after the "
            "words. Did the tokenizer pad on the left?"
        )


# Wrapped here and not where it's defined, so that `decode` reads as lesson 07 builds it.
Transformer.decode = refuse_left_padding(Transformer.decode)  # type: ignore[method-assign]


def embed_ids(
    embedding: nn.Embedding, ids: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch length d_model"]:
    """Return the embeddings of these ids.

    Raises:
        ValueError: If an id is not in the vocabulary; the message names the id. This is checked
            only on a CPU.
    """
    try:
        vectors: Tensor = embedding(ids)
    except IndexError:  # checked only now, because a check in every call would cost time
        most = embedding.num_embeddings - 1
        wrong = ids[(ids < 0) | (ids > most)][0].item()
        raise ValueError(
            f"ids contain {wrong}; expected ids from 0 to {most}, because the vocabulary has "
            f"{most + 1} tokens"
        ) from None
    return vectors


def initialise(model: Any) -> None:
    """Initialise the weights: projections Xavier-uniform, biases 0, embeddings N(0, 1/d_model)."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=model.config.d_model**-0.5)
