"""Single-stack models (not in the paper): GPT sees earlier tokens only, BERT sees all tokens."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model.encoder import Encoder
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.masks import causal_mask, check_ids, padding_mask
from transformer_lab.model.positions import added_positions
from transformer_lab.model.size import check_memory_first
from transformer_lab.model.transformer import embed_ids, initialise


class OneStack(nn.Module):
    """The base class of single-stack models: embeddings, encoder layers, tied output projection.

    Subclasses define `mask`, which says what each position may see. The vocabulary size is
    `target_vocab_size`, and the number of layers is `num_encoder_layers`. The class ignores
    `source_vocab_size` and `num_decoder_layers`.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.target_vocab_size, config.d_model)
        self.positions = added_positions(config)
        self.dropout = nn.Dropout(config.dropout)
        self.stack = Encoder(config)
        self.output = nn.Linear(config.d_model, config.target_vocab_size)
        initialise(self)
        self.output.weight = self.embedding.weight

    def forward(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length vocabulary"]:
        """Return the logits at each position."""
        check_ids("ids", ids)
        return self.output(self.stack(self.embed(ids), self.mask(ids)))

    def embed(
        self, ids: Int[Tensor, "batch length"], start: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Return the first layer's input: scaled embeddings plus positions, starting at `start`."""
        x = embed_ids(self.embedding, ids) * math.sqrt(self.config.d_model)
        return self.dropout(self.positions(x, start))

    def mask(self, ids: Int[Tensor, "batch length"]) -> Bool[Tensor, "..."]:
        """Return the attention mask, in which True means that a query may attend to a key.

        Subclasses must override this method.
        """
        raise NotImplementedError


OneStack.__init__ = check_memory_first(OneStack.__init__)  # type: ignore[method-assign]


class GPT(OneStack):
    """A decoder without cross-attention (Radford et al. 2018): it predicts the next token."""

    def mask(self, ids: Int[Tensor, "batch length"]) -> Bool[Tensor, "length length"]:
        """Return the causal mask: each position sees itself and the positions to its left."""
        return causal_mask(ids.size(1), device=ids.device)


class BERT(OneStack):
    """An encoder without a decoder (Devlin et al. 2019): it predicts masked tokens."""

    def mask(self, ids: Int[Tensor, "batch length"]) -> Bool[Tensor, "batch 1 1 length"]:
        """Return the padding mask: each position sees all words, on its left and on its right."""
        return padding_mask(ids, self.config.pad_id)


def empty_cache(model: GPT) -> list[KVCache]:
    """Return a cache for the start of a sequence: an empty `KVCache` for each layer."""
    return [KVCache() for _ in model.stack.layers]


@torch.no_grad()
def gpt_step(
    model: GPT, last: Int[Tensor, " batch"], cache: list[KVCache]
) -> tuple[Float[Tensor, "batch vocabulary"], list[KVCache]]:
    """Return the logits of the token that follows `last`, and a new cache that includes `last`.

    The logits equal those from a pass over all tokens so far. No gradients are computed.
    """
    grown = [layer.fork() for layer in cache]
    x = model.embed(last[:, None], start=cache[0].length)
    return model.output(model.stack(x, cache=grown))[:, 0], grown
