"""Positions: the paper's formula, and what each kind promises."""

import math
from typing import get_args

import pytest
import torch

from tests.conftest import make_model, small_config
from transformer_lab.config import Positions
from transformer_lab.model import Transformer
from transformer_lab.model.positions import (
    AlibiPositions,
    LearnedPositions,
    NoPositions,
    RotaryPositions,
    SinusoidalPositions,
    sinusoids,
)


def test_sinusoids_follow_the_papers_formula():
    table = sinusoids(length=13, d_model=6)
    for pos in (0, 1, 12):
        for i in range(3):
            angle = pos / 10_000 ** (2 * i / 6)
            assert table[pos, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[pos, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_a_shift_of_sinusoids_is_a_rotation_of_each_pair():
    table, k = sinusoids(length=17, d_model=10).double(), 5
    rotation = torch.zeros(10, 10, dtype=torch.float64)
    for i in range(5):
        angle = k / 10_000 ** (2 * i / 10)
        sin, cos = math.sin(angle), math.cos(angle)
        block = torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64)
        rotation[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    torch.testing.assert_close(table[k:], table[:-k] @ rotation.T, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_beyond_the_table_the_model_keeps_its_number_format(dtype):
    model = Transformer(small_config(max_length=11)).to(dtype).eval()
    ids = torch.randint(4, 23, (2, 17))
    assert model(ids, ids).dtype == dtype


def test_sinusoids_go_on_beyond_the_table_and_from_any_start():
    positions = SinusoidalPositions(d_model=6, max_length=11)
    x = torch.zeros(1, 17, 6)
    torch.testing.assert_close(positions(x)[0], sinusoids(17, 6))
    torch.testing.assert_close(positions(x[:, :3], start=7)[0], sinusoids(17, 6)[7:10])
    torch.testing.assert_close(positions(x[:, :3], start=13)[0], sinusoids(17, 6)[13:16])


def test_learned_positions_end_with_their_table():
    positions = LearnedPositions(d_model=6, max_length=11)
    x = torch.zeros(2, 3, 6)
    assert torch.equal(positions(x, start=8)[1], positions.table.weight[8:11])
    with pytest.raises(ValueError, match="length is 12; expected at most max_length=11"):
        positions(x, start=9)


def test_no_positions_adds_nothing():
    x = torch.randn(2, 5, 6)
    assert torch.equal(NoPositions()(x), x)


def test_rotary_scores_depend_on_the_distance_alone():
    rotary = RotaryPositions(d_k=8, max_length=64)
    one, other = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    query, key, bias = rotary(one.expand(1, 1, 13, 8), other.expand(1, 1, 13, 8))
    assert bias is None
    scores = (query @ key.transpose(-2, -1))[0, 0]
    for distance in (-3, 0, 5):
        diagonal = scores.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=1e-4, atol=1e-4)
    assert (scores[0, 0] - scores[0, 5]).abs() > 1e-3
    torch.testing.assert_close(query.norm(dim=-1), one.norm(dim=-1).expand(1, 1, 13))


def test_rotary_turns_the_last_queries_when_there_is_a_past():
    rotary = RotaryPositions(d_k=6, max_length=5)
    x = torch.randn(2, 3, 11, 6)
    whole, keys, _ = rotary(x, x)
    last, _, _ = rotary(x[:, :, 9:], x)
    torch.testing.assert_close(last, whole[:, :, 9:])
    torch.testing.assert_close(keys, whole)


def test_alibi_lowers_scores_with_distance_by_each_heads_slope():
    x = torch.zeros(1, 4, 5, 2)
    _, _, bias = AlibiPositions(num_heads=4)(x, x)
    slopes = [1 / 4, 1 / 16, 1 / 64, 1 / 256]
    for head, slope in enumerate(slopes):
        assert bias[head, 3, 1].item() == pytest.approx(-2 * slope)
        assert bias[head, 1, 3].item() == pytest.approx(-2 * slope)
        assert bias[head, 2, 2].item() == 0
    _, _, last = AlibiPositions(num_heads=4)(x[:, :, 3:], x)
    torch.testing.assert_close(last, bias[:, 3:])


@pytest.mark.parametrize("kind", get_args(Positions))
def test_only_positions_tell_an_encoder_the_order_of_its_words(kind, ids):
    model = make_model(positions=kind)
    source = ids[0][:1]
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    everything = torch.ones(1, 1, 1, 7, dtype=torch.bool)
    memory = model.encode(source, everything)
    shuffled = model.encode(source[:, order], everything)
    difference = (shuffled - memory[:, order]).abs().max()
    if kind == "none":
        assert difference < 1e-12
    else:
        assert difference > 1e-2
