"""Where lesson 14's third study has its dropout, and that the whole grid is stored."""

import pytest
import torch

from tests.thorough import thorough_from
from transformer_lab.data.batching import collate, encode_pairs
from transformer_lab.studies.common import store
from transformer_lab.studies.table_3 import ablations
from transformer_lab.studies.where_to_drop_out import dropout_places
from transformer_lab.studies.where_to_drop_out.dropout_places import (
    GRID,
    NAME,
    PLACES,
    SMALL,
    build,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def splits():
    return ablations.draw_splits({**ablations.BASE, **SMALL[0]})


def built(splits, place, rate):
    return build({**SMALL[0], "place": place, "rate": rate}, splits)


def batch_of(translator, splits):
    tokenizers = translator.source_tokenizer, translator.target_tokenizer
    return collate(encode_pairs(splits.test[:3], *tokenizers))


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == [*SMALL, *GRID]
    assert stored["command"] == f"python -m {dropout_places.__name__}"


def test_the_paper_is_the_base_of_the_ablations_with_its_sentences():
    assert ablations.BASE.items() >= ablations.dropout_setting(embedding=0.1, residual=0.1).items()
    assert PLACES["paper"] == ("inputs", "sub-layers")


@pytest.mark.parametrize("place", thorough_from(2, PLACES))
def test_each_place_makes_training_random_and_changes_nothing_else(splits, place):
    translator, plain = built(splits, place, 0.3), built(splits, "none", 0.0)
    batch = batch_of(translator, splits)

    def logits(model):
        with torch.no_grad():
            return model(batch.source, batch.target_input)

    training = translator.model.train()
    assert torch.equal(logits(training), logits(training)) == (place == "none")
    torch.testing.assert_close(
        logits(translator.model.eval()), logits(plain.model.eval()), rtol=0, atol=0
    )


@torch.no_grad()
@pytest.mark.parametrize(
    ("place", "rate", "zero"),
    [("sums", 0.3, True), ("sub-layers", 0.3, False), ("weights", 0.3, False)],
)
def test_only_on_the_sum_can_dropout_erase_what_came_in(splits, place, rate, zero):
    """A row that enters the norm of an Add & Norm has zeros only where the sum itself was dropped."""
    add_norm = built(splits, place, rate).model.encoder.layers[0].add_norm_1
    norm = add_norm.layer_norm[1] if place == "sums" else add_norm.layer_norm
    entered = []
    norm.register_forward_pre_hook(lambda _, given: entered.append(given[0]))
    add_norm.train()(torch.ones(5, 7, 64), torch.zeros_like)
    assert entered[0].shape == (5, 7, 64)
    assert bool((entered[0] == 0).any()) == zero


def test_all_matrices_of_both_stacks_and_no_others_are_dropped_as_weights(splits):
    model = built(splits, "weights", 0.3).model.train()
    dropped = {
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) and bool((module.weight == 0).any())
    }
    every = {n for n, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    assert every - dropped == {"output"}
    assert len(dropped) == 2 * (4 + 2) + 2 * (4 + 4 + 2)


@pytest.mark.parametrize("place", ["attention", "feed-forward"])
def test_what_pytorch_drops_is_what_its_layers_hold(place):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 11, dropout=0.13)
    rates = {
        "attention": layer.self_attn.dropout,
        "feed-forward": layer.dropout.p,
        "sub-layers": layer.dropout1.p,
    }
    assert place in PLACES["PyTorch"]
    assert set(rates) == set(PLACES["PyTorch"])
    assert set(rates.values()) == {0.13}
