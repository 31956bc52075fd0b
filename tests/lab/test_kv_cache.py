"""The cache as data: what is drawn, what is told, and what cannot be drawn."""

import numpy as np
import pytest

from transformer_lab.lab import kv_cache

RNG = np.random.default_rng(0)
WORDS = ["<bos>", "l'", "animal", "dort", "</script>"]
QUERY, KEY, VALUE = (RNG.standard_normal((5, width)) for width in (3, 3, 2))


def test_the_data_are_what_was_given_and_the_rows_are_counted():
    drawn = kv_cache(WORDS, QUERY, KEY, VALUE)
    assert drawn.data["words"] == WORDS
    for name, given in (("query", QUERY), ("key", KEY), ("value", VALUE)):
        np.testing.assert_allclose(drawn.data[name], given, atol=1e-4)
    assert f"{3 * 5} rows in all" in drawn.alt
    assert f"rows of each: {3 * sum(range(1, 6))}." in drawn.alt


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((WORDS[:1], QUERY[:1], KEY[:1], VALUE[:1]), r"len\(words\).*1; expected at least 2"),
        (
            (WORDS[:4], QUERY, KEY, VALUE),
            r"query has 5 rows; expected 4, one for each word",
        ),
        ((WORDS, QUERY, KEY[:4], VALUE[:4]), r"key has 4 rows; expected 5"),
        ((WORDS, QUERY[:, :2], KEY, VALUE), "key"),
    ],
)
def test_what_does_not_fit_is_named(given, words, as_users_run_it):
    with pytest.raises(ValueError, match=words):
        kv_cache(*given)
