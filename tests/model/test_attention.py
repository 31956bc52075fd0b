"""Our attention against PyTorch's, forward and gradients, with every kind of mask."""

import math
from typing import get_args

import pytest
import torch
from torch import nn

from tests.conftest import make_model
from transformer_lab.config import Positions
from transformer_lab.formats.to_torch import copy_attention
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model.attention import (
    AttentionCore,
    MultiHeadAttention,
    attention_weights,
    fused_attention,
)
from transformer_lab.model.masks import causal_mask, length_mask, padding_mask

BATCH, HEADS, QUERY, KEY, D_K, D_V = 2, 3, 5, 7, 11, 13


def heads(*shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)


def masks() -> dict[str, torch.Tensor | None]:
    padding = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])[:, None, None, :]
    causal = causal_mask(QUERY, KEY)
    return {"none": None, "padding": padding, "causal": causal, "both": padding & causal}


@pytest.mark.parametrize("name", masks())
def test_fused_path_equals_explicit_path_forward_and_backward(name):
    mask = masks()[name]
    shapes = [(QUERY, D_K), (KEY, D_K), (KEY, D_V)]
    inputs = [heads(BATCH, HEADS, *shape, seed=i) for i, shape in enumerate(shapes)]
    grad = heads(BATCH, HEADS, QUERY, D_V, seed=9).detach()
    explicit = attention_weights(inputs[0], inputs[1], mask) @ inputs[2]
    fused = fused_attention(*inputs, mask)
    torch.testing.assert_close(fused, explicit, rtol=1e-12, atol=1e-12)
    ours = torch.autograd.grad(explicit, inputs, grad)
    theirs = torch.autograd.grad(fused, inputs, grad)
    torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("mask_name", ["none", "both"])
def test_both_paths_take_the_same_bias(mask_name):
    query, key = heads(BATCH, HEADS, QUERY, D_K, seed=1), heads(BATCH, HEADS, KEY, D_K, seed=2)
    value, bias = heads(BATCH, HEADS, KEY, D_V, seed=3), heads(HEADS, QUERY, KEY, seed=4)
    mask = masks()[mask_name]
    explicit = attention_weights(query, key, mask, bias) @ value
    torch.testing.assert_close(fused_attention(query, key, value, mask, bias), explicit)
    unbiased = attention_weights(query, key, mask) @ value
    assert (explicit - unbiased).abs().max() > 0.1


@pytest.mark.parametrize("biased", [False, True])
def test_one_query_alone_attends_as_it_does_among_others(biased):
    generator = torch.Generator().manual_seed(5)
    query, key, value = (
        torch.randn(2, 3, n, width, generator=generator) for n, width in ((5, 4), (7, 4), (7, 11))
    )
    bias = torch.randn(3, 5, 7, generator=generator) if biased else None
    mask = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 0, 1, 0, 0, 0]]).bool()[:, None, None]
    all_of_them = fused_attention(query, key, value, mask, bias)
    for i in range(5):
        own_bias = None if bias is None else bias[:, i : i + 1]
        alone = fused_attention(query[:, :, i : i + 1], key, value, mask, own_bias)
        torch.testing.assert_close(alone, all_of_them[:, :, i : i + 1])


def test_a_query_that_sees_nothing_gets_zeros_and_no_gradient_in_both_paths():
    inputs = [heads(1, 1, *s, seed=i) for i, s in enumerate([(3, 2), (5, 2), (5, 7)])]
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[1] = False
    weights = attention_weights(inputs[0], inputs[1], mask)
    assert weights[0, 0, 1].eq(0).all()
    assert weights.sum(-1)[0, 0].tolist() == pytest.approx([1, 0, 1])
    for output in (weights @ inputs[2], fused_attention(*inputs, mask)):
        assert output[0, 0, 1].eq(0).all()
        gradients = torch.autograd.grad(output.sum(), inputs)
        assert all(g.isfinite().all() for g in gradients)
        assert gradients[0][0, 0, 1].eq(0).all()


def test_weights_are_rows_over_keys_and_scaled_by_the_root_of_d_k():
    query, key = heads(BATCH, HEADS, QUERY, D_K, seed=1), heads(BATCH, HEADS, KEY, D_K, seed=2)
    weights = attention_weights(query, key)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, HEADS, QUERY).double())
    scores = sum(query[0, 1, 2, i] * key[0, 1, :, i] for i in range(D_K)) / math.sqrt(D_K)
    torch.testing.assert_close(weights[0, 1, 2], scores.exp() / scores.exp().sum())


