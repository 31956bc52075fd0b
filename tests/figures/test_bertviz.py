"""The BertViz adapter: the same arrays under the same names, and no token ends its script."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.records import SOURCE, TARGET, WRITTEN, make_record
from transformer_lab.attention.record import KINDS
from transformer_lab.figures.bertviz import bertviz_arguments, head_view, model_view

pytest.importorskip("bertviz", exc_type=ImportError)

# BertViz leaves the files of its scripts open.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
EQUAL = {"encoder": (3, 3), "decoder": (3, 3), "cross": (3, 3)}
HOSTILE = ("</script>", "<!--<script>", "<img src=x onerror=alert(1)>", '"', "a", "b", "c")


def test_the_arguments_are_the_records_arrays_with_a_batch_of_one():
    record = make_record(**EQUAL)
    given = bertviz_arguments(record, None)
    for kind in KINDS:
        layers = given[f"{kind}_attention"]
        assert [tuple(layer.shape[:2]) for layer in layers] == [(1, 3), (1, 3)]
        for layer, weights in zip(layers, getattr(record, kind), strict=True):
            np.testing.assert_array_equal(layer[0].numpy(), weights)
    assert given["encoder_tokens"] == list(SOURCE)
    assert given["decoder_tokens"] == list(TARGET)


def test_rows_of_cross_attention_alone_are_named_by_what_is_written():
    given = bertviz_arguments(make_record(), "cross")
    assert set(given) == {"cross_attention", "encoder_tokens", "decoder_tokens"}
    assert given["decoder_tokens"] == list(WRITTEN)


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_one_kind_alone_has_its_own_tokens(kind):
    given = bertviz_arguments(make_record(**EQUAL), kind)
    assert set(given) == {f"{kind}_attention", f"{kind}_tokens"}


def test_what_bertviz_would_draw_wrongly_is_refused():
    with pytest.raises(
        ValueError, match=r"number of heads in each layer is .* Use kind= to draw only one"
    ):
        head_view(make_record())
    with pytest.raises(ValueError, match=r"number of heads in each layer is"):
        model_view(make_record(encoder=(3, 3), decoder=(2, 2), cross=(3, 3)))


def test_a_layer_with_another_number_of_heads_is_refused():
    """BertViz puts the layers in one array: they must have as many heads."""
    with pytest.raises(ValueError, match=r"number of heads in each layer is .*\[2, 3\]"):
        head_view(make_record(encoder=(2, 3)), kind="encoder")


def test_a_kind_that_is_not_there_is_refused():
    record = make_record(target=(), written=(), decoder=(), cross=())
    with pytest.raises(ValueError, match="record has no cross attention; expected at least one"):
        head_view(record, kind="cross")


@pytest.mark.parametrize("view", [head_view, model_view])
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_each_view_is_drawn_and_holds_the_weights(view, kind):
    record = make_record(**EQUAL)
    page = view(record, kind=kind).data
    drawn, _ = json.JSONDecoder().raw_decode(page.split("const params = ", 1)[1])
    weights = np.array(drawn["attention"][-1]["attn"])
    expected = np.stack(getattr(record, kind or "cross"))
    np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("view", [head_view, model_view])
def test_no_token_ends_the_script(view):
    plain = make_record(**EQUAL)
    hostile = replace(plain, source_tokens=HOSTILE)
    page, harmless = (view(record).data for record in (hostile, plain))
    for tag in ("</script", "<!--"):
        assert page.count(tag) == harmless.count(tag)
    # To the eye they are as they were.
    assert (
        bertviz_arguments(hostile, None)["encoder_tokens"][0].replace("\u2060", "") == "</script>"
    )
