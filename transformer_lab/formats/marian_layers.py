"""Pairs of corresponding layers in our `Transformer` and in MarianMT or Pegasus.

`formats.marian` and `formats.to_transformers` copy weights between the layers of each pair.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import Tensor, nn

from transformer_lab.model import Transformer
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder import DecoderLayer
from transformer_lab.model.encoder import EncoderLayer


class Match(NamedTuple):
    """Two modules whose weights differ only in the order of the residual stream's features.

    If a module `reads` the stream, the columns of its weight correspond to these features. If it
    writes to the stream or scales it, the rows do.
    """

    ours: nn.Module
    theirs: nn.Module
    reads: bool


def match_model(ours: Transformer, theirs: Any) -> Iterator[Match]:
    """Yield each pair of corresponding modules that have weights.

    `theirs` is a MarianMT or Pegasus model with a tied output.
    """
    for embedding, stack in (
        (ours.source_embedding, theirs.model.encoder),
        (ours.target_embedding, theirs.model.decoder),
    ):
        yield Match(embedding, stack.embed_tokens, reads=True)
    for side, other in ((ours.encoder, theirs.model.encoder), (ours.decoder, theirs.model.decoder)):
        for layer, their_layer in zip(side.layers, other.layers, strict=True):
            yield from match_layer(layer, their_layer)
        if isinstance(side.final_norm, nn.LayerNorm):  # with the norm before each sub-layer
            yield Match(side.final_norm, other.layer_norm, reads=False)


def match_layer(ours: EncoderLayer | DecoderLayer, theirs: Any) -> Iterator[Match]:
    """Yield the pairs of modules of one encoder or decoder layer."""
    yield from match_attention(ours.self_attention, theirs.self_attn)
    yield Match(ours.add_norm_1.layer_norm, theirs.self_attn_layer_norm, reads=False)
    last = ours.add_norm_2
    if isinstance(ours, DecoderLayer):
        yield from match_attention(ours.cross_attention, theirs.encoder_attn)
        yield Match(ours.add_norm_2.layer_norm, theirs.encoder_attn_layer_norm, reads=False)
        last = ours.add_norm_3
    yield Match(ours.feed_forward.w_1, theirs.fc1, reads=True)
    yield Match(ours.feed_forward.w_2, theirs.fc2, reads=False)
    yield Match(last.layer_norm, theirs.final_layer_norm, reads=False)


def match_attention(ours: MultiHeadAttention, theirs: Any) -> Iterator[Match]:
    """Yield the pairs of projections: three read the residual stream, and W_O writes to it."""
    yield Match(ours.w_q, theirs.q_proj, reads=True)
    yield Match(ours.w_k, theirs.k_proj, reads=True)
    yield Match(ours.w_v, theirs.v_proj, reads=True)
    yield Match(ours.w_o, theirs.out_proj, reads=False)


def copy_weights(to: Any, source: Any, order: Tensor, *, reads: bool) -> None:
    """Copy one module's weights, with the features of the residual stream reordered.

    The new feature j is the old feature `order[j]`. If the module `reads` the stream, the columns
    of its matrix are reordered; otherwise its rows and bias are.
    """
    to.weight.copy_(source.weight[:, order] if reads else source.weight[order])
    if getattr(source, "bias", None) is not None:
        to.bias.copy_(source.bias if reads else source.bias[order])
