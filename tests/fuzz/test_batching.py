"""Batches: nothing is lost, no budget is exceeded, padding changes no loss, resuming goes on."""

import itertools
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import make_model
from tests.fuzz.cases import cases
from transformer_lab.data.batching import Batches, Example, buckets, collate, pad, padding_share
from transformer_lab.training.loss import label_smoothed_loss

words = st.integers(3, 22)
examples = st.lists(
    st.builds(
        Example,
        st.lists(words, max_size=9).map(lambda ids: [*ids, 2]),
        st.lists(words, max_size=9).map(lambda ids: [1, *ids, 2]),
    ),
    max_size=12,
)
MODEL = make_model(5)


def counted(groups):
    return Counter((tuple(e.source), tuple(e.target)) for group in groups for e in group)


@cases(0.044)
@given(examples, st.integers(1, 60), st.none() | st.integers(0, 9))
def test_each_example_stands_in_one_batch_within_the_budget(given_, budget, seed):
    longest = max((e.length for e in given_), default=0)
    if longest > budget:
        with pytest.raises(ValueError, match=f"expected at least {longest}"):
            buckets(given_, budget, seed)
        return
    groups = buckets(given_, budget, seed)
    assert counted(groups) == counted([given_])
    for group in groups:
        assert len(group) * max(e.length for e in group) <= budget
    if groups:
        assert 0 <= padding_share(groups) < 1
    assert buckets(given_, budget, seed) == groups


@cases(0.027)
@given(st.lists(st.lists(st.integers(0, 99), max_size=7), max_size=7), st.integers(-1, 99))
def test_padding_stands_behind_each_sentence(sentences, pad_id):
    rows = pad(sentences, pad_id)
    length = max(map(len, sentences), default=0)
    assert rows.shape == (len(sentences), length)
    for row, sentence in zip(rows.tolist(), sentences, strict=True):
        assert row == sentence + [pad_id] * (length - len(sentence))


@cases(0.018)
@given(examples.filter(bool), st.integers(0, 5), st.integers(0, 9))
def test_who_starts_in_the_middle_gets_what_would_have_come(given_, seed, skipped):
    batches = Batches(given_, 40, seed)
    every = list(itertools.islice(batches.iterate_from(0, 0), skipped + 3))
    epoch, index, _ = every[skipped]
    again = itertools.islice(batches.iterate_from(epoch, index), 3)
    for (e, i, one), (f, j, other) in zip(every[skipped:], again, strict=True):
        assert (e, i) == (f, j)
        assert torch.equal(one.source, other.source)
        assert torch.equal(one.target, other.target)


@cases(0.018)
@given(examples.filter(bool))
def test_the_loss_of_a_batch_is_the_mean_over_its_words(given_):
    """Whatever is padded, and whoever is beside whom."""

    def total(batch):
        logits = MODEL(batch.source, batch.target_input)
        count = int((batch.target_output != 0).sum())
        return label_smoothed_loss(logits, batch.target_output, 0.1) * count, count

    together, words_of_all = total(collate(given_))
    apart = [total(collate([example])) for example in given_]
    assert words_of_all == sum(count for _, count in apart)
    torch.testing.assert_close(together, sum(value for value, _ in apart))
