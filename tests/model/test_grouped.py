"""Shared keys and values: between multi-head and multi-query attention, with and without a cache."""

from typing import get_args

import pytest
import torch

from tests.conftest import make_model, small_config
from transformer_lab.attention.capture import capture_attention
from transformer_lab.config import Positions
from transformer_lab.model import Transformer
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.grouped_attention import GroupedQueryAttention
from transformer_lab.model.masks import padding_mask
from transformer_lab.model.size import count_parameters


@pytest.mark.parametrize("shared", [1, 2, 3, 6])
def test_it_is_multi_head_attention_whose_groups_have_equal_weights(shared):
    torch.manual_seed(0)
    grouped = GroupedQueryAttention(12, 6, shared, d_k=5, d_v=7).double()
    whole = MultiHeadAttention(12, 6, d_k=5, d_v=7).double()
    state = dict(grouped.state_dict())
    for name, width in (("w_k", 5), ("w_v", 7)):
        for kind in ("weight", "bias"):
            heads = state[f"{name}.{kind}"].unflatten(0, (shared, width))
            state[f"{name}.{kind}"] = heads.repeat_interleave(6 // shared, dim=0).flatten(0, 1)
    whole.load_state_dict(state)
    x, memory = torch.randn(2, 7, 12).double(), torch.randn(2, 11, 12).double()
    mask = torch.rand(2, 1, 7, 11) < 0.7
    torch.testing.assert_close(grouped(x, memory, memory, mask), whole(x, memory, memory, mask))
    torch.testing.assert_close(grouped(x, x, x), whole(x, x, x))


@pytest.mark.parametrize("positions", get_args(Positions))
@pytest.mark.parametrize("shared", [1, 3])
def test_cached_steps_equal_one_parallel_pass(positions, shared, ids):
    changes = {"d_model": 24, "num_heads": 6, "d_v": 5}
    model = make_model(num_key_value_heads=shared, positions=positions, d_k=4, **changes)
    source, target = ids
    parallel = model(source, target)
    cache = prefill(model, source, padding_mask(source, 0))
    for step in range(target.size(1)):
        logits, cache = decode_step(model, target[:, step], cache)
        torch.testing.assert_close(logits, parallel[:, step], rtol=1e-9, atol=1e-11)
    for kept in (one for layer in cache.layers for one in layer):
        assert kept.key.tensor.size(1) == kept.value.tensor.size(1) == shared


def test_every_query_head_is_recorded_and_watching_changes_nothing(ids):
    model = make_model(num_key_value_heads=1)
    with capture_attention(model) as capture:
        watched = model(*ids)
    torch.testing.assert_close(watched, model(*ids))
    for kind in (capture.encoder, capture.decoder, capture.cross):
        assert all(layer.shape[1] == 3 for layer in kind)
    assert abs(capture.encoder[0][:, 0] - capture.encoder[0][:, 1]).max() > 0.01


def test_only_keys_and_values_become_smaller():
    whole, one = (
        count_parameters(Transformer(small_config(num_key_value_heads=n))) for n in (3, 1)
    )
    # Two of three heads of 4, keys and values, weights and biases, in each of 2 + 3 · 2 attentions.
    assert whole["total"] - one["total"] == 8 * 2 * 8 * (12 + 1)
    assert whole == count_parameters(Transformer(small_config()))


@pytest.mark.parametrize("shared", [0, 2, 4, -1])
def test_heads_that_cannot_share_evenly_are_refused(shared):
    with pytest.raises(ValueError, match="num_key_value_heads"):
        small_config(num_key_value_heads=shared)
    with pytest.raises(ValueError, match=f"^num_key_value_heads is {shared}; expected a divisor"):
        GroupedQueryAttention(12, 3, shared)