@pytest.mark.parametrize("name", masks())
def test_equals_torch_multihead_attention_forward_weights_and_gradients(name):
    torch.manual_seed(0)
    d_model = HEADS * D_K
    ours = MultiHeadAttention(d_model, HEADS).double()
    theirs = nn.MultiheadAttention(d_model, HEADS, batch_first=True).double()
    nn.init.normal_(ours.w_q.bias)
    nn.init.normal_(ours.w_v.bias)
    copy_attention(ours, theirs)
    query, memory = heads(BATCH, QUERY, d_model, seed=5), heads(BATCH, KEY, d_model, seed=6)
    mask = masks()[name]
    blocked = None
    if mask is not None:
        blocked = ~mask.expand(BATCH, HEADS, QUERY, KEY).flatten(0, 1)
    watch = Recorder()
    fused = ours(query, memory, memory, mask)
    with use_hooks({ours.core: watch}):
        explicit = ours(query, memory, memory, mask)
    expected, weights = theirs(query, memory, memory, attn_mask=blocked, average_attn_weights=False)
    torch.testing.assert_close(fused, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(explicit, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(watch.seen, weights, rtol=1e-10, atol=1e-12)
    grad = torch.randn_like(expected)
    found = torch.autograd.grad(fused, [query, memory, ours.w_o.weight, ours.w_q.weight], grad)
    wanted = torch.autograd.grad(
        expected, [query, memory, theirs.out_proj.weight, theirs.in_proj_weight], grad
    )
    torch.testing.assert_close(found[:3], wanted[:3], rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(found[3], wanted[3][:d_model], rtol=1e-9, atol=1e-11)


class Recorder(Hook):
    def __init__(self):
        super().__init__(weights=self.keep)

    def keep(self, weights):
        self.seen = weights


def test_heads_may_have_their_own_widths_and_values_another():
    attention = MultiHeadAttention(10, 3, d_k=7, d_v=5)
    x, memory = torch.randn(2, 11, 10), torch.randn(2, 13, 10)
    assert attention(x, memory, memory).shape == (2, 11, 10)
    assert attention.w_k.weight.shape == (21, 10)
    assert attention.w_v.weight.shape == (15, 10)
    assert attention.w_o.weight.shape == (10, 15)


def test_number_of_heads_must_divide_d_model():
    with pytest.raises(ValueError, match="num_heads is 3; expected a divisor of d_model=10"):
        MultiHeadAttention(10, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 0), "num_heads is 0; expected an integer of at least 1"),
        ((8, 2, 0), "d_k is 0; expected an integer of at least 1"),
        ((8, True), "num_heads is True; expected an integer of at least 1"),
        (("8", 2), "d_model is '8'; expected an integer of at least 1"),
    ],
)
def test_sizes_are_whole_numbers_above_0(arguments, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(*arguments)


@pytest.mark.parametrize("watched", [False, True])
def test_a_mask_that_is_not_boolean_is_refused_on_both_paths(watched, as_users_run_it):
    attention = MultiHeadAttention(15, 3)
    x = torch.randn(2, 7, 15)
    numbers = torch.ones(7, 7).tril()  # to be added to the scores? then the future leaks
    with (
        use_hooks({attention.core: Hook()} if watched else {}),
        pytest.raises(ValueError, match="mask.dtype is torch.float32; expected torch.bool"),
    ):
        attention(x, x, x, numbers)


@pytest.mark.filterwarnings("ignore")  # torch speaks of the successor of this function
def test_hooks_see_every_projection_and_quantised_ones_run():
    attention = MultiHeadAttention(15, 3)
    seen = []
    for name in ("w_q", "w_k", "w_v", "w_o"):
        hook = getattr(attention, name).register_forward_hook
        hook(lambda module, inputs, output, name=name: seen.append(name))
    x = torch.randn(2, 7, 15)
    whole = attention(x, x, x)
    assert sorted(seen) == ["w_k", "w_o", "w_q", "w_v"]
    eighths = torch.ao.quantization.quantize_dynamic(attention, {nn.Linear}, dtype=torch.qint8)
    assert (eighths(x, x, x) - whole).abs().max() < 0.1


def test_split_keeps_each_heads_features_together_and_merge_undoes_it():
    attention = MultiHeadAttention(6, 3)
    x = torch.arange(2 * 5 * 6.0).view(2, 5, 6)
    split = attention.split(x)
    assert torch.equal(split[1, 2, 4], x[1, 4, 4:6])
    assert torch.equal(attention.merge(split), x)


def test_dropout_falls_on_weights_after_they_were_seen_and_only_in_training():
    core = AttentionCore(dropout=0.5)
    watch = Recorder()
    query, key, value = (torch.randn(2, 3, 7, 11) for _ in range(3))
    with use_hooks({core: watch}):
        quiet = core.eval()(query, key, value)
        torch.testing.assert_close(quiet, watch.seen @ value)
        torch.manual_seed(0)
        noisy = core.train()(query, key, value)
    torch.testing.assert_close(watch.seen.sum(-1), torch.ones(2, 3, 7))
    assert (noisy - quiet).abs().max() > 0.1


def test_masks_hide_what_they_should():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]
    # With a past of two keys the queries are the last ones.
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True] * 4]
    ids = torch.tensor([[5, 6, 0], [7, 0, 0]])
    expected = torch.tensor([[[[True, True, False]]], [[[True, False, False]]]])
    assert torch.equal(padding_mask(ids, 0), expected)
    assert torch.equal(length_mask(torch.tensor([2, 1]), 3), expected)


def test_half_precision_survives_a_mask():
    query = torch.randn(1, 1, 5, 8, dtype=torch.float16)
    weights = attention_weights(query, query, causal_mask(5))
    assert weights.isfinite().all()
    assert weights.tril().equal(weights)


@pytest.mark.parametrize("positions", get_args(Positions))
def test_a_model_in_half_precision_runs_and_is_near_the_whole_one(positions, ids):
    model = make_model(positions=positions)
    exact = model(*ids)
    half = model.bfloat16()(*ids)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.double(), exact, rtol=0.1, atol=0.1)
