"""What the study changes beside the configuration does what its name says."""

from itertools import islice

import pytest
import torch

from tests.conftest import small_config
from transformer_lab.data.batching import Batches, collate, encode_pairs
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import world
from transformer_lab.model import Transformer
from transformer_lab.studies.learning_sooner import sooner
from transformer_lab.studies.learning_sooner.muon import Muon, orthogonalize
from transformer_lab.studies.learning_sooner.sooner_changes import (
    AdamWithFactors,
    CurriculumBatches,
    has_one_gender,
    rescale_parameters,
)


@pytest.mark.parametrize("shape", [(13, 29), (29, 13), (17, 17)])
def test_muon_keeps_the_directions_and_evens_out_their_sizes(shape):
    torch.manual_seed(0)
    left, _ = torch.linalg.qr(torch.randn(shape[0], min(shape)))
    right, _ = torch.linalg.qr(torch.randn(shape[1], min(shape)))
    sizes = torch.linspace(0.1, 1, min(shape))
    result = orthogonalize(left * sizes @ right.T)
    turned = left.T @ result @ right  # diagonal, as the directions are kept
    assert (turned - turned.diag().diag()).abs().max() < 1e-4
    assert turned.diag().min() > 0.6
    assert turned.diag().max() < 1.3


def test_muon_steps_against_the_gradient_in_proportion_to_the_rate():
    torch.manual_seed(0)
    gradient = torch.randn(7, 11)
    moves = []
    for rate in (0.01, 0.03):
        matrix = torch.zeros(7, 11, requires_grad=True)
        matrix.grad = gradient.clone()
        Muon([matrix], rate).step()
        moves.append(matrix.detach())
    assert torch.allclose(3 * moves[0], moves[1])
    assert (moves[0] * gradient).sum() < 0


def test_a_group_takes_its_multiple_of_the_rate_at_every_step():
    one, five = (torch.zeros(3, requires_grad=True) for _ in range(2))
    adam = AdamWithFactors(
        [{"params": [one], "times": 1.0}, {"params": [five], "times": 5.0}], lr=0.0
    )
    for _ in range(3):
        for group in adam.param_groups:
            group["lr"] = 0.01
        one.grad, five.grad = torch.full((3,), 0.7), torch.full((3,), 0.7)
        adam.step()
    assert torch.allclose(five, 5 * one)
    assert (one != 0).all()


def test_rescaling_changes_the_named_parameters_and_the_sinusoids_alone():
    model = Transformer(small_config())
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    tables = {name: tensor.clone() for name, tensor in model.named_buffers()}
    rescale_parameters(model, {"w_q": 3.0, "sinusoids": 0.5})
    for name, tensor in model.named_parameters():
        assert torch.equal(tensor, before[name] * (3.0 if "w_q" in name else 1.0))
    assert len(tables) == 2
    assert all(torch.equal(t, tables[name] * 0.5) for name, t in model.named_buffers())


def test_the_order_that_teaches_goes_from_short_to_alike_to_all():
    pairs = world(train=701, validation=0, test=0).train
    tokenizers = [
        WordTokenizer.train([getattr(p, side) for p in pairs]) for side in ("source", "target")
    ]
    examples = encode_pairs(pairs, *tokenizers)
    plain = Batches(examples, 640, seed=3)
    batches = [
        batch for _, _, batch in islice(CurriculumBatches(plain, pairs).iterate_from(0, 0), 383)
    ]
    assert max(batch.target.size(1) for batch in batches[:150]) <= 8
    kind = {
        tuple(e.target): (p.coreference is not None, has_one_gender(p))
        for e, p in zip(examples, pairs, strict=True)
    }
    seen = [
        kind[tuple(i for i in row if i)]
        for batch in batches[150:380]
        for row in batch.target.tolist()
    ]
    assert {(False, False), (True, True)} == set(seen)
    after = [collate(group).target for group in plain.epoch(0)[:3]]
    assert all(torch.equal(a, b.target) for a, b in zip(after, batches[380:], strict=True))


def test_each_setting_of_the_study_has_a_name_of_its_own():
    names = [sooner.get_change_name(setting) for setting in sooner.GRID]
    assert set(names) == set(sooner.CHANGES)
