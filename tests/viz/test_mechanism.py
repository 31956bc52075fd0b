"""Drawings of mechanism: data, still picture, words and errors."""

import pytest

from tests.drawings import DRAWINGS, slabs_arguments
from transformer_lab.viz import heads_as_slabs
from transformer_lab.viz.page import saved
from transformer_lab.viz.page.drawing import fragment
from transformer_lab.viz.style import SCREEN_DPI


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_small_and_its_still_picture_fits_a_page(name):
    drawing = DRAWINGS[name]()
    assert drawing.kind == name
    assert len(fragment(drawing.kind, "", saved.packed(drawing.data)).encode()) <= 60_000
    assert drawing.still.get_figwidth() * SCREEN_DPI <= 750
    assert drawing._repr_mimebundle_()[0]["text/plain"] == drawing.alt


def test_slabs_say_whose_numbers_a_reshape_alone_gives_head_0():
    drawing = heads_as_slabs(*slabs_arguments(), words=["a", "b", "c", "d", "e"])
    # Head 0 gets the first 5 · 2 of the numbers, and a word has 6.
    assert "A reshape alone gives head 0 numbers of a and b only" in drawing.alt
    assert "6 columns of Q are cut into 3 heads of 2" in drawing.alt


@pytest.mark.parametrize(
    ("place", "change", "message"),
    [
        (1, lambda a: a[:, :-1], r"shape of query is \(3, 6, 2\); expected \(3, 7, 2\)"),
        (2, lambda a: a[:2], r"shape of key is \(2, 7, 2\)"),
        (3, lambda a: a[..., :1], r"shape of value is \(3, 7, 1\)"),
        (4, lambda a: a[:5], "rows of output is 5; expected 6"),
    ],
)
def test_slabs_refuse_what_does_not_fit(place, change, message, as_users_run_it):
    arguments = list(slabs_arguments())
    arguments[place] = change(arguments[place])
    with pytest.raises(ValueError, match=message):
        heads_as_slabs(*arguments)


def test_slabs_refuse_other_words_rows_and_more_heads_than_colours():
    arguments = slabs_arguments()
    with pytest.raises(ValueError, match="expected 5 words or none"):
        heads_as_slabs(*arguments, words=["a"])
    with pytest.raises(ValueError, match="row is 5; expected 0 to 4"):
        heads_as_slabs(*arguments, row=5)
    x, query, key, value, output = arguments
    many = [a.repeat(2, axis=0) for a in (query, key, value)]
    with pytest.raises(ValueError, match="heads of query is 6; expected 1 to 4"):
        heads_as_slabs(x, *many, output.repeat(2, axis=0))
