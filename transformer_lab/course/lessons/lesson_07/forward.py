"""Checks of the exercises of lesson 07: the forward pass, and counting with a pencil."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.cases import forward_cases, random_forward_case
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.model import Transformer
from transformer_lab.model.masks import causal_mask, padding_mask

# ---------------------------------------------------------------- the forward pass

Forward = Callable[[Transformer, Tensor, Tensor], Tensor]


def _assembled(
    model: Transformer,
    source: Tensor,
    target: Tensor,
    *,
    causal: bool = True,
    causal_in_encoder: bool = False,
    source_mask: bool = True,
    memory_mask: bool = True,
    positions: bool = True,
    target_positions: bool = True,
    inverted: bool = False,
    scaled: bool = True,
    pad_id: int | None = None,
    memory: bool = True,
    output: bool = True,
    softmax: bool = False,
) -> Tensor:
    """The forward pass, with a switch for each part that can be forgotten or misplaced."""

    def vectors(embedding: nn.Embedding, places: nn.Module, ids: Tensor, add: bool) -> Tensor:
        x = model.embed(embedding, ids) if scaled else embedding(ids)
        return places(x) if add else x

    words = padding_mask(source, model.config.pad_id if pad_id is None else pad_id)
    seen = words if source_mask else torch.ones_like(words)
    if causal_in_encoder:
        seen = seen & causal_mask(source.size(1))
    x = vectors(model.source_embedding, model.source_positions, source, positions)
    encoded = model.encoder(x, seen) if memory else x
    add = positions and target_positions
    y = vectors(model.target_embedding, model.target_positions, target, add)
    future = causal_mask(target.size(1)) if causal else None
    if future is not None and inverted:
        future = ~future
    y = model.decoder(y, encoded, future, words if memory_mask else None)
    logits = model.output(y) if output else y
    return logits.softmax(dim=-1) if softmax else logits


def _wrong(hint: str, **switch: Any) -> Mistake:
    def answer(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
        return _assembled(model, source, target, **switch)

    return Mistake(answer, hint)


def _at_words(answer: Forward, model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """The logits at the target's words, without those at its padding."""
    logits = answer(model, source, target)
    fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape
    return logits[target != model.config.pad_id] if fits else logits


forward = Check(
    reference=lambda model, source, target: model(source, target),
    own=(Transformer.forward, Transformer.features),
    run=_at_words,
    cases=forward_cases,
    drawn=random_forward_case,
    arguments=("model", "source", "target"),
    results=("logits",),
    verified="the package's logits, for padded and unpadded sentences",
    mistakes=[
        _wrong(
            "the decoder sees the future: its self-attention needs the causal mask.", causal=False
        ),
        _wrong(
            "the encoder's self-attention sees padding: hand it the padding mask.",
            source_mask=False,
        ),
        _wrong(
            "cross-attention sees padding: the decoder needs the source's padding mask too, as "
            "its last argument.",
            memory_mask=False,
        ),
        _wrong(
            "padding is hidden nowhere: encoder and cross-attention both need the padding mask.",
            source_mask=False,
            memory_mask=False,
        ),
        _wrong(
            "the encoder has a causal mask: its words may see each other in both directions.",
            causal_in_encoder=True,
        ),
        _wrong(
            "the causal mask is inverted: True means “may attend”, as causal_mask returns it.",
            inverted=True,
        ),
        _wrong("the positions are missing, in encoder and decoder.", positions=False),
        _wrong("the decoder's positions are missing.", target_positions=False),
        _wrong(
            "√d_model is missing: use model.embed(embedding, ids), not the embedding alone.",
            scaled=False,
        ),
        _wrong(
            "the decoder's memory is the embedded source: it should be what the encoder puts out.",
            memory=False,
        ),
        _wrong("these are the decoder's vectors: model.output makes logits of them.", output=False),
        _wrong(
            "these are probabilities: logits come before the softmax, which is part of the loss.",
            softmax=True,
        ),
        _wrong(
            "0 is written in as padding; it is model.config.pad_id, and in some models another.",
            pad_id=0,
        ),
    ],
)


# ---------------------------------------------------------------- counting with a pencil


def _encoder_layer(
    d: int,
    d_ff: int,
    *,
    projections: int = 4,
    biases: bool = True,
    norms: int = 2,
) -> int:
    attention = projections * (d * d + d * biases)
    network = 2 * d * d_ff + (d_ff + d) * biases
    return attention + network + norms * 2 * d


def _random_sizes(chance: RandomValues) -> tuple:
    return chance.between(1, 600), chance.between(1, 3000)


layer_parameters = Check(
    reference=_encoder_layer,
    cases=lambda: [(4, 8), (7, 31), (512, 2048), (5, 3), (1, 2)],
    drawn=_random_sizes,
    arguments=("d_model", "d_ff"),
    results=("the count",),
    verified="as many as PyTorch finds in the package's layer",
    mistakes=[
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, biases=False),
            "the biases of the six linear maps are missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, biases=False, norms=0),
            "these are the matrices alone: biases and the two LayerNorms have numbers too.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, projections=3),
            "attention has four projections: W_O is missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, norms=0),
            "4 · d_model are missing: the biases of the four projections, or the two LayerNorms.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, norms=1),
            "2 · d_model are missing: there are two LayerNorms, each with a gain and a bias.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) - d_ff - d,
            "the two biases of the feed-forward network are missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) + 21 * (d * d + d) + 7 * d * d,
            "counted for eight heads of width d_model: together the heads are as wide as d_model.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) + 4 * (d * d + d) + 2 * d,
            "this is a decoder layer: an encoder layer has no cross-attention.",
        ),
    ],
)
