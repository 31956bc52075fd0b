"""Lesson 06: what a decoder layer does with its parts."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.config import Norm, TransformerConfig
from transformer_lab.course.cases import draw, fill_with_known_weights, with_gradient
from transformer_lab.course.chance import Chance
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.errors import UnusableError
from transformer_lab.model import masks
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder import DecoderLayer

Wiring = Callable[..., Tensor]


def _decoder_layer(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


# ---------------------------------------------------------------- other ways to wire it


def _without(*names: str) -> Wiring:
    """The right wiring, with some masks left out."""

    def wired(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
        mask = None if "mask" in names else mask
        return _decoder_layer(
            layer, x, memory, mask, None if "memory_mask" in names else memory_mask
        )

    return wired


def _cross_first(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    x = layer.add_norm_2(x, lambda x: layer.self_attention(x, x, x, mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _cross_first_with_its_norm(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _never_reads_the_memory(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, x, x, mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _no_cross(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _asks_with_the_input(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    y = layer.add_norm_1(x, lambda y: layer.self_attention(y, y, y, mask))
    y = layer.add_norm_2(y, lambda _: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(y, layer.feed_forward)


def _first_lost(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _one_norm(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    norm = layer.add_norm_1
    x = norm(x, lambda x: layer.self_attention(x, x, x, mask))
    x = norm(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return norm(x, layer.feed_forward)


def _one_attention(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: layer.self_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _attentions_exchanged(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.cross_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: layer.self_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _no_feed_forward(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    return layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))


def _bare_feed_forward(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    return layer.feed_forward(_no_feed_forward(layer, x, memory, mask, memory_mask))


def _feed_forward_between(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_3(x, layer.feed_forward)
    return layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))


def _no_add_norm(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.self_attention(x, x, x, mask)
    x = layer.cross_attention(x, memory, memory, memory_mask)
    return layer.feed_forward(x)


def _adds_twice(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: x + layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: x + layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, lambda x: x + layer.feed_forward(x))


def _deaf_to_the_norm(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    one = layer.self_attention(x, x, x, mask)
    x = layer.add_norm_1(x, lambda _: one)
    two = layer.cross_attention(x, memory, memory, memory_mask)
    x = layer.add_norm_2(x, lambda _: two)
    three = layer.feed_forward(x)
    return layer.add_norm_3(x, lambda _: three)


def _deaf_in_self_attention(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    one = layer.self_attention(x, x, x, mask)
    x = layer.add_norm_1(x, lambda _: one)
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _keys_not_normalised(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    before = x
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, before, before, mask))
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _deaf_in_cross_attention(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    two = layer.cross_attention(x, memory, memory, memory_mask)
    x = layer.add_norm_2(x, lambda _: two)
    return layer.add_norm_3(x, layer.feed_forward)


def _side_by_side(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    one = layer.self_attention(x, x, x, mask)
    two = layer.cross_attention(x, memory, memory, memory_mask)
    x = layer.add_norm_2(layer.add_norm_1(x, lambda _: one), lambda _: two)
    return layer.add_norm_3(x, layer.feed_forward)


def _no_norm(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = x + layer.self_attention(x, x, x, mask)
    x = x + layer.cross_attention(x, memory, memory, memory_mask)
    return x + layer.feed_forward(x)


def _norms_1_1_2(layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_1(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_2(x, layer.feed_forward)


def _feed_forward_twice(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = _decoder_layer(layer, x, memory, mask, memory_mask)
    return layer.add_norm_3(x, layer.feed_forward)


# ---------------------------------------------------------------- parts that say what they miss


class _AddNorm(AddNorm):
    def forward(self, x: Tensor, sublayer: Any) -> Tensor:
        if not callable(sublayer):
            raise UnusableError(
                "add_norm gets what a sub-layer returned; it takes the sub-layer itself, a "
                "function of x such as `lambda x: …`, and calls it"
            )

        def kept_in_shape(x: Tensor) -> Any:
            new = sublayer(x)
            if isinstance(new, Tensor) and new.shape != x.shape:
                raise UnusableError(
                    f"a sub-layer gives {tuple(new.shape)} where x is {tuple(x.shape)}: each that "
                    "asks gets a row, and it is the words of x that ask"
                )
            return new

        return super().forward(x, kept_in_shape)


class _CrossAttention(MultiHeadAttention):
    """Of x and memory with unequal lengths it can tell which is which."""

    def forward(self, query: Any, key: Any, value: Any, mask: Any = None, past: Any = None) -> Any:
        if key.shape != value.shape:
            raise UnusableError(
                "keys and values of cross_attention are of unequal numbers: both are the memory's"
            )
        if mask is not None and mask.shape[-1] != key.shape[1]:
            raise UnusableError(
                f"cross_attention gets {key.shape[1]} keys and a mask for {mask.shape[-1]}: the "
                "mask must be the one of those who are looked at; or do the words and the memory stand "
                "in each other's place? the words ask"
            )
        if mask is not None and mask.shape[-2] not in (1, query.shape[1]):
            raise UnusableError(
                f"cross_attention gets {query.shape[1]} queries and a mask for {mask.shape[-2]}: "
                "who asks, the words or the memory?"
            )
        return super().forward(query, key, value, mask, past)


# ---------------------------------------------------------------- the check


def _layer(d_model: int, heads: int, d_ff: int, norm: Norm = "post") -> DecoderLayer:
    config = TransformerConfig(
        source_vocab_size=5,
        target_vocab_size=5,
        d_model=d_model,
        d_ff=d_ff,
        num_heads=heads,
        dropout=0.0,
        norm=norm,
    )
    layer = DecoderLayer(config)
    layer.cross_attention = _CrossAttention(d_model, heads)
    for name in ("add_norm_1", "add_norm_2", "add_norm_3"):
        setattr(layer, name, _AddNorm(d_model, norm=config.norm))
    layer = layer.double()
    fill_with_known_weights(layer)  # a fresh LayerNorm is like any other; these differ
    return layer


def _cases() -> list[tuple]:
    shapes = ((1, 2, 5), (2, 5, 3), (3, 2, 7), (2, 3, 5))
    layers = (_layer(6, 2, 7), _layer(15, 3, 11), _layer(10, 5, 3, norm="pre"), _layer(14, 7, 5))
    cases = []
    for seed, ((batch, target, source), layer) in enumerate(zip(shapes, layers, strict=True)):
        d_model = layer.feed_forward.w_1.in_features
        words = torch.ones(batch, 1, 1, source, dtype=torch.bool)
        words[0, ..., 0] = False  # padding need not stand at the end
        words[-1, ..., -1] = False
        mask = masks.causal_mask(target)
        if seed == 1:  # the target is padded, too: a triangle of one's own is not enough
            mask = mask & torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, None, :]
        x = torch.tensor(draw(batch, target, d_model, seed=seed))
        memory = torch.tensor(draw(batch, source, d_model, seed=seed + 9))
        cases.append((layer, x, memory, mask, words))
    return [*cases[:-1], with_gradient(*cases[-1])]


def _drawn(chance: Chance) -> tuple:
    batch, target, source, heads, d = chance.sizes(5)
    x, memory = (chance.tensor(batch, length, heads * d) for length in (target, source))
    layer = _layer(heads * d, heads, chance.between(3, 17), norm=chance.one_of("post", "pre"))
    seen = chance.causal(batch, target), chance.mask(batch, 1, 1, source)
    return with_gradient(layer, x, memory, *seen)


decoder_layer = Check(
    reference=_decoder_layer,
    own=(DecoderLayer,),
    cases=_cases,
    drawn=_drawn,
    verified="masked self-attention, cross-attention, feed-forward, each inside its own Add & Norm, "
    "as in the package",
    mistakes=[
        Mistake(_without("mask"), "the words see the future: self-attention takes `mask`."),
        Mistake(
            _without("memory_mask"),
            "the padding of the source is seen: cross-attention takes `memory_mask`.",
        ),
        Mistake(
            _without("mask", "memory_mask"),
            "neither mask is used: self-attention takes one, cross-attention the other.",
        ),
        Mistake(_cross_first, "self-attention comes before cross-attention."),
        Mistake(
            _cross_first_with_its_norm,
            "each has its own Add & Norm, but self-attention comes first, then cross-attention.",
        ),
        Mistake(
            _never_reads_the_memory,
            "the memory is never read: keys and values of cross-attention come from it.",
        ),
        Mistake(
            _no_cross, "cross-attention is left out: the words never learn what the source says."
        ),
        Mistake(_first_lost, "the result of the first sub-layer is lost, or self-attention is."),
        Mistake(
            _asks_with_the_input,
            "cross-attention asks with the layer's input; it works on what the first Add & Norm gave.",
        ),
        Mistake(_one_norm, "add_norm_1 serves three times; each sub-layer has one of its own."),
        Mistake(
            _one_attention,
            "self_attention looks at the memory, too; cross_attention has weights of its own for it.",
        ),
        Mistake(_attentions_exchanged, "self_attention and cross_attention have changed places."),
        Mistake(_no_feed_forward, "the feed-forward network is missing."),
        Mistake(
            _bare_feed_forward, "feed_forward stands alone; it has its Add & Norm like the rest."
        ),
        Mistake(
            _feed_forward_between, "the feed-forward network comes last, behind cross-attention."
        ),
        Mistake(_no_add_norm, "no Add & Norm: add_norm_1(x, sublayer) calls a sub-layer for you."),
        Mistake(
            _adds_twice,
            "x is added twice: add_norm adds it already, the sub-layer gives what is new alone.",
        ),
        Mistake(
            _deaf_to_the_norm,
            "right where the norm comes last. Where it comes first (pre-norm) add_norm hands the "
            "sub-layer a normalised x: let it work on what it is handed.",
        ),
        Mistake(
            _deaf_in_self_attention,
            "right where the norm comes last. With pre-norm self-attention must work on what "
            "add_norm_1 hands it, not on the x outside.",
        ),
        Mistake(
            _deaf_in_cross_attention,
            "right where the norm comes last. With pre-norm cross-attention must ask with what "
            "add_norm_2 hands it, not with the x outside.",
        ),
        Mistake(
            _side_by_side,
            "both attentions work on the layer's input; cross-attention asks with what the first "
            "Add & Norm gave.",
        ),
        Mistake(_no_norm, "x is added and never normalised: add_norm_1(x, sublayer) does both."),
        Mistake(_norms_1_1_2, "add_norm_1 serves twice and add_norm_3 never; each has its place."),
        Mistake(_feed_forward_twice, "the feed-forward network acts twice."),
        Mistake(
            _keys_not_normalised,
            "self-attention takes keys and values from the x outside, and its queries from what "
            "add_norm_1 hands it: with pre-norm these are two.",
        ),
    ],
)
