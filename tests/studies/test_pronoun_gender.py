"""Whose gender a pronoun takes: the study's parts, and what is stored of it."""

from itertools import islice

import numpy as np
import pytest

from transformer_lab.attention.record import Head
from transformer_lab.studies.common.grid import hash_setting, load_runs
from transformer_lab.studies.finding_the_noun import pronoun_gender as study
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    are_pronouns_right,
    predict_pronouns,
)
from transformer_lab.studies.finding_the_noun.pronoun_sentences import iterate_pronoun_pairs
from transformer_lab.translator import Translator


def test_one_letter_stands_for_each_pronoun():
    assert study.encode_genders(["il", "elle", "ils", "elles", "ilot", "<eos>"]) == "mfmf--"


def test_a_row_can_be_pointed_at_each_of_the_words():
    pair = next(iterate_pronoun_pairs("because_last"))
    words = [*pair.source_tokens, "<eos>"]
    named = {column: words[study.find_place(pair, column)] for column in study.COLUMNS}
    assert named["eos"] == "<eos>"
    assert named["pronoun"] in ("it", "they")
    assert len({study.find_place(pair, column) for column in study.COLUMNS}) == 5


@pytest.mark.slow
def test_the_shipped_finder_of_nouns_obeys_the_noun_it_is_pointed_at():
    translator = Translator.load(device="cpu")
    pairs = list(islice(iterate_pronoun_pairs("because_last"), 31))
    capture, before = predict_pronouns(translator, pairs)
    assert are_pronouns_right(before, pairs).all()
    finder = Head("encoder", 1, 2)
    for column, changes in (("referent", False), ("other", True)):
        after = study.predict_with_pointed_row(
            translator, pairs, capture, finder, "decider", column
        )
        assert (study.encode_genders(after) != study.encode_genders(before)) == changes


def test_stored_runs_have_a_letter_for_each_sentence_and_word():
    runs = {r["hash"]: r for r in load_runs(study.NAME)}
    assert set(runs) == {hash_setting(setting) for setting in study.GRID}
    for run in runs.values():
        result = run["result"]
        for row in ("it", "decider"):
            shares = np.array(result["pointed"][row])
            assert shares.shape == (run["setting"]["encoder_layers"], 4)
            assert result["heads"][row] == shares.argmax(axis=1).tolist()
            for layer, found in enumerate(result["asked"][row]):
                assert set(found) == set(study.COLUMNS)
                changed = np.array(list(found["other"])) != np.array(list(result["written"]))
                assert changed.mean() == pytest.approx(shares[layer].max(), abs=0.011)
