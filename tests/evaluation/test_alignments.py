"""Word alignment without gold links."""

import pytest

from transformer_lab.evaluation.alignments import align_words

DATES = [
    ("March 27 , 2000".split(), "2000 - 03 - 27".split()),
    ("March 5 , 1961".split(), "1961 - 03 - 05".split()),
    ("May 12 , 1987".split(), "1987 - 05 - 12".split()),
]


@pytest.mark.parametrize(("alike", "moved"), [(1.0, False), (100.0, True)])
def test_a_word_that_is_spelled_alike_is_found_far_from_the_diagonal(alike, moved):
    """The year stands last in the source and first in the target."""
    links = align_words(DATES, alike)
    assert all(((3, 0) in found) == moved for found in links)
