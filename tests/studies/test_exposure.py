"""Exposure bias: what is counted behind an error, beside plain loops over single sentences."""

import pytest
import torch

from transformer_lab.data.world.grammar import world
from transformer_lab.studies.common import store
from transformer_lab.studies.exposure_bias import exposure
from transformer_lab.translator import Translator

PAIRS = world(0, seed=0).test[:23]


@pytest.fixture(scope="module")
def young():
    return Translator.load(weights="step_00200", device="cpu")


def greedy(translator, source, begun, count):
    """The next words of one sentence, one pass for each."""
    model, ids = translator.model, list(begun)
    batch, mask = translator.batch([translator.encode(source)])
    with torch.no_grad():
        while len(ids) < len(begun) + count and (len(ids) == len(begun) or ids[-1] != 2):
            ids.append(int(model(batch, torch.tensor([ids]), mask)[0, -1].argmax()))
    return ids[len(begun) :]


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(exposure.NAME)
    assert [run["setting"] for run in stored["runs"]] == exposure.GRID
    assert stored["command"] == f"python -m {exposure.__name__}"


def test_a_batch_goes_on_as_each_sentence_alone(young):
    begun = [[1], [1, 7, 9], [1, 11]]
    texts = [pair.source for pair in PAIRS[:3]]
    source, _ = young.batch([young.encode(text) for text in texts])
    found = exposure.continue_greedily(young, source, begun, 5)
    assert found == [greedy(young, t, b, 5) for t, b in zip(texts, begun, strict=True)]


def test_words_that_are_lacking():
    assert exposure.missing_share([5, 6, 7, 8], [6, 5, 5]) == 0.5
    assert exposure.missing_share([5, 5], [5]) == 0.5
    assert exposure.missing_share([5], [9, 5]) == 0.0
    assert exposure.missing_share(range(10, 30), range(10, 16)) == 0.0  # the next six are looked at


def test_places_are_those_of_a_plain_loop(young):
    wrong, words = 0, 0
    for pair in PAIRS:
        right = [*young.target_tokenizer.encode(pair.target), 2]
        written = greedy(young, pair.source, [1], len(right))
        first, last = exposure.PLACES[1]
        for at in range(first, min(last + 1, len(right))):
            words += 1
            wrong += at >= len(written) or written[at] != right[at]
    place = exposure.error_rates_by_place(young, PAIRS)[1]
    assert place["words"] == words
    assert place["own"] == pytest.approx(wrong / words, abs=1e-4)
    assert place["gold"] <= place["own"]


def test_before_the_first_error_both_prefixes_are_one(young):
    found = exposure.error_rates_after_error(young, PAIRS)
    exact = [
        t.translation == p.target
        for t, p in zip(young.translate([p.source for p in PAIRS], beam_size=1), PAIRS, strict=True)
    ]
    assert found["right"] == pytest.approx(sum(exact) / len(exact), abs=1e-4)
    assert found["sentences"] <= len(PAIRS)
    assert found["difference"][0] <= found["own"] - found["corrected"] <= found["difference"][1]
