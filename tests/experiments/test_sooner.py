"""The study of what is learnt sooner counts as writing does, and holds what its grid says."""

import pytest

from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.bleu import exact_match
from transformer_lab.experiments import sooner
from transformer_lab.experiments.study import name_of, stored_runs
from transformer_lab.translator import Translator


def test_the_share_of_right_sentences_is_that_of_greedy_decoding():
    translator = Translator.load(weights="step_00500", device="cpu")  # right in about half
    pairs = world(train=7, validation=131, test=3).validation
    written = translator.translate([pair.source for pair in pairs], beam_size=1)
    expected = exact_match([one.translation for one in written], [pair.target for pair in pairs])
    exact, pronouns = sooner.shares(translator, list(pairs))
    assert exact == pytest.approx(expected)
    assert 0.2 < expected < 0.9
    assert 0.3 < pronouns < 0.9


def test_every_run_of_the_grid_is_stored_with_all_its_looks():
    stored = {run["hash"]: run["result"]["rows"] for run in stored_runs(sooner.NAME)}
    assert stored.keys() == {name_of(setting) for setting in sooner.GRID}
    assert len(stored) == len(sooner.GRID)
    for setting in sooner.GRID:
        steps = [row[0] for row in stored[name_of(setting)]]
        assert steps == list(range(setting["every"], setting["steps"] + 1, setting["every"]))
