"""Turning positions as data: what is drawn and told, and what cannot be drawn."""

import numpy as np
import pytest

from transformer_lab.lab import clock_positions, turning_arrows
from transformer_lab.numpy_reference import sinusoidal_positions

QUERY, KEY = np.random.default_rng(0).standard_normal((2, 14))
WORDS = ["the", "cat", "</script>", "sat", "down"]


def test_the_clocks_told_are_the_papers_hands():
    drawn = clock_positions(34, pairs=(0, 3))
    angle = np.arctan2(*sinusoidal_positions(2, 34)[1, 6:8])
    assert f"pair 3 by {angle:.3f}" in drawn.alt
    assert (drawn.data["pairs"], drawn.data["clocks"]) == (17, [0, 3])


def test_the_arrows_data_are_what_was_given():
    drawn = turning_arrows(QUERY, KEY, words=WORDS, num_heads=4)
    np.testing.assert_allclose(drawn.data["query"], QUERY, atol=1e-5)
    np.testing.assert_allclose(drawn.data["key"], KEY, atol=1e-5)
    assert (drawn.data["words"], drawn.data["heads"]) == (WORDS, 4)
    assert f"slopes from {2**-2} to {2**-8:.4g}" in drawn.alt


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 7}, "width is 7; expected an even number"),
        ({"pairs": ()}, r"len\(pairs\) is 0; expected at least 1"),
        ({"pairs": (0, 4)}, r"pairs\[1\] is 4; expected 0 to 3"),
    ],
)
def test_clocks_that_are_not_there_are_named(changes, words):
    with pytest.raises(ValueError, match=words):
        clock_positions(**{"width": 8} | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": QUERY[:3]}, r"len\(query\) is 3; expected an even number"),
        ({"key": KEY[:6]}, r"len\(key\) is 6; expected 14"),
        ({"words": WORDS[:1]}, r"len\(words\) is 1; expected 2 to 12"),
        ({"num_heads": 0}, "num_heads is 0; expected 1 to 16"),
    ],
)
def test_what_cannot_be_turned_is_named(changes, words, as_users_run_it):
    with pytest.raises(ValueError, match=words):
        turning_arrows(**{"query": QUERY, "key": KEY, "words": WORDS} | changes)
