"""The three models to compare, all of one size and with random weights."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import BOS_ID, EOS_ID, PAD_ID
from transformer_lab.model import Transformer
from transformer_lab.model.positions import sinusoids

MAX_LENGTH = 512


@dataclass(frozen=True)
class Size:
    """The sizes that all three share; both sides have one vocabulary unless `target_vocab` is given."""

    d_model: int
    num_layers: int
    num_heads: int
    d_ff: int
    vocab: int
    target_vocab: int | None = None
    dropout: float = 0.1

    @property
    def name(self) -> str:
        """The name in the tables."""
        return f"d_model {self.d_model}, {self.num_layers} layers, {self.vocab:,} words"


SMALL = Size(d_model=128, num_layers=2, num_heads=4, d_ff=512, vocab=4_000)
LARGE = Size(d_model=256, num_layers=3, num_heads=8, d_ff=1_024, vocab=8_000)


def make_ours(size: Size) -> Transformer:
    """Return the package's Transformer of this size, with random weights."""
    return Transformer(
        TransformerConfig(
            source_vocab_size=size.vocab,
            target_vocab_size=size.target_vocab or size.vocab,
            d_model=size.d_model,
            d_ff=size.d_ff,
            num_heads=size.num_heads,
            num_encoder_layers=size.num_layers,
            num_decoder_layers=size.num_layers,
            dropout=size.dropout,
            max_length=MAX_LENGTH,
            tie_source_target=size.target_vocab is None,
        )
    )


class TutorialTransformer(nn.Module):
    """`nn.Transformer` with what tutorials add to it: embeddings × √d_model, sinusoids, output.

    Its embeddings are tied as ours are, so that Adam has as many weights to update.
    """

    def __init__(self, size: Size):
        super().__init__()
        self.d_model = size.d_model
        self.source_embedding = nn.Embedding(size.vocab, size.d_model)
        self.target_embedding = self.source_embedding
        if size.target_vocab is not None:
            self.target_embedding = nn.Embedding(size.target_vocab, size.d_model)
        self.positions = nn.Buffer(sinusoids(MAX_LENGTH, size.d_model), persistent=False)
        self.dropout = nn.Dropout(size.dropout)
        self.transformer = nn.Transformer(
            size.d_model,
            size.num_heads,
            size.num_layers,
            size.num_layers,
            size.d_ff,
            size.dropout,
            batch_first=True,
        )
        self.output = nn.Linear(size.d_model, size.target_vocab or size.vocab)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.source_embedding.weight, std=size.d_model**-0.5)
        nn.init.normal_(self.target_embedding.weight, std=size.d_model**-0.5)
        self.output.weight = self.target_embedding.weight

    def embed(self, embedding: nn.Embedding, ids: Tensor) -> Tensor:
        """Look up the ids, scale the embeddings, add positions and apply dropout."""
        x = embedding(ids) * math.sqrt(self.d_model) + self.positions[: ids.size(1)]
        return self.dropout(x)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Return logits (batch, target, vocabulary) from ids, with masks in nn.Transformer's form."""
        steps = target.size(1)
        future = torch.ones(steps, steps, dtype=torch.bool, device=target.device).triu(diagonal=1)
        padding = source == PAD_ID
        x = self.transformer(
            self.embed(self.source_embedding, source),
            self.embed(self.target_embedding, target),
            tgt_mask=future,
            src_key_padding_mask=padding,
            tgt_key_padding_mask=target == PAD_ID,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.output(x)

    @torch.inference_mode()
    def greedy(self, source: Tensor, max_new_tokens: int) -> Tensor:
        """Run the loop of tutorials: encode once, then decode all words so far for each new word.

        It stops when every sentence has its eos. The output projection gets only the last word.
        """
        padding = source == PAD_ID
        embedded = self.embed(self.source_embedding, source)
        memory = self.transformer.encoder(embedded, src_key_padding_mask=padding)
        ids = torch.full((len(source), 1), BOS_ID)
        for _ in range(max_new_tokens):
            future = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool).triu(diagonal=1)
            x = self.transformer.decoder(
                self.embed(self.target_embedding, ids),
                memory,
                tgt_mask=future,
                memory_key_padding_mask=padding,
                tgt_is_causal=True,
            )
            word = self.output(x[:, -1]).argmax(dim=-1)
            ids = torch.cat([ids, word[:, None]], dim=1)
            if (ids == EOS_ID).any(dim=1).all():
                break
        return ids[:, 1:]


def make_marian(size: Size) -> MarianMTModel:
    """Return MarianMT with PyTorch's fused attention, which the library chooses by default."""
    config = MarianConfig(
        vocab_size=size.vocab,
        decoder_vocab_size=size.target_vocab or size.vocab,
        share_encoder_decoder_embeddings=size.target_vocab is None,
        d_model=size.d_model,
        encoder_layers=size.num_layers,
        decoder_layers=size.num_layers,
        encoder_attention_heads=size.num_heads,
        decoder_attention_heads=size.num_heads,
        encoder_ffn_dim=size.d_ff,
        decoder_ffn_dim=size.d_ff,
        dropout=size.dropout,
        activation_function="relu",
        scale_embedding=True,
        init_std=size.d_model**-0.5,
        max_position_embeddings=MAX_LENGTH,
        pad_token_id=PAD_ID,
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        decoder_start_token_id=BOS_ID,
        forced_eos_token_id=None,
        attn_implementation="sdpa",
    )
    return MarianMTModel(config)


def marian_logits(model: MarianMTModel, source: Tensor, target: Tensor) -> Tensor:
    """Return the logits of one parallel pass."""
    mask = (source != PAD_ID).long()
    out = model(input_ids=source, attention_mask=mask, decoder_input_ids=target, use_cache=False)
    return out.logits


def count_trainable(model: nn.Module) -> int:
    """Count the numbers that Adam updates."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def check_sizes(size: Size) -> dict[str, int]:
    """Count the trainable parameters of the three; an unexplained difference is an AssertionError.

    nn.Transformer ends encoder and decoder with a LayerNorm that the paper does not have.
    Marian's output bias is a constant.
    """
    models: dict[str, Any] = {"ours": make_ours(size), "nn": TutorialTransformer(size)}
    models["marian"] = make_marian(size)
    counts = {name: count_trainable(model) for name, model in models.items()}
    assert counts["nn"] - counts["ours"] == 2 * 2 * size.d_model, counts
    assert counts["ours"] - counts["marian"] == (size.target_vocab or size.vocab), counts
    return counts
