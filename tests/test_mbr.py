"""Choice by agreement: beside loops over all pairs, and over the whole distribution of a tiny model."""

import collections
import itertools
import random

import pytest
import torch

from tests.conftest import make_model
from transformer_lab.decoding import mean_utilities, minimum_bayes_risk, sample
from transformer_lab.evaluation.bleu import sentence_chrf
from transformer_lab.model.masks import padding_mask

WORDS, EOS = 5, 2


@pytest.fixture
def tiny():
    """A model over five words, and two sources of unequal length."""
    model = make_model(seed=3, target_vocab_size=WORDS, d_model=12, tie_target_output=False)
    with torch.no_grad():
        model.output.weight *= 3
    return model, torch.tensor([[5, 9, 11, 7, 13, 6, 2], [8, 21, 4, 2, 0, 0, 0]])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def overlap(one, other):
    """Not symmetric: the share of the other's words that the one has."""
    return len(set(one) & set(other)) / max(1, len(set(other)))


def without_eos(hypothesis):
    return tuple(i for i in hypothesis.ids if i != EOS)


def by_brute_force(candidates, utility):
    return [
        sum(utility(one, other) for j, other in enumerate(candidates) if j != i)
        / (len(candidates) - 1)
        for i, one in enumerate(candidates)
    ]


def test_mean_utilities_are_those_of_a_loop_over_all_pairs():
    draw = random.Random(5)
    for count in (2, 3, 7, 19):
        candidates = [tuple(draw.choices(range(4), k=draw.randint(1, 3))) for _ in range(count)]
        found = mean_utilities(candidates, overlap)
        assert found == pytest.approx(by_brute_force(candidates, overlap))


def test_each_pair_of_different_candidates_is_scored_once():
    asked = collections.Counter()

    def utility(one, other):
        asked[one, other] += 1
        return 1.0

    assert mean_utilities("abacab", utility) == [1.0] * 6
    assert set(asked) == set(itertools.product("abc", repeat=2))
    assert set(asked.values()) == {1}


def test_the_candidate_that_the_others_agree_with_wins_though_nobody_drew_it_twice():
    texts = ["le chat dort ici", "le chat dort là", "le chien mange du pain", "le chat dort"]
    means = mean_utilities(texts, sentence_chrf)
    assert texts[means.index(max(means))] == "le chat dort ici"
    assert min(means) == means[2]


def test_what_was_drawn_twice_counts_twice():
    def same(one, other):
        return float(one == other)

    assert mean_utilities(["a", "b", "b"], same) == [0.0, 0.5, 0.5]
    assert mean_utilities(["a", "a", "b", "b", "b"], same) == [0.25, 0.25, 0.5, 0.5, 0.5]


def test_of_one_candidate_the_utility_is_0_and_of_none_there_is_none():
    assert mean_utilities(["a"], sentence_chrf) == [0.0]
    assert mean_utilities([], sentence_chrf) == []


@pytest.mark.parametrize("masked", [True, False])
def test_it_chooses_among_the_samples_of_each_row(tiny, masked):
    model, source = tiny
    mask = padding_mask(source, 0) if masked else None
    settings = {"max_length": 5, "temperature": 0.7, "top_p": 0.9}
    count = 7
    found = minimum_bayes_risk(
        model,
        source,
        mask,
        utility=overlap,
        generator=seeded(),
        candidates=count,
        **settings,
    )
    repeated = source.repeat_interleave(count, dim=0)
    drawn = sample(model, repeated, generator=seeded(), **settings)
    for row, chosen in enumerate(found):
        group = drawn[row * count : (row + 1) * count]
        means = by_brute_force([without_eos(h) for h in group], overlap)
        best = means.index(max(means))  # of equals the first
        assert chosen.ids == group[best].ids
        assert chosen.log_probability == group[best].log_probability
        assert chosen.score == pytest.approx(means[best])


def test_what_is_not_said_is_sixteen_plain_samples(tiny):
    model, source = tiny
    plain = minimum_bayes_risk(
        model, source, utility=overlap, generator=seeded(), candidates=16, temperature=1.0
    )
    assert minimum_bayes_risk(model, source, utility=overlap, generator=seeded()) == plain


def test_of_equals_the_first_that_was_drawn_is_kept(tiny):
    model, source = tiny
    found = minimum_bayes_risk(
        model,
        source,
        utility=lambda one, other: 0.5,
        generator=seeded(7),
        candidates=11,
        max_length=5,
    )
    drawn = sample(model, source.repeat_interleave(11, dim=0), generator=seeded(7), max_length=5)
    assert [h.ids for h in found] == [drawn[0].ids, drawn[11].ids]


def test_of_one_candidate_the_sample_is_returned(tiny):
    model, source = tiny
    found = minimum_bayes_risk(
        model, source, utility=overlap, generator=seeded(3), candidates=1, max_length=5
    )
    drawn = sample(model, source, generator=seeded(3), max_length=5)
    assert [h.ids for h in found] == [h.ids for h in drawn]
    assert [h.score for h in found] == [0.0, 0.0]


@pytest.mark.thorough(
    caught_by=[
        "test_it_chooses_among_the_samples_of_each_row",
        "test_mean_utilities_are_those_of_a_loop_over_all_pairs",
        "test_what_was_drawn_twice_counts_twice",
    ]
)
@pytest.mark.slow
def test_with_many_samples_it_is_the_best_choice_under_the_whole_distribution(tiny):
    model, source = tiny
    row, limit = source[:1], 3
    others = [w for w in range(WORDS) if w != EOS]
    whole = [(*w, EOS) for n in range(limit) for w in itertools.product(others, repeat=n)]
    whole += itertools.product(others, repeat=limit)
    shares = {}
    for ids in whole:
        target = torch.tensor([[1, *ids]])
        with torch.no_grad():
            logits = model(row, target[:, :-1])[0].log_softmax(-1)
        words = tuple(i for i in ids if i != EOS)
        share = logits[range(len(ids)), list(ids)].sum().exp().item()
        shares[words] = shares.get(words, 0.0) + share
    assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
    expected = {one: sum(p * overlap(one, other) for other, p in shares.items()) for one in shares}
    (found,) = minimum_bayes_risk(
        model, row, utility=overlap, generator=seeded(), candidates=4_001, max_length=limit
    )
    drawn = sample(model, row.repeat_interleave(4_001, dim=0), generator=seeded(), max_length=limit)
    best = max(expected[without_eos(h)] for h in drawn)
    assert expected[without_eos(found)] >= best - 0.02
    assert found.score == pytest.approx(expected[without_eos(found)], abs=0.03)


@pytest.mark.parametrize("count", [0, -1, 2.5, "4", True])
def test_a_number_of_candidates_that_is_none_is_named(as_users_run_it, count):
    with pytest.raises(ValueError, match="candidates is .*; expected an integer of at least 1"):
        minimum_bayes_risk(
            make_model(),
            torch.tensor([[5, 9, 2]]),
            utility=overlap,
            generator=seeded(),
            candidates=count,
        )
