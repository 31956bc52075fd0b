"""Bootstrap intervals of a mean and of a difference of BLEU, beside plain loops."""

import random

import numpy as np
import pytest

from transformer_lab.evaluation.bleu import score
from transformer_lab.studies.common.intervals import (
    bleu_counts,
    bleu_from_counts,
    bleu_gain_interval,
    mean_interval,
)


def test_it_is_that_of_a_plain_loop():
    values = np.random.default_rng(3).exponential(size=61)
    draw = random.Random(5)
    means = sorted(np.mean(draw.choices(values.tolist(), k=61)) for _ in range(4_000))
    low, high = mean_interval(values)
    assert low < values.mean() < high
    assert low == pytest.approx(means[100], abs=0.05)
    assert high == pytest.approx(means[-100], abs=0.05)


def test_another_seed_draws_others_and_equal_values_leave_no_doubt():
    values = np.random.default_rng(7).normal(size=37)
    assert mean_interval(values, seed=0) == mean_interval(values)
    assert mean_interval(values, seed=1) != mean_interval(values)
    assert mean_interval(np.full(11, 0.25)) == (0.25, 0.25)


def invented(seed, count=41):
    """Sentences of a few words that come again and again."""
    draw = random.Random(seed)
    words = "le la chat chien dort mange petit grand ici là".split()
    return [" ".join(draw.choices(words, k=draw.randint(3, 9))) for _ in range(count)]


def changed(sentences, seed, every):
    """The same with the first of every so many sentences' words doubled."""
    return [
        sentence if n % every else f"{sentence.split()[0]} {sentence}"
        for n, sentence in enumerate(sentences, seed)
    ]


def test_counts_of_sentences_give_the_corpus_bleu():
    references = invented(1)
    hypotheses = changed(references, 0, 2)
    counts = bleu_counts(hypotheses, references)
    assert counts.shape == (41, 10)
    assert bleu_from_counts(counts) == pytest.approx(score(hypotheses, references).bleu)
    none = bleu_counts(["x"] * 3, ["y z"] * 3)
    assert bleu_from_counts(none) == pytest.approx(score(["x"] * 3, ["y z"] * 3).bleu)


@pytest.mark.thorough(
    caught_by=["test_it_is_that_of_a_plain_loop", "test_counts_of_sentences_give_the_corpus_bleu"]
)
def test_the_interval_of_a_gain_is_that_of_a_plain_loop():
    references = invented(1)
    base, other = changed(references, 0, 2), changed(references, 0, 5)
    draw = random.Random(3)
    gains = []
    for _ in range(300):
        rows = draw.choices(range(41), k=41)
        one, two = (
            score([system[i] for i in rows], [references[i] for i in rows]).bleu
            for system in (base, other)
        )
        gains.append(two - one)
    gains.sort()
    low, high = bleu_gain_interval(base, other, references)
    assert 0 < low < score(other, references).bleu - score(base, references).bleu < high
    spread = gains[-8] - gains[7]
    assert low == pytest.approx(gains[7], abs=0.2 * spread)
    assert high == pytest.approx(gains[-8], abs=0.2 * spread)


def test_a_system_gains_nothing_over_itself():
    references = invented(1)
    base = changed(references, 0, 3)
    assert bleu_gain_interval(base, base, references) == (0.0, 0.0)
