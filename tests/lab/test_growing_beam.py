"""The growing beam as data: columns by length, and a title that the numbers decide."""

import pytest

from transformer_lab.lab import growing_beam

# <bos> → a, b; a → c, d; b → e; d → <eos>
PARENTS = [None, 0, 0, 1, 1, 2, 4]
WORDS = ["<bos>", "a", "b", "c", "$d$", "parce qu'elle", "<eos>"]
VALUES = [0.0, -0.5, -1.25, -3.0, -2.0, -1.5, -2.25]
KEPT = {0, 1, 2, 4, 5, 6}
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
    assert "6 beginnings were considered, 5 kept" in drawn.alt
    values = [*VALUES[:4], -1.4, *VALUES[5:]]
    ahead = growing_beam(**{**GIVEN, "log_probabilities": values})
    assert "The best beginning leads from start to end" in ahead.alt


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"winner": 3}, "winner is 3; expected a node that is kept: 0, 1, 2"),
        ({"winner": 9}, "winner is 9"),
        ({"parents": []}, r"len\(parents\) is 0; expected at least 1"),
        ({"parents": [0, *PARENTS[1:]]}, r"parents\[0\] is 0; expected None"),
        ({"parents": [*PARENTS[:5], 5, 4]}, r"parents\[5\] is 5; expected the index of an earlier"),
        ({"parents": [*PARENTS[:5], None, 4]}, r"parents\[5\] is None"),
        ({"words": WORDS[:4]}, r"len\(words\) is 4; expected 7"),
        ({"log_probabilities": VALUES[1:]}, r"len\(log_probabilities\) is 6"),
        ({"kept": {0, 6, 7}}, "kept contains 7; expected nodes from 0 to 6"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        growing_beam(**GIVEN | changes)
