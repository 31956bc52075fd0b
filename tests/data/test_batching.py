"""Batches: nothing lost, nothing over budget, little padding, the same again for a seed."""

import random
from itertools import islice

import pytest
import torch

from transformer_lab.data.batching import (
    Batches,
    Example,
    buckets,
    collate,
    encode_pairs,
    padding_share,
)
from transformer_lab.data.pair import Pair
from transformer_lab.data.tokenizer import WordTokenizer


def examples(count=307):
    rng = random.Random(0)
    found = []
    for _ in range(count):
        words = rng.randint(1, 19)
        # A translation is about as long as its source.
        found.append(Example([4] * words + [2], [1] + [5] * (words + rng.randint(0, 4)) + [2]))
    return found


def flat(groups):
    return sorted((tuple(e.source), tuple(e.target)) for group in groups for e in group)


@pytest.mark.parametrize("seed", [None, 3])
def test_every_example_is_in_one_group_within_the_budget(seed):
    given = examples()
    groups = buckets(given, 101, seed)
    assert flat(groups) == flat([given])
    for group in groups:
        assert len(group) * max(e.length for e in group) <= 101


def test_buckets_waste_little_and_shuffled_batches_much():
    given = examples()
    careless = [given[i : i + 16] for i in range(0, len(given), 16)]
    assert padding_share(buckets(given, 400, seed=1)) < 0.5 * padding_share(careless)


def test_epochs_differ_and_repeat_for_a_seed():
    one, again = Batches(examples(), 101, seed=5), Batches(examples(), 101, seed=5)
    other = Batches(examples(), 101, seed=6)
    assert one.epoch(0) == again.epoch(0)
    assert one.epoch(0) != one.epoch(1)
    assert one.epoch(0) != other.epoch(0)
    assert flat(one.epoch(0)) == flat(one.epoch(1))


def test_batches_go_on_from_any_place():
    batches = Batches(examples(), 301)
    size = len(batches.epoch(0))
    start = list(islice(batches.iterate_from(0, 0), size + 3))
    rest = list(islice(batches.iterate_from(0, size - 2), 5))
    assert [(e, i) for e, i, _ in rest] == [(0, size - 2), (0, size - 1), (1, 0), (1, 1), (1, 2)]
    for (_, _, one), (_, _, other) in zip(start[size - 2 :], rest, strict=True):
        assert torch.equal(one.source, other.source)


def test_a_batch_is_padded_on_the_right_and_shifted_by_one():
    batch = collate([Example([7, 8, 2], [1, 9, 2]), Example([6, 2], [1, 5, 4, 3, 2])])
    assert batch.source.tolist() == [[7, 8, 2], [6, 2, 0]]
    assert batch.target_input.tolist() == [[1, 9, 2, 0], [1, 5, 4, 3]]
    assert batch.target_output.tolist() == [[9, 2, 0, 0], [5, 4, 3, 2]]


def test_sources_end_with_eos_and_targets_have_both_ends():
    tokenizer = WordTokenizer(["a", "b"])
    (example,) = encode_pairs([Pair("a b", "b")], tokenizer, tokenizer)
    assert example == Example([4, 5, 2], [1, 5, 2])


def test_an_example_over_the_budget_is_an_error():
    with pytest.raises(ValueError, match="batch_tokens is 7; expected at least 25"):
        buckets(examples(), 7)


def test_no_examples_is_an_error():
    with pytest.raises(ValueError, match="`examples` is empty"):
        Batches([], 101)
