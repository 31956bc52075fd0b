"""The study of what is learnt sooner counts as writing does, and holds what its grid says."""

import pytest

from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.bleu import exact_match
from transformer_lab.studies.common.grid import hash_setting, load_runs
from transformer_lab.studies.learning_sooner import sooner
from transformer_lab.translator import Translator


def test_the_share_of_right_sentences_is_that_of_greedy_decoding():
    translator = Translator.load(weights="step_00500", device="cpu")  # right in about half
    pairs = world(train=7, validation=131, test=3).validation
    written = translator.translate([pair.source for pair in pairs], beam_size=1)
    expected = exact_match([one.translation for one in written], [pair.target for pair in pairs])
    exact, pronouns = sooner.score_accuracy(translator, list(pairs))
    assert exact == pytest.approx(expected)
    assert 0.2 < expected < 0.9
    assert 0.3 < pronouns < 0.9


def test_every_run_of_the_grid_is_stored_with_all_its_looks():
    stored = {run["hash"]: run["result"]["rows"] for run in load_runs(sooner.NAME)}
    assert stored.keys() == {hash_setting(setting) for setting in sooner.GRID}
    assert len(stored) == len(sooner.GRID)
    for setting in sooner.GRID:
        steps = [row[0] for row in stored[hash_setting(setting)]]
        assert steps == list(range(setting["every"], setting["steps"] + 1, setting["every"]))
