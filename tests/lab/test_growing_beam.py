"""The growing beam as data: columns by length, and a title that the numbers decide."""

import pytest

from tests.figures.test_beam_tree import KEPT, PARENTS, VALUES, WORDS
from transformer_lab.lab import growing_beam

GIVEN = {"parents": PARENTS, "words": WORDS, "log_probabilities": VALUES, "kept": KEPT, "winner": 6}


def test_columns_hold_the_beginnings_of_one_length():
    drawn = growing_beam(**GIVEN)
    assert drawn.data["columns"] == [[0], [1, 2], [4, 3, 5], [6]]
    assert drawn.data["kept"] == sorted(KEPT)
    assert drawn.data["values"] == VALUES


def test_the_words_say_whether_the_winner_was_ever_behind():
    # Of two words, e after b has more than d after a, which wins as it alone is finished.
    drawn = growing_beam(**GIVEN)
    assert (
        "“$d$” is behind at first and wins in the end: “a $d$ <eos>”, with -2.25 nats" in drawn.alt
    )
    assert "6 beginnings were looked at, 5 kept" in drawn.alt
    values = [*VALUES[:4], -1.4, *VALUES[5:]]
    ahead = growing_beam(**{**GIVEN, "log_probabilities": values})
    assert "The best beginning stays the best" in ahead.alt


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"winner": 3}, "winner is 3; expected one of those kept"),
        ({"winner": 9}, "winner is 9"),
        ({"words": WORDS[:4]}, r"len\(words\) is 4; expected 7"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        growing_beam(**GIVEN | changes)
