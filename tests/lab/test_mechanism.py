"""Drawings of mechanism: data, words and errors."""

from dataclasses import replace

import numpy as np
import pytest

from tests.drawings import DRAWINGS, slabs_arguments, stepper_record, stream_arguments
from transformer_lab.figures.architecture import BOXES
from transformer_lab.lab import (
    decoder_stepper,
    heads_as_slabs,
    residual_stream,
    three_architectures,
)
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.drawing import fragment
from transformer_lab.numpy_reference import layer_norm


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_small_and_says_its_words(name):
    drawing = DRAWINGS[name]()
    assert drawing.kind == name
    assert len(fragment(drawing.kind, "", saved.dump_json(drawing.data)).encode()) <= 60_000
    assert drawing._repr_mimebundle_()["text/plain"] == drawing.alt


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
        (4, lambda a: a[:5], "output has 5 rows; expected 6"),
    ],
)
def test_slabs_refuse_what_does_not_fit(place, change, message, as_users_run_it):
    arguments = list(slabs_arguments())
    arguments[place] = change(arguments[place])
    with pytest.raises(ValueError, match=message):
        heads_as_slabs(*arguments)


def test_slabs_refuse_other_words_rows_and_more_heads_than_colours():
    arguments = slabs_arguments()
    with pytest.raises(ValueError, match=r"len\(words\) is 1; expected 0 or 5"):
        heads_as_slabs(*arguments, words=["a"])
    with pytest.raises(ValueError, match="row is 5; expected 0 to 4"):
        heads_as_slabs(*arguments, row=5)
    x, query, key, value, output = arguments
    many = [a.repeat(2, axis=0) for a in (query, key, value)]
    with pytest.raises(ValueError, match="query has 6 heads; expected 1 to 4"):
        heads_as_slabs(x, *many, output.repeat(2, axis=0))


def test_the_stepper_says_what_a_place_reads_and_where_it_looks():
    record = stepper_record()
    drawing = decoder_stepper(record, decoder=(2, 1), cross=(1, 2), row=3)
    most = record.source_tokens[record.cross[1][2][3].argmax()]
    assert "Where it reads voit and should write chien, it sees 4 of its own words" in drawing.alt
    assert f"most at {most} ({record.cross[1][2][3].max():.2f})" in drawing.alt
    assert "a rectangle, 5 rows by 7 columns" in drawing.alt
    assert drawing.data["names"] == ["layer 3, head 2", "layer 2, head 3"]
    np.testing.assert_allclose(drawing.data["self"], record.decoder[2][1], atol=1e-6)
    assert decoder_stepper(replace(record, next_tokens=None)).data["next"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder": (3, 0)}, "decoder layer is 3; expected 0 to 2"),
        ({"cross": (0, 3)}, "cross head is 3; expected 0 to 2"),
        ({"row": 5}, "row is 5; expected 0 to 4"),
    ],
)
def test_the_stepper_refuses_heads_and_places_that_are_not_there(options, message):
    with pytest.raises(ValueError, match=message):
        decoder_stepper(stepper_record(), **options)


def test_the_stepper_refuses_a_decoder_that_sees_the_future():
    record = stepper_record()
    leaky = replace(record, decoder=tuple(np.full_like(a, 1 / 5) for a in record.decoder))
    with pytest.raises(ValueError, match=r"largest weight on a later word is 0\.2"):
        decoder_stepper(leaky)


def test_the_stream_says_where_both_orders_end():
    x, attention, feed_forward = stream_arguments()
    one, zero = np.ones(5), np.zeros(5)
    pre = x + attention(layer_norm(x, one, zero))
    pre = pre + feed_forward(layer_norm(pre, one, zero))
    post = layer_norm(x + attention(x), one, zero)
    post = layer_norm(post + feed_forward(post), one, zero)
    data = residual_stream(x, attention, feed_forward).data["speaking"]
    np.testing.assert_allclose(data["post"][1]["out"], post)
    np.testing.assert_allclose(data["pre"][1]["out"], pre)
    plain = residual_stream(np.array([1.0, 0, 2]), np.negative, np.negative)
    assert "(1, 0, 2) flows down" in plain.alt
    assert plain.data["silent"]["pre"][1]["out"] == [1, 0, 2]


def test_the_stream_refuses_long_vectors_and_sublayers_of_another_shape():
    with pytest.raises(ValueError, match="length of x is 7; expected 2 to 6"):
        residual_stream(np.ones(7), np.negative, np.negative)
    with pytest.raises(ValueError, match=r"shape of feed_forward\(x\) is \(2,\); expected \(3,\)"):
        residual_stream(np.ones(3), np.negative, lambda v: v[:2])


def test_what_families_drop_is_what_the_package_builds_without():
    """GPT's layer is the encoder's (lesson 16): only cross-attention is in neither."""
    families = three_architectures(["a", "b"], ["c"]).data["families"]
    paper, bert, gpt = (set(family["dropped"]) for family in families)
    assert paper == set()
    assert bert & gpt == {"decoder.cross_attention", "decoder.add_norm_2"}
    assert bert | gpt == {*BOXES} - {"output", "softmax"}
    assert [family["head"] for family in families] == ["decoder", "encoder", "decoder"]


def test_the_masks_of_the_families_hide_padding_and_what_comes_later():
    data = three_architectures(["a", "-", "b"], ["c", "d"], pad="-").data["families"]
    encoder, decoder, cross = (mask["seen"] for mask in data[0]["masks"])
    np.testing.assert_array_equal(encoder, [[True, False, True]] * 3)
    np.testing.assert_array_equal(decoder, np.tril(np.ones((2, 2), dtype=bool)))
    np.testing.assert_array_equal(cross, [[True, False, True]] * 2)
    np.testing.assert_array_equal(data[1]["masks"][0]["seen"], encoder)
    np.testing.assert_array_equal(data[2]["masks"][0]["seen"], np.tril(np.ones((3, 3), dtype=bool)))


def test_the_families_refuse_no_words_and_a_row_that_is_not_there():
    with pytest.raises(ValueError, match="target has 0 words; expected 1 to 8"):
        three_architectures(["a"], [])
    with pytest.raises(ValueError, match="row is 1; expected at least 0 and below 1"):
        three_architectures(["a"], ["b"])
