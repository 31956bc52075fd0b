"""Figure 1 as a drawing: every box, its label, its light; and a sentence's stages."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from transformer_lab.figures.architecture import BOXES, DECODER, ENCODER, architecture
from transformer_lab.figures.maps import stage_panels
from transformer_lab.figures.style import HIGHLIGHT
from transformer_lab.figures.titles import format_formulas


def texts(figure):
    return [text for text in figure.axes[0].texts if text.get_text()]


def boxes(figure):
    return [p for p in figure.axes[0].patches if type(p).__name__ == "FancyBboxPatch"]


def test_all_boxes_are_there_with_their_labels_and_numbers_of_layers():
    labels = {name: f"({n}, 5, 7)" for n, name in enumerate(BOXES)}
    figure = architecture(labels, layers=(3, 11), title="One")
    written = [text.get_text() for text in texts(figure)]
    assert len(boxes(figure)) == len(BOXES) == 16
    for label in (*labels.values(), "3 ×", "11 ×", "memory (keys, values)"):
        assert written.count(label) == 1
    for name in set(BOXES.values()):
        assert written.count(format_formulas(name)) == list(BOXES.values()).count(name)


def test_what_is_lit_is_framed_in_the_highlight_and_nothing_else():
    figure = architecture(lit=["decoder.cross_attention", "output"])
    framed = [to_hex(box.get_edgecolor()) == HIGHLIGHT for box in boxes(figure)]
    assert [name for name, lit in zip(BOXES, framed, strict=True) if lit] == [
        "decoder.cross_attention",
        "output",
    ]


def test_boxes_and_words_do_not_lie_on_each_other():
    figure = architecture(dict.fromkeys(BOXES, "(2, 11, 512)"), layers=(6, 6), title="One")
    figure.canvas.draw()
    inside = [box.get_window_extent() for box in boxes(figure)]
    for n, one in enumerate(inside):
        assert not any(one.overlaps(other) for other in inside[n + 1 :])
    for text in texts(figure):
        extent = text.get_window_extent()
        assert figure.bbox.containsx(extent.x0)
        assert figure.bbox.containsx(extent.x1)
    labels = [t.get_window_extent() for t in texts(figure) if t.get_text() == "(2, 11, 512)"]
    names = [t.get_window_extent() for t in texts(figure) if t.get_text() in BOXES.values()]
    for label in labels:
        assert not any(label.overlaps(name) for name in names)


@pytest.mark.parametrize("argument", ["labels", "lit"])
def test_an_unknown_box_is_named(argument):
    given = {"labels": {"encoder.ffn": "x"}, "lit": ["encoder.ffn"]}[argument]
    with pytest.raises(
        ValueError, match=f"{argument} names the box 'encoder.ffn', but the boxes are 'source_emb"
    ):
        architecture(**{argument: given})


def test_the_boxes_of_the_two_sides_do_not_share_a_name():
    assert not set(ENCODER) & set(DECODER)


# ---------------------------------------------------------------- stages

TOKENS = ["the", "cat", "sat", "<eos>", "!"]


def test_stages_show_their_arrays_in_order_on_one_scale():
    random = np.random.default_rng(2017)
    stages = {
        "in": random.normal(size=(5, 7)),
        "weights": random.uniform(size=(5, 5)),
        "out": 9 * random.normal(size=(5, 7)),
    }
    figure = stage_panels(stages, TOKENS, weights=["weights"], across=2, title="One", limit=4.0)
    first, second, third, empty, scale = figure.axes
    for axes, values in zip((first, second, third), stages.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), values)
    assert first.images[0].get_clim() == third.images[0].get_clim() == (-4, 4)
    assert second.images[0].get_clim() == (0, 1)
    assert not empty.images
    assert scale.get_xlabel().startswith("value")
    assert first.get_title(loc="left") == "1. in\n5 × 7"
    assert [label.get_text() for label in first.get_yticklabels()] == TOKENS


def test_of_a_wide_stage_the_first_features_are_drawn_and_it_says_so():
    values = np.random.default_rng(2017).normal(size=(5, 41))
    axes = stage_panels({"in": values}, TOKENS, features=11, title="One").axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), values[:, :11])
    assert axes.get_title(loc="left") == "1. in\n5 × 41, first 11"


def test_by_itself_the_scale_of_stages_leaves_out_what_is_rare():
    values = np.random.default_rng(2017).normal(size=(5, 41))
    low, high = stage_panels({"in": values}, TOKENS, title="One").axes[0].images[0].get_clim()
    assert low == -high
    assert 0.01 < (abs(values) > high).mean() < 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": {"in": np.ones((3, 7))}}, r"shape of 'in' is \(3, 7\); expected \(5, features"),
        ({"stages": {"in": np.ones(5)}}, r"shape of 'in' is \(5,\)"),
        ({"weights": ["out"]}, "stage in weights is 'out'; expected 'in'"),
    ],
)
def test_a_stage_that_does_not_fit_is_named(change, message, as_users_run_it):
    arguments = {"stages": {"in": np.ones((5, 7))}, "tokens": TOKENS, "title": "One", **change}
    with pytest.raises(ValueError, match=message):
        stage_panels(**arguments)
