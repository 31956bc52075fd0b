"""Checks for the exercises of lesson 07: the forward pass, and counting parameters by hand."""

from collections.abc import Iterator
from functools import partial

from transformer_lab.course.judge.cases import forward_cases, random_forward_case
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.forward_pass import (
    DECODER_SEES_PADDING,
    ENCODER_SEES_PADDING,
    drop_padding,
    edit_forward_pass,
)
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.model import Transformer

# ---------------------------------------------------------------- the forward pass


forward = Check(
    reference=lambda model, source, target: model(source, target),
    own=(Transformer.forward, Transformer.features),
    run=drop_padding,
    cases=forward_cases,
    drawn=random_forward_case,
    arguments=("model", "source", "target"),
    results=("the logits",),
    verified="your logits equal the package's, for padded and unpadded sentences",
    mistakes=[
        Mistake(
            edit_forward_pass(("causal_mask(target.size(1))", "None")),
            "the decoder sees the future, because its self-attention has no causal mask.",
        ),
        Mistake(
            edit_forward_pass(ENCODER_SEES_PADDING),
            "the encoder's self-attention sees padding. Pass it the padding mask.",
        ),
        Mistake(
            edit_forward_pass(DECODER_SEES_PADDING),
            "your cross-attention sees padding. The decoder also needs the source's padding mask, "
            "as its last argument.",
        ),
        Mistake(
            edit_forward_pass(ENCODER_SEES_PADDING, DECODER_SEES_PADDING),
            "padding is not hidden anywhere. The encoder and cross-attention both need the "
            "padding mask.",
        ),
        Mistake(
            edit_forward_pass(
                ("encoder(x, words)", "encoder(x, words & causal_mask(source.size(1)))")
            ),
            "you give the encoder a causal mask, but it should have none, because its words may "
            "look in both directions.",
        ),
        Mistake(
            edit_forward_pass((" causal_mask(", " ~causal_mask(")),
            "your causal mask is inverted. True means 'may attend', so do not invert what "
            "causal_mask returns.",
        ),
        Mistake(
            edit_forward_pass(("model.source_positions", ""), ("model.target_positions", "")),
            "the positions are missing in both the encoder and the decoder.",
        ),
        Mistake(
            edit_forward_pass(("model.target_positions", "")),
            "the decoder's positions are missing.",
        ),
        Mistake(
            edit_forward_pass(
                ("model.embed(model.source_embedding, source)", "model.source_embedding(source)"),
                ("model.embed(model.target_embedding, target)", "model.target_embedding(target)"),
            ),
            "√d_model is missing. Call model.embed(embedding, ids), not just the embedding.",
        ),
        Mistake(
            edit_forward_pass(("model.encoder(x, words)", "x")),
            "you use the embedded source as the decoder's memory, but the memory should be what "
            "the encoder returns.",
        ),
        Mistake(
            edit_forward_pass(("model.output(features)", "features")),
            "you return the decoder's vectors. Use model.output to turn them into logits.",
        ),
        Mistake(
            edit_forward_pass(("model.output(features)", "model.output(features).softmax(dim=-1)")),
            "you return probabilities, but you should return the logits, because the softmax is "
            "part of the loss.",
        ),
        Mistake(
            edit_forward_pass(("model.config.pad_id", "0")),
            "0 is hard-coded as padding, but some models pad with another id. Use "
            "model.config.pad_id.",
        ),
    ],
)


# ---------------------------------------------------------------- counting by hand


def _count_parameters(d_model: int, d_ff: int) -> int:
    attention = 4 * (d_model**2 + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    return attention + network + 2 * 2 * d_model


def _work_out_count(d_model: int, d_ff: int, at: tuple) -> Iterator[Step]:
    projection = d_model**2 + d_model
    network = 2 * d_model * d_ff + d_ff + d_model
    yield f"one projection, a matrix of {d_model} · {d_model} and {d_model} biases", projection
    yield "the four projections of attention together", 4 * projection
    yield f"the network, two matrices of {d_model} · {d_ff} and {d_ff} + {d_model} biases", network
    yield f"two LayerNorms, each with {d_model} gains and {d_model} biases", 4 * d_model
    yield "attention, network and LayerNorms together", 4 * projection + network + 4 * d_model


_edit_count = partial(edit_reference, _count_parameters)


def _random_sizes(chance: RandomValues) -> tuple:
    return chance.between(1, 600), chance.between(1, 3000)


layer_parameters = Check(
    reference=_count_parameters,
    cases=lambda: [(4, 8), (7, 31), (512, 2048), (5, 3), (1, 2)],
    drawn=_random_sizes,
    arguments=("d_model", "d_ff"),
    results=("the count",),
    working=_work_out_count,
    verified="your count equals PyTorch's for the package's layer",
    mistakes=[
        Mistake(
            _edit_count(("d_model**2 + d_model", "d_model**2"), (" + d_ff + d_model", "")),
            "the biases of the six linear maps are missing.",
        ),
        Mistake(
            _edit_count(
                ("d_model**2 + d_model", "d_model**2"),
                (" + d_ff + d_model", ""),
                (" + 2 * 2 * d_model", ""),
            ),
            "you count only the matrices. The biases and the parameters of the two LayerNorms are "
            "missing.",
        ),
        Mistake(_edit_count(("4 *", "3 *")), "W_O is missing: attention has four projections."),
        Mistake(
            _edit_count((" + 2 * 2 * d_model", "")),
            "4 · d_model parameters are missing: either the four projections' biases or the two "
            "LayerNorms.",
        ),
        Mistake(
            _edit_count((" + 2 * 2 * d_model", " + 2 * d_model")),
            "2 · d_model parameters are missing: there are two LayerNorms, each with a gain and "
            "a bias.",
        ),
        Mistake(
            _edit_count((" + d_ff + d_model", "")),
            "the two biases of the feed-forward network are missing.",
        ),
        Mistake(
            _edit_count(("return", "return 21 * (d_model**2 + d_model) + 7 * d_model**2 +")),
            "you count eight heads of width d_model each, but d_model should be the width of all "
            "heads together.",
        ),
        Mistake(
            _edit_count(("return", "return 4 * (d_model**2 + d_model) + 2 * d_model +")),
            "this counts a decoder layer, but an encoder layer has no cross-attention.",
        ),
    ],
)
