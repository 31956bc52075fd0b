"""Checks for the exercise of lesson 06 on the decoder layer."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_lab.config import Norm, TransformerConfig
from transformer_lab.course.judge.cases import (
    fill_with_known_weights,
    random_array,
    require_gradients,
)
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row
from transformer_lab.model import masks
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder import DecoderLayer


def _run_decoder_layer(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any
) -> Tensor:
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    return layer.add_norm_3(x, layer.feed_forward)


def _work_out_layer(
    layer: Any, x: Tensor, memory: Tensor, mask: Any, memory_mask: Any, at: tuple
) -> Iterator[Step]:
    row = name_row("x", at)
    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))
    yield f"{row} after self-attention with mask, in add_norm_1", x[at[:-1]]
    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))
    yield (
        "then after cross-attention to memory with memory_mask, in add_norm_2",
        x[at[:-1]],
    )
    yield "then after feed_forward, in add_norm_3", layer.add_norm_3(x, layer.feed_forward)[at[:-1]]


# ---------------------------------------------------------------- other ways to wire it


_edit = partial(edit_reference, _run_decoder_layer)

SELF = "    x = layer.add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))\n"
CROSS = (
    "    x = layer.add_norm_2(x, lambda x: layer.cross_attention(x, memory, memory, memory_mask))\n"
)
LAST = "    return layer.add_norm_3(x, layer.feed_forward)\n"
NO_MASK = ("x, x, mask))", "x, x, None))")
NO_MEMORY_MASK = ("memory, memory_mask))", "memory, None))")
SELF_IGNORES_NORM = (
    SELF,
    f"    outside = x\n{SELF.replace('x, x, x,', 'outside, outside, outside,')}",
)
CROSS_IGNORES_NORM = (CROSS, f"    asks = x\n{CROSS.replace('attention(x,', 'attention(asks,')}")


# ---------------------------------------------------------------- parts that say what they miss


class _AddNorm(AddNorm):
    def forward(self, x: Tensor, sublayer: Any) -> Tensor:
        if not callable(sublayer):
            raise UnusableError(
                "add_norm calls the sub-layer itself, but got the result of one. Pass a function "
                "of x, such as `lambda x: …`"
            )

        def keep_shape(x: Tensor) -> Any:
            new = sublayer(x)
            if isinstance(new, Tensor) and new.shape != x.shape:
                raise UnusableError(
                    f"a sub-layer returned shape {tuple(new.shape)}, but x has shape "
                    f"{tuple(x.shape)}. It should return one row for each query, and the queries "
                    "come from x"
                )
            return new

        return super().forward(x, keep_shape)


class _CrossAttention(MultiHeadAttention):
    """Cross-attention that raises a helpful error if x and memory are swapped.

    The swap is detected by comparing lengths.
    """

    def forward(self, query: Any, key: Any, value: Any, mask: Any = None, cache: Any = None) -> Any:
        if key.shape != value.shape:
            raise UnusableError(
                "cross_attention got different numbers of keys and values, but both should come "
                "from the memory"
            )
        if mask is not None and mask.shape[-1] != key.shape[1]:
            raise UnusableError(
                f"cross_attention got {key.shape[1]} keys, but its mask covers {mask.shape[-1]}. "
                "Did you swap the masks, or x and memory? The queries should come from x, and the "
                "keys and the mask from memory"
            )
        if mask is not None and mask.shape[-2] not in (1, query.shape[1]):
            raise UnusableError(
                f"cross_attention got {query.shape[1]} queries, but its mask has {mask.shape[-2]} "
                "rows. Did you swap the masks, or x and memory? The queries should come from x"
            )
        return super().forward(query, key, value, mask, cache)


# ---------------------------------------------------------------- the check


def _make_layer(d_model: int, heads: int, d_ff: int, norm: Norm = "post") -> DecoderLayer:
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
    fill_with_known_weights(layer)  # new LayerNorms are all alike; these differ
    return layer


def _cases() -> list[tuple]:
    shapes = ((1, 2, 5), (2, 5, 3), (3, 2, 7), (2, 3, 5))
    layers = (
        _make_layer(6, 2, 7),
        _make_layer(15, 3, 11),
        _make_layer(10, 5, 3, norm="pre"),
        _make_layer(14, 7, 5),
    )
    cases = []
    for seed, ((batch, target, source), layer) in enumerate(zip(shapes, layers, strict=True)):
        d_model = layer.feed_forward.w_1.in_features
        words = torch.ones(batch, 1, 1, source, dtype=torch.bool)
        words[0, ..., 0] = False  # padding need not be at the end
        words[-1, ..., -1] = False
        mask = masks.causal_mask(target)
        if seed == 1:  # the target is padded, too, so a causal mask alone is not enough
            mask = mask & torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, None, :]
        x = torch.tensor(random_array(batch, target, d_model, seed=seed))
        memory = torch.tensor(random_array(batch, source, d_model, seed=seed + 9))
        cases.append((layer, x, memory, mask, words))
    return [*cases[:-1], require_gradients(*cases[-1])]


def _random_case(chance: RandomValues) -> tuple:
    batch, target, source, heads, d = chance.sizes(5)
    x, memory = (chance.tensor(batch, length, heads * d) for length in (target, source))
    layer = _make_layer(heads * d, heads, chance.between(3, 17), norm=chance.one_of("post", "pre"))
    seen = chance.causal(batch, target), chance.mask(batch, 1, 1, source)
    return require_gradients(layer, x, memory, *seen)


decoder_layer = Check(
    reference=_run_decoder_layer,
    own=(DecoderLayer,),
    cases=_cases,
    drawn=_random_case,
    working=_work_out_layer,
    verified="masked self-attention, cross-attention and feed-forward, each inside its own "
    "Add & Norm, as in the package",
    mistakes=[
        Mistake(_edit(NO_MASK), "the words can see the future. Pass `mask` to self-attention."),
        Mistake(
            _edit(NO_MEMORY_MASK),
            "the source's padding is visible. Pass `memory_mask` to cross-attention.",
        ),
        Mistake(
            _edit(NO_MASK, NO_MEMORY_MASK),
            "you use neither mask. Pass `mask` to self-attention, and `memory_mask` to "
            "cross-attention.",
        ),
        Mistake(
            _edit(
                ("self_attention(x, x, x, mask)", "(other)"),
                (
                    "cross_attention(x, memory, memory, memory_mask)",
                    "self_attention(x, x, x, mask)",
                ),
                ("(other)", "cross_attention(x, memory, memory, memory_mask)"),
            ),
            "you apply cross-attention first, but self-attention should come before it.",
        ),
        Mistake(
            _edit((SELF, ""), (CROSS, CROSS + SELF)),
            "your two kinds of attention are in the wrong order. Self-attention (in add_norm_1) "
            "should come before cross-attention (in add_norm_2).",
        ),
        Mistake(
            _edit(("x, memory, memory, memory_mask))", "x, x, x, mask))")),
            "you never use the memory, but the keys and values of cross-attention should come from "
            "it.",
        ),
        Mistake(
            _edit((CROSS, "")),
            "cross-attention is left out, so the words never learn what the source says.",
        ),
        Mistake(
            _edit((SELF, "")),
            "self-attention is missing, or its result is never used.",
        ),
        Mistake(
            _edit((SELF, f"    asks = x\n{SELF}"), ("cross_attention(x,", "cross_attention(asks,")),
            "your cross-attention takes its queries from the layer's input, but it should take "
            "them from the output of the first Add & Norm.",
        ),
        Mistake(
            _edit(("add_norm_2", "add_norm_1"), ("add_norm_3", "add_norm_1")),
            "you use add_norm_1 three times, but each sub-layer should have its own Add & Norm.",
        ),
        Mistake(
            _edit(("cross_attention", "self_attention")),
            "you use self_attention twice, but cross_attention, which has its own weights, should "
            "read the memory.",
        ),
        Mistake(
            _edit(
                ("self_attention", "(other)"),
                ("cross_attention", "self_attention"),
                ("(other)", "cross_attention"),
            ),
            "self_attention and cross_attention are swapped.",
        ),
        Mistake(_edit((LAST, "    return x\n")), "the feed-forward network is missing."),
        Mistake(
            _edit((LAST, "    return layer.feed_forward(x)\n")),
            "your feed_forward has no Add & Norm, but it should have one, like the other "
            "sub-layers.",
        ),
        Mistake(
            _edit((CROSS, ""), (LAST, LAST.replace("return", "x =") + CROSS + "    return x\n")),
            "you apply the feed-forward network before cross-attention, but it should come last.",
        ),
        Mistake(
            _edit(
                (
                    "add_norm_1(x, lambda x: layer.self_attention(x, x, x, mask))",
                    "self_attention(x, x, x, mask)",
                ),
                (CROSS, "    x = layer.cross_attention(x, memory, memory, memory_mask)\n"),
                ("add_norm_3(x, layer.feed_forward)", "feed_forward(x)"),
            ),
            "you do not use Add & Norm. Call add_norm_1(x, sublayer), which calls the sub-layer "
            "for you.",
        ),
        Mistake(
            _edit(
                ("lambda x: layer", "lambda x: x + layer"),
                ("layer.feed_forward", "lambda x: x + layer.feed_forward(x)"),
            ),
            "you add x twice. add_norm already adds it, so the sub-layer should return only its "
            "own result.",
        ),
        Mistake(
            _edit(
                SELF_IGNORES_NORM,
                CROSS_IGNORES_NORM,
                (
                    LAST,
                    "    new = layer.feed_forward(x)\n    return layer.add_norm_3(x, lambda _: new)\n",
                ),
            ),
            "this is right only for post-norm. With pre-norm, add_norm passes a normalised x to "
            "each sub-layer, which should use that x, not the outer one.",
        ),
        Mistake(
            _edit(SELF_IGNORES_NORM),
            "this is right only for post-norm. With pre-norm, self-attention should use the x that "
            "add_norm_1 passes to it, not the outer x.",
        ),
        Mistake(
            _edit(CROSS_IGNORES_NORM),
            "this is right only for post-norm. With pre-norm, cross-attention should take its "
            "queries from the x that add_norm_2 passes to it, not from the outer x.",
        ),
        Mistake(
            _edit(
                (
                    SELF,
                    f"    outside = x\n{SELF.replace('x, x, x,', 'outside, outside, outside,')}",
                ),
                ("cross_attention(x,", "cross_attention(outside,"),
            ),
            "both kinds of attention use the layer's input, but cross-attention should take its "
            "queries from the output of the first Add & Norm.",
        ),
        Mistake(
            _edit(
                (SELF, "    x = x + layer.self_attention(x, x, x, mask)\n"),
                (CROSS, "    x = x + layer.cross_attention(x, memory, memory, memory_mask)\n"),
                (LAST, "    return x + layer.feed_forward(x)\n"),
            ),
            "you add x, but you never normalise the sum. Call add_norm_1(x, sublayer), which does "
            "both.",
        ),
        Mistake(
            _edit(("add_norm_2", "add_norm_1"), ("add_norm_3", "add_norm_2")),
            "you use add_norm_1 twice and leave out add_norm_3, but each sub-layer should have "
            "its own Add & Norm.",
        ),
        Mistake(
            _edit((LAST, LAST.replace("return", "x =") + LAST)),
            "you apply the feed-forward network twice, but it should be applied only once.",
        ),
        Mistake(
            _edit((SELF, f"    keys = x\n{SELF.replace('x, x, x,', 'x, keys, keys,')}")),
            "your self-attention takes its keys and values from the outer x. Take them, like the "
            "queries, from the x that add_norm_1 passes to the sub-layer. With pre-norm, this x "
            "differs from the outer one.",
        ),
    ],
)
