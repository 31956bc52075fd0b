"""The filter of real text: what it lets pass, and what it counts."""

import pytest

from transformer_lab.data.filtering import filter_pairs, format_filter_counts, rejection_reason
from transformer_lab.data.pair import Pair


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("one", "un", ""),
        ("one " * 250, "un " * 250, ""),
        ("one " * 251, "un " * 250, "with more than 250 words"),
        ("x" * 1_001, "un", "a word of more than 1000 letters"),
        ("one", "un " * 9, ""),
        ("one", "dix " * 10, "with more than 9 times as many words on one side as on the other"),
        ("please enter the name of the file that you want", "ファイルの名前を入力してください", ""),
        ("a b c d e f g h i j", "あいうえおかきくけこ", ""),
    ],
)
def test_what_is_left_out(source, target, reason):
    for pair in (Pair(source, target), Pair(target, source)):
        found = rejection_reason(pair)
        assert reason in found
        assert bool(found) == bool(reason)


def test_each_pair_once_in_order_and_the_rest_is_counted():
    pairs = [Pair("b", "c"), Pair("a", "d"), Pair("b", "c"), Pair("b", "e"), Pair("x", "y " * 30)]
    found, left_out = filter_pairs([*pairs, pairs[0]])
    assert found == [pairs[0], pairs[1], pairs[3]]
    said = (
        "6 pairs; left out: 2 repeated, 1 with more than 9 times as many words on one side as on "
        "the other"
    )
    assert format_filter_counts(6, left_out) == said
    assert format_filter_counts(1_000, left_out - left_out) == "1,000 pairs"
