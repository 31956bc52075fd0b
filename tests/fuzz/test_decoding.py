"""Decoding: with a cache as without, alone as in a batch, greedy by every way; odd limits are named."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, models, odd, sources, tried
from transformer_lab.decoding import (
    beam_search,
    greedy,
    keep_top_k,
    keep_top_p,
    length_penalty,
    sample,
    speculative_greedy,
)

LIMIT = 6


@torch.no_grad()
def log_probability(model, row, ids) -> float:
    """Of a whole translation, in one pass without a cache."""
    target = torch.tensor([[model.config.bos_id, *ids]])
    logits = model(row, target[:, :-1])[0].log_softmax(dim=-1)
    return float(logits[range(len(ids)), list(ids)].sum())


@st.composite
def questions(draw):
    model = draw(models())
    return model, draw(sources(model))


@cases(0.071)
@given(questions())
def test_greedy_is_the_best_word_of_a_pass_without_a_cache(asked):
    model, source = asked
    for row, found in zip(source, greedy(model, source, max_length=LIMIT), strict=True):
        alone = row[row != model.config.pad_id][None]
        words = []
        while len(words) < LIMIT and model.config.eos_id not in words:
            target = torch.tensor([[model.config.bos_id, *words]])
            words.append(int(model(alone, target)[0, -1].argmax()))
        assert list(found.ids) == words
        assert found.log_probability == pytest.approx(
            log_probability(model, alone, words), abs=1e-5
        )


@cases(0.071)
@given(questions(), st.integers(1, 5), st.sampled_from([0.0, 0.6, 1.5]), st.booleans())
def test_a_beam_scores_what_it_finds_and_finds_it_alone_too(asked, size, alpha, narrow):
    model, source = asked
    asks = {"beam_size": size, "alpha": alpha, "max_length": LIMIT, "narrow": narrow}
    every = beam_search(model, source, n_best=size, **asks)
    for row, found in zip(source, every, strict=True):
        alone = row[row != model.config.pad_id][None]
        assert 1 <= len(found) <= size
        assert len({h.ids for h in found}) == len(found)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        for one in found:
            value = log_probability(model, alone, one.ids)
            assert one.log_probability == pytest.approx(value, abs=1e-4)
            assert one.score == pytest.approx(value / length_penalty(len(one.ids), alpha), abs=1e-4)
        (by_itself,) = beam_search(model, alone, n_best=size, **asks)
        assert [h.ids for h in by_itself] == [h.ids for h in found]


@cases(0.035)
@given(questions(), st.integers(1, 5), models())
def test_a_beam_of_one_and_a_draft_write_what_greedy_writes(asked, ahead, other):
    model, source = asked
    first = source[:1]
    (wanted,) = greedy(model, first, max_length=LIMIT)
    ((beam,),) = beam_search(model, first, beam_size=1, max_length=LIMIT)
    assert beam.ids == wanted.ids
    found, passes = speculative_greedy(model, model, first, ahead=ahead, max_length=LIMIT)
    assert found.ids == wanted.ids
    assert passes <= len(wanted.ids)
    special = [(m.config.bos_id, m.config.eos_id) for m in (model, other)]
    if special[0] == special[1]:
        found, _ = speculative_greedy(model, other, first, ahead=ahead, max_length=LIMIT)
        assert found.ids == wanted.ids
    else:
        with pytest.raises(ValueError, match="of model and draft is .*; expected two equal values"):
            speculative_greedy(model, other, first, ahead=ahead)


@cases(0.035)
@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=9), st.floats(0.01, 1.0), st.integers(1, 12)
)
def test_what_stays_is_the_best_and_no_more_than_is_needed(row, p, k):
    logits = torch.tensor([row], dtype=torch.float64)
    kept = keep_top_p(logits, p)[0]
    stays = kept.isfinite()
    assert torch.equal(kept[stays], logits[0][stays])
    probabilities = logits[0].softmax(dim=0)
    assert probabilities[stays].sum() >= p * (1 - 2e-6)
    assert stays[logits[0] > kept[stays].min()].all()
    if stays.sum() > 1 and p < 1:
        assert probabilities[stays].sum() - probabilities[stays].min() < p
    few = keep_top_k(logits, k)[0].isfinite()
    assert few.sum() == min(k, len(row))
    assert logits[0][few].min() >= logits[0][~few].max() if (~few).any() else True


@cases(0.044)
@given(questions(), st.sampled_from(["beam_size", "n_best", "alpha", "max_length"]), odd)
def test_what_no_beam_can_be_is_named(asked, name, value):
    model, source = asked
    # Who asks for a million words of a model that never ends gets them, one after the other.
    assume(name != "max_length" or not isinstance(value, int) or value < 40)
    found, said = tried(beam_search, model, source, **{"max_length": 3, name: value})
    if said:
        assert name in said or "beam_size" in said
        return
    assert len(found) == len(source)
    assert all(math.isfinite(h.score) for hypotheses in found for h in hypotheses)


@cases(0.027)
@given(questions(), st.sampled_from(["temperature", "top_k", "top_p"]), odd)
def test_what_no_draw_can_be_is_named(asked, name, value):
    model, source = asked
    generator = torch.Generator().manual_seed(0)
    asks = {"generator": generator, "max_length": 3, name: value}
    found, said = tried(sample, model, source, **asks)
    if said:
        assert name.removeprefix("top_") in said
        return
    assert all(0 <= word < 7 for h in found for word in h.ids)
