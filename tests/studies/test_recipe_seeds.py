"""The study of one recipe's seeds holds what its grid says, and a run of it is a model's own answers."""

import numpy as np
import pytest

from transformer_lab.studies.common.grid import hash_setting, load_runs
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    pronoun_accuracy_without_head,
    pronouns_changed_by_pointing,
)
from transformer_lab.studies.finding_the_noun.pronoun_sentences import ORDERS, iterate_pronoun_pairs
from transformer_lab.studies.other_seeds import recipe_seeds
from transformer_lab.translator import Translator


def test_every_run_of_the_grid_is_stored():
    stored = load_runs(recipe_seeds.NAME)
    assert {run["hash"] for run in stored} == {hash_setting(s) for s in recipe_seeds.GRID}
    assert len(stored) == len(recipe_seeds.GRID) == 19


def test_the_shipped_model_is_the_stored_run_of_its_seed():
    """It was trained by another tool, is in half precision, and is asked fewer sentences."""
    (run,) = (
        r
        for r in load_runs(recipe_seeds.NAME)
        if (r["setting"]["seed"], r["setting"]["sentences"]) == (7, 0)
    )
    shipped = Translator.load(device="cpu")
    pairs = [
        pair
        for order in ORDERS
        for pair, _ in zip(iterate_pronoun_pairs(order), range(47), strict=False)
    ]
    without, pointed = (
        pronoun_accuracy_without_head(shipped, pairs),
        pronouns_changed_by_pointing(shipped, pairs, "decider"),
    )
    for kind, shares in without.items():
        np.testing.assert_allclose(shares, run["result"]["without"][kind], atol=0.08)
    np.testing.assert_allclose(pointed, run["result"]["pointed"]["decider"], atol=0.08)
    assert np.max(pointed) > 0.7


@pytest.mark.thorough(caught_by=["test_the_shipped_model_is_the_stored_run_of_its_seed"])
@pytest.mark.slow
def test_a_short_run_has_all_its_numbers(monkeypatch):
    monkeypatch.setattr("transformer_lab.data.corpus.WORLD_PAIRS", 3_001)
    monkeypatch.setattr(recipe_seeds, "SENTENCES", 11)
    result = recipe_seeds.run(recipe_seeds.SMALL)
    assert result["exact_match"] == 0  # after so few steps
    shapes = {kind: np.shape(shares) for kind, shares in result["without"].items()}
    assert shapes == dict.fromkeys(("encoder", "decoder", "cross"), (2, 4))
    assert {row: np.shape(s) for row, s in result["pointed"].items()} == dict.fromkeys(
        ("it", "decider"), (2, 4)
    )
