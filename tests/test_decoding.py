"""Search against brute force, greedy against beam 1, and scores against the model's own."""

import itertools
import math
import sys

import pytest
import torch

from tests.conftest import make_model
from transformer_lab.decoding import beam_search, greedy, length_penalty
from transformer_lab.model.cache import decode_step
from transformer_lab.model.masks import padding_mask

WORDS, EOS = 5, 2


@pytest.fixture
def tiny():
    """A model over five words, with sharp opinions, and two sources of unequal length."""
    model = make_model(seed=3, target_vocab_size=WORDS, d_model=12, tie_target_output=False)
    with torch.no_grad():
        model.output.weight *= 3
    source = torch.tensor([[5, 9, 11, 7, 13, 6, 2], [8, 21, 4, 2, 0, 0, 0]])
    return model, source


def log_probability(model, source, ids):
    """One parallel pass over a whole hypothesis, without any cache."""
    target = torch.tensor([[1, *ids]])
    logits = model(source, target[:, :-1])[0].log_softmax(-1)
    return logits[range(len(ids)), list(ids)].sum().item()


def all_hypotheses(limit):
    """Every sentence that ends with eos within the limit, and every one cut there."""
    others = [w for w in range(WORDS) if w != EOS]
    for length in range(1, limit + 1):
        for words in itertools.product(others, repeat=length - 1):
            yield (*words, EOS)
    yield from itertools.product(others, repeat=limit)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.7])
def test_a_wide_beam_finds_the_best_of_all_sentences(tiny, alpha):
    model, source = tiny
    limit = 4
    for row in source:
        row = row[row != 0][None]
        scored = {
            ids: log_probability(model, row, ids) / length_penalty(len(ids), alpha)
            for ids in all_hypotheses(limit)
        }
        best = max(scored, key=scored.__getitem__)
        beam = beam_search(model, row, beam_size=WORDS**limit, alpha=alpha, max_length=limit)[0]
        assert beam[0].ids == best
        assert beam[0].score == pytest.approx(scored[best], abs=1e-6)


def test_beam_of_one_is_greedy(tiny):
    model, source = tiny
    for seed in range(5):
        model = make_model(seed=seed)
        one = beam_search(model, source, beam_size=1, max_length=11)
        for beam, hypothesis in zip(one, greedy(model, source, max_length=11), strict=True):
            assert beam[0].ids == hypothesis.ids
            assert beam[0].log_probability == pytest.approx(hypothesis.log_probability, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_scores_are_the_models_own(tiny, alpha):
    model, source = tiny
    beams = beam_search(model, source, beam_size=4, alpha=alpha, max_length=7)
    for row, beam in zip(source, beams, strict=True):
        assert 1 <= len(beam) <= 4
        assert [h.score for h in beam] == sorted((h.score for h in beam), reverse=True)
        for h in beam:
            assert h.log_probability == pytest.approx(
                log_probability(model, row[None], h.ids), abs=1e-5
            )
            assert h.score == pytest.approx(h.log_probability / length_penalty(len(h.ids), alpha))


def test_a_sentence_decodes_the_same_alone_and_in_a_batch(tiny):
    model, source = tiny
    beams = beam_search(model, source, beam_size=3, max_length=7)
    words = greedy(model, source, max_length=7)
    for number, row in enumerate(source):
        alone = row[row != 0][None]
        assert (
            beam_search(model, alone, beam_size=3, max_length=7)[0][0].ids == beams[number][0].ids
        )
        assert greedy(model, alone, max_length=7)[0].ids == words[number].ids


def test_greedy_takes_the_most_probable_word_of_an_uncached_pass(tiny):
    model, source = tiny
    ids = [1]
    for word in greedy(model, source[:1], max_length=7)[0].ids:
        logits = model(source[:1], torch.tensor([ids]))[0, -1]
        assert word == int(logits.argmax())
        ids.append(word)


def test_finished_sentences_leave_the_batch(tiny, monkeypatch):
    model, source = tiny
    rows = []

    def counting(model, last, cache):
        rows.append(len(last))
        return decode_step(model, last, cache)

    module = sys.modules[greedy.__module__]  # the package names its function, not its file
    monkeypatch.setattr(module, "decode_step", counting)
    lengths = [len(h.ids) for h in greedy(model, source.repeat(3, 1), max_length=9)]
    expected = [sum(n >= step for n in lengths) for step in range(1, max(lengths) + 1)]
    assert rows == expected


def test_length_penalty_is_the_papers():
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(13, 0.6) == pytest.approx(3**0.6)
    assert length_penalty(13, 0.0) == 1


def test_a_larger_alpha_never_shortens_the_best_sentence():
    for seed in range(4):
        model = make_model(seed=seed, target_vocab_size=WORDS, tie_target_output=False)
        source = torch.tensor([[5, 9, 11, 2]])
        lengths = [
            len(beam_search(model, source, beam_size=WORDS**4, alpha=a, max_length=4)[0][0].ids)
            for a in (0.0, 0.6, 2.0)
        ]
        assert lengths == sorted(lengths)


def test_the_limit_cuts_and_the_default_is_fifty_more_than_the_source():
    model = make_model(target_vocab_size=WORDS, tie_target_output=False)
    with torch.no_grad():
        model.output.bias[EOS] = -1e4
    source = torch.tensor([[5, 9, 2]])
    assert len(greedy(model, source)[0].ids) == 53
    assert len(greedy(model, source, max_length=7)[0].ids) == 7
    assert len(beam_search(model, source, beam_size=2, max_length=7)[0][0].ids) == 7


def test_a_mask_of_its_own_replaces_the_one_from_ids(tiny):
    model, source = tiny
    seen = padding_mask(source, 0)
    assert greedy(model, source, seen, max_length=7) == greedy(model, source, max_length=7)
    hidden = seen.clone()
    hidden[..., 1:] = False
    assert greedy(model, source, hidden, max_length=7) != greedy(model, source, max_length=7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"beam_size": 0}, "beam_size is 0"), ({"alpha": -0.5}, "alpha is -0.5")],
)
def test_bad_arguments_are_named(tiny, arguments, message):
    with pytest.raises(ValueError, match=message):
        beam_search(*tiny, **arguments)


def test_no_hypothesis_scores_above_zero(tiny):
    model, source = tiny
    scores = [h.score for beam in beam_search(model, source, max_length=7) for h in beam]
    assert all(-math.inf < s <= 0 for s in scores)
