"""Splits: they share nothing, depend on names and seed alone, and keep near copies out."""

import itertools
import random

import pytest

from tests.data.test_corpora import assert_disjoint, sources
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import (
    NEAR,
    digits_matter,
    most_differ_in_digits,
    remove_near_copies,
    split_groups,
    split_pairs,
)


def numbered(count: int) -> list[Pair]:
    names = itertools.islice(itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst"), count)
    return [Pair(f"{a}{b}{c} sleeps", f"{a}{b}{c} dort") for a, b, c in names]


def test_splits_hold_every_pair_once_and_share_no_source():
    pairs = numbered(200)
    variants = [Pair(p.source.upper().replace(" ", "  "), p.target + " bien") for p in pairs]
    splits = split_pairs([*pairs, *variants, *pairs])
    together = [*splits.train, *splits.validation, *splits.test]
    assert sorted(together, key=str) == sorted([*pairs, *variants], key=str)
    assert_disjoint(splits)
    assert len(sources(splits.validation)) == len(sources(splits.test)) == 10


def test_sizes_of_splits_are_as_asked():
    splits = split_pairs(numbered(50), validation=7, test=11)
    assert [len(s) for s in (splits.train, splits.validation, splits.test)] == [32, 7, 11]
    assert split_pairs(numbered(3), validation=0, test=0).train


def test_held_out_are_at_most_a_thousand_unless_asked():
    names = itertools.islice(itertools.permutations("abcdefghijklmnop", 4), 22_000)
    splits = split_pairs([Pair("".join(name), "…") for name in names])
    assert len(splits.validation) == len(splits.test) == 1000


def test_splits_depend_on_the_seed_and_not_on_the_order():
    pairs = numbered(200)
    shuffled = random.Random(0).sample(pairs, len(pairs))
    assert split_pairs(pairs, seed=3) == split_pairs(shuffled, seed=3)
    assert sources(split_pairs(pairs, seed=3).test) != sources(split_pairs(pairs, seed=4).test)


def test_digits_matter_if_fewer_than_half_of_the_sources_remain_without_them():
    words = [Pair(word, "…") for word in ("one", "two", "three")]
    numbers = [Pair(str(number), "…") for number in range(6)]
    assert not digits_matter([*words, *numbers[:5]])  # 4 of 8 remain
    assert digits_matter([*words, *numbers])  # 4 of 9
    assert most_differ_in_digits(4, 9)
    assert not most_differ_in_digits(4, 8)


def test_the_split_is_the_same_on_every_machine():
    assert sources(split_pairs(numbered(40)).test) == {"bab sleeps", "bip sleeps"}


@pytest.mark.parametrize(
    ("count", "sizes", "expected"),
    [
        (2, {}, "expected at least 3"),
        (0, {}, "expected at least 3"),
        (10, {"validation": 5, "test": 5}, "expected at least 11"),
    ],
)
def test_too_few_pairs_are_an_error_that_says_how_many_are_needed(count, sizes, expected):
    with pytest.raises(ValueError, match=rf"^the corpus has {count} distinct source.*{expected}"):
        split_pairs(numbered(count), **sizes)


def test_a_group_is_not_divided_and_what_two_groups_have_is_not_held_out():
    rows = [(pair.source[:2], pair) for pair in numbered(700)]
    common = Pair("Here they all sleep.", "…")
    rows += [(group, common) for group in {group for group, _ in rows}]
    splits = split_groups(rows, 0, 120, 120)
    assert_disjoint(splits)
    assert common in splits.train
    parts = [{p.source[:2] for p in s} for s in (splits.train, splits.validation, splits.test)]
    for one, other in itertools.combinations(parts, 2):
        assert not one & other


def test_a_large_group_is_not_held_out():
    large = [("large", pair) for pair in numbered(300)[:100]]
    small = [(pair.source, pair) for pair in numbered(300)[100:]]
    for seed in range(5):
        splits = split_groups([*large, *small], seed, 100, 100)
        assert {pair for _, pair in large} <= set(splits.train)
        assert len(splits.validation) == len(splits.test) == 100


def test_a_negative_size_is_an_error():
    with pytest.raises(ValueError, match="test is -1"):
        split_pairs(numbered(10), test=-1)


def test_near_copies_are_those_that_share_most_words():
    train = [Pair("the small cat sleeps in the old house today", "…"), Pair("it sings", "…")]
    near, far = Pair("The small cat sleeps in the new house, today!", "…"), Pair("a dog barks", "…")
    half = Pair("the small cat barks at an old dog today", "…")
    splits = remove_near_copies(Splits(train, [near, far], [far, half, near]))
    assert splits == Splits(train, [far], [far, half])


def test_near_copies_are_found_as_by_comparing_all(monkeypatch):
    draw = random.Random(5)
    pairs = [
        Pair(" ".join(draw.choices("abcdefgh", k=draw.randint(1, 9))), "…") for _ in range(400)
    ]
    train, held = pairs[:100], pairs[100:]

    def share(one: Pair, other: Pair) -> float:
        a, b = set(one.source.split()), set(other.source.split())
        return len(a & b) / len(a | b)

    expected = [pair for pair in held if max(share(pair, t) for t in train) <= NEAR]
    assert 0 < len(expected) < len(held)
    assert remove_near_copies(Splits(train, held, [])).validation == expected
