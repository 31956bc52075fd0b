"""Encoder, decoder and the whole model against PyTorch's, at equal weights, with gradients."""

import pytest
import torch
from torch import nn

from tests.conftest import make_model
from transformer_lab.formats.to_torch import copy_layer
from transformer_lab.model.add_norm import AddNorm
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.masks import causal_mask, padding_mask

NORMS = ["post", "pre"]

# PyTorch says so of its own inference shortcut, which these tests do not use.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")


def torch_twin(model) -> nn.Transformer:
    """`nn.Transformer` with our weights; its two final norms are identities for post-norm."""
    c = model.config
    twin = nn.Transformer(
        c.d_model,
        c.num_heads,
        c.num_encoder_layers,
        c.num_decoder_layers,
        c.d_ff,
        dropout=0.0,
        activation=getattr(nn.functional, c.activation),
        batch_first=True,
        norm_first=c.norm == "pre",
    ).double()
    for ours, theirs in [(model.encoder, twin.encoder), (model.decoder, twin.decoder)]:
        for our_layer, their_layer in zip(ours.layers, theirs.layers, strict=True):
            copy_layer(our_layer, their_layer)
        if c.norm == "pre":
            theirs.norm.load_state_dict(ours.final_norm.state_dict())
        else:
            theirs.norm = nn.Identity()
    # Training mode: PyTorch's inference shortcut for padded batches is another computation.
    return twin.train()


def gradients(output, weights, inputs, modules):
    """Gradients of a fixed weighting of the output, for the inputs and the named parameters."""
    wanted = [*inputs, *modules]
    return torch.autograd.grad((output * weights).sum(), wanted)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("padded", [False, True])
def test_encoder_equals_torch_encoder(norm, padded, activation, ids):
    model = make_model(norm=norm, activation=activation)
    twin = torch_twin(model).encoder
    source = ids[0] if padded else ids[0].clamp(min=4)
    x = torch.randn(2, 7, 12, dtype=torch.float64, requires_grad=True)
    real = source != 0
    ours = model.encoder(x, padding_mask(source, 0))[real]
    theirs = twin(x, src_key_padding_mask=~real)[real]
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)
    weights = torch.randn_like(ours)
    layer, other = model.encoder.layers[0], twin.layers[0]
    found = gradients(
        ours, weights, [x], [layer.feed_forward.w_1.weight, layer.self_attention.w_v.bias]
    )
    wanted = gradients(theirs, weights, [x], [other.linear1.weight, other.self_attn.in_proj_bias])
    torch.testing.assert_close(found[:2], wanted[:2], rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(found[2], wanted[2][24:], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("norm", NORMS)
def test_decoder_equals_torch_decoder_with_padding_and_causal_masks(norm, ids):
    model = make_model(norm=norm)
    twin = torch_twin(model).decoder
    source, target = ids
    x = torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(2, 7, 12, dtype=torch.float64, requires_grad=True)
    real = target != 0
    ours = model.decoder(x, memory, causal_mask(5), padding_mask(source, 0))[real]
    theirs = twin(
        x,
        memory,
        tgt_mask=~causal_mask(5),
        tgt_key_padding_mask=~real,
        memory_key_padding_mask=source == 0,
    )[real]
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)
    weights = torch.randn_like(ours)
    layer, other = model.decoder.layers[2], twin.layers[2]
    found = gradients(ours, weights, [x, memory], [layer.cross_attention.w_o.weight])
    wanted = gradients(theirs, weights, [x, memory], [other.multihead_attn.out_proj.weight])
    torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("norm", NORMS)
def test_whole_model_equals_torch_transformer(norm, ids):
    model = make_model(norm=norm)
    twin = torch_twin(model)
    source, target = ids
    real = target != 0
    ours = model(source, target)[real]
    theirs = model.output(
        twin(
            model.source_positions(model.embed(model.source_embedding, source)),
            model.target_positions(model.embed(model.target_embedding, target)),
            tgt_mask=~causal_mask(5),
            src_key_padding_mask=source == 0,
            tgt_key_padding_mask=~real,
            memory_key_padding_mask=source == 0,
        )
    )[real]
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)
    weights = torch.randn_like(ours)
    embeddings = [model.source_embedding.weight, model.target_embedding.weight]
    found = gradients(ours, weights, [], embeddings)
    wanted = gradients(theirs, weights, [], embeddings)
    torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("norm", NORMS)
def test_add_norm_is_the_order_its_name_says(norm):
    block = AddNorm(7, norm=norm)
    x = torch.randn(2, 5, 7)
    output = block(x, torch.sin)
    layer_norm = nn.functional.layer_norm
    post, pre = layer_norm(x + x.sin(), (7,)), x + layer_norm(x, (7,)).sin()
    torch.testing.assert_close(output, post if norm == "post" else pre)


def test_dropout_falls_on_the_sublayers_output_and_not_on_the_sum():
    block = AddNorm(7, dropout=0.999, norm="pre").train()
    x = torch.randn(3, 5, 7)
    torch.manual_seed(0)
    # With nearly all of the sub-layer dropped, x itself must come through whole.
    output = block(x, torch.ones_like)
    kept = output == x
    assert kept.float().mean() > 0.95


def test_feed_forward_treats_each_position_alone():
    block = FeedForward(7, 13)
    x = torch.randn(2, 5, 7)
    changed = x.clone()
    changed[:, 3] += 1
    same = block(x) == block(changed)
    assert same[:, [0, 1, 2, 4]].all()
    assert not same[:, 3].any()
