"""Short sentences, and a training that only its seed decides."""

import pytest
import torch

from transformer_lab.data.corpus import train_shared_bpe
from transformer_lab.data.pair import Pair
from transformer_lab.studies.common.short_french import LONGEST, is_short, train_short_french


def test_both_sides_of_a_short_pair_are_short():
    short, long = "x" * LONGEST, "x" * (LONGEST + 1)
    assert is_short(Pair(short, short))
    assert not is_short(Pair(short, long))
    assert not is_short(Pair(long, short))


@pytest.mark.slow
def test_a_training_is_the_same_twice_and_another_with_another_seed():
    pairs = [Pair(f"sentence {n} of many", f"PHRASE {n} DE CENT") for n in range(53)]
    tokenizer, _ = train_shared_bpe(pairs, 263)
    before = torch.get_rng_state()
    one, same, other = (train_short_french(pairs, tokenizer, 3, seed) for seed in (0, 0, 1))
    weights = [t.model.state_dict() for t in (one, same, other)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not all(torch.equal(weights[0][name], weights[2][name]) for name in weights[0])
    assert torch.equal(before, torch.get_rng_state())
    assert one.model.config.norm == "pre"
