"""GPT and BERT: who sees whom, PyTorch's own stack as the oracle, and the cache."""

from typing import get_args

import pytest
import torch
from torch import nn

from tests.conftest import small_config
from transformer_lab.config import Positions, TransformerConfig
from transformer_lab.formats.to_torch import copy_layer
from transformer_lab.model.later.family import BERT, GPT, empty_cache, gpt_step

POSITIONS = get_args(Positions)


def make(kind, **changes):
    torch.manual_seed(0)
    model = kind(small_config(**changes)).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


@pytest.fixture
def tokens():
    return torch.randint(4, 29, (2, 7), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_gpt_never_sees_the_future(positions, tokens):
    model = make(GPT, positions=positions)
    changed = tokens.clone()
    changed[:, 3:] = 11
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_a_bert_sees_both_sides_and_no_padding(tokens):
    model = make(BERT)
    changed = tokens.clone()
    changed[:, -1] = 11
    assert not torch.allclose(model(tokens)[:, 0], model(changed)[:, 0])
    padded = torch.cat([tokens, torch.zeros(2, 3, dtype=torch.int64)], dim=1)
    torch.testing.assert_close(model(padded)[:, :7], model(tokens), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [GPT, BERT])
def test_one_layer_equals_pytorchs_at_equal_weights(kind, tokens):
    model = make(kind, num_encoder_layers=1)
    theirs = nn.TransformerEncoderLayer(12, 3, 31, dropout=0.0, batch_first=True).double()
    copy_layer(model.stack.layers[0], theirs)
    mask = nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
    features = theirs(model.embed(tokens), src_mask=mask if kind is GPT else None)
    torch.testing.assert_close(model(tokens), model.output(features))


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("shared", [None, 1])
@pytest.mark.parametrize("positions", POSITIONS)
def test_cached_steps_equal_one_parallel_pass(positions, shared, norm, tokens):
    model = make(GPT, positions=positions, norm=norm, num_key_value_heads=shared, d_k=6, d_v=5)
    parallel, cache = model(tokens), empty_cache(model)
    for step in range(7):
        logits, cache = gpt_step(model, tokens[:, step], cache)
        torch.testing.assert_close(logits, parallel[:, step], rtol=1e-9, atol=1e-11)
    heads = shared or 3
    assert cache[0].key.tensor.shape == (2, heads, 7, 6)
    assert cache[0].value.tensor.shape == (2, heads, 7, 5)


def test_the_output_is_the_embedding():
    model = make(GPT)
    assert model.output.weight is model.embedding.weight


@pytest.mark.parametrize("kind", [GPT, BERT])
def test_one_that_no_machine_can_hold_is_refused_before_it_is_built(kind):
    sizes = {"d_model": 2**15, "d_ff": 2**20, "num_encoder_layers": 99, "num_decoder_layers": 0}
    config = TransformerConfig(source_vocab_size=7, target_vocab_size=7, num_heads=8, **sizes)
    with pytest.raises(ValueError, match="the model has .* parameters.*; expected at most"):
        kind(config)


def test_of_a_configuration_only_what_one_stack_takes_must_fit():
    sizes = {"d_model": 8, "d_ff": 11, "num_heads": 2, "num_encoder_layers": 1}
    left = {"source_vocab_size": 10**11, "num_decoder_layers": 10**4, "tie_source_target": False}
    assert GPT(TransformerConfig(target_vocab_size=13, **sizes, **left)).output.out_features == 13
