"""What the study of lesson 10c chooses and counts, beside plain loops."""

import numpy as np
import pytest

from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.bleu import exact_match, score, sentence_chrf
from transformer_lab.studies.common import store
from transformer_lab.studies.minimum_bayes_risk import mbr
from transformer_lab.translator import Translator

TEXTS = [
    "le petit chat dort", "le petit chat dort.", "la", "", "là", "le chien mange du pain, là-bas",
    "le chat le chat le chat le chat", "chat",
]  # fmt: skip


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(mbr.NAME)
    assert [run["setting"] for run in stored["runs"]] == mbr.GRID
    assert stored["command"] == f"python -m {mbr.__name__}"


def test_the_table_is_sentence_chrf_of_each_pair():
    expected = [[sentence_chrf(one, other) for other in TEXTS] for one in TEXTS]
    np.testing.assert_allclose(mbr.chrf_table(TEXTS), expected, atol=1e-9)


def test_the_first_samples_agree_without_those_that_come_later():
    texts = ["le chat", "le chat dort", "un chien", "le chat dort là"]
    texts += ["un chien mange"] * 12 + ["la grange"] * 48
    found = mbr.choose_by_agreement(texts)
    assert found[16] == "un chien mange"
    assert found[64] == "la grange"
    means = [np.mean([sentence_chrf(o, t) for t in texts[:4] if t != o]) for o in texts[:4]]
    assert found[4] == texts[int(np.argmax(means))]
    assert found[4].startswith("le chat")


@pytest.mark.thorough(
    caught_by=[
        "test_the_first_samples_agree_without_those_that_come_later",
        "test_the_table_is_sentence_chrf_of_each_pair",
    ]
)
def test_scores_are_those_of_the_translations_themselves():
    young = Translator.load(weights="step_00200", device="cpu")
    pairs = world(0, seed=0).test[:7]
    found = mbr.compare_decoders(young, pairs, None, [0, 3])
    sources, references = [p.source for p in pairs], [p.target for p in pairs]
    beam = [t.translation for t in young.translate(sources, beam_size=4)]
    assert found["beam 4"]["bleu"] == [round(score(beam, references).bleu, 2)]
    assert found["beam 4"]["exact"] == [round(exact_match(beam, references), 4)]
    assert found["beam 4"]["chrf gain"] == [0.0, 0.0]
    assert found["beam 4"]["chrf"] == pytest.approx(
        np.mean([sentence_chrf(t, r) for t, r in zip(beam, references, strict=True)]), abs=0.01
    )
    assert list(found) == ["greedy", "beam 4", "1 sample", "MBR 4", "MBR 16", "MBR 64"]
    for count in (4, 16, 64):
        assert len(found[f"MBR {count}"]["bleu"]) == 2
        low, high = found[f"MBR {count}"]["chrf gain"]
        gain = found[f"MBR {count}"]["chrf"] - found["beam 4"]["chrf"]
        assert low - 0.01 <= gain <= high + 0.01
