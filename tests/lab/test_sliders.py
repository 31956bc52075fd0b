"""Controls that move without a kernel: which values are stored, and as what."""

import base64
import io
import json
import re

import ipywidgets
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from transformer_lab.figures import attention_heatmap
from transformer_lab.figures.display import draw_image
from transformer_lab.lab import show_live
from transformer_lab.lab import sliders as module
from transformer_lab.lab.sliders import draw_frames, list_values, spread_evenly


def draw(value):
    row = np.full((1, 3), 1 / 3)
    return attention_heatmap(row, ["q"], list("abc"), title=f"at {value}"), f"value {value}"


@pytest.mark.parametrize(
    ("control", "values", "names"),
    [
        (ipywidgets.IntSlider(min=2, max=5, value=3), [2, 3, 4, 5], ["2", "3", "4", "5"]),
        (ipywidgets.IntSlider(min=1, max=8, step=3), [1, 4, 7], ["1", "4", "7"]),
        (
            ipywidgets.FloatSlider(min=0.1, max=0.5, step=0.2),
            pytest.approx([0.1, 0.3, 0.5]),
            ["0.1", "0.3", "0.5"],
        ),
        (ipywidgets.SelectionSlider(options=[("one", 1), ("two", 2)]), [1, 2], ["one", "two"]),
        (ipywidgets.Dropdown(options=["a", "b"]), ["a", "b"], ["a", "b"]),
        (ipywidgets.SelectionSlider(options=range(3, 5)), [3, 4], ["3", "4"]),
    ],
)
def test_a_controls_values_and_their_names(control, values, names):
    assert list_values(control) == (values, names)


def test_what_has_no_values_is_refused():
    with pytest.raises(ValueError, match="control is of type Text; expected one with options"):
        list_values(ipywidgets.Text())


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16, 17, 61, 1009])
@pytest.mark.parametrize("most", [1, 2, 5, 16])
def test_few_places_are_spread_with_the_ends_and_the_own_among_them(count, most):
    for own in {0, count // 3, count - 1}:
        kept = spread_evenly(count, own, most)
        assert {0, own, count - 1} <= set(kept)
        assert kept == sorted(set(kept))
        assert len(kept) <= max(most, 2) + 1
        if count <= most:
            assert kept == list(range(count))


def test_the_pictures_are_those_that_the_kernel_draws():
    slider = ipywidgets.IntSlider(min=0, max=4, value=3, description="times")
    found = draw_frames(draw, slider)
    assert (found["label"], found["start"]) == ("times", 3)
    assert [picture["alt"] for picture in found["pictures"]] == [f"value {n}" for n in range(5)]
    for value, picture in enumerate(found["pictures"]):
        seen = Image.open(io.BytesIO(base64.b64decode(picture["webp"])))
        expected = draw_image(draw(value)[0]).convert("RGB")
        assert np.array_equal(np.asarray(seen.convert("RGB")), np.asarray(expected))
        assert picture["width"] * 2 == pytest.approx(expected.width, abs=2)


def test_a_long_slider_and_heavy_pictures_are_stored_in_few(monkeypatch):
    monkeypatch.setattr(module, "MOST_FRAMES", most := 7)
    slider = ipywidgets.IntSlider(min=0, max=60, value=10)
    pictures = draw_frames(draw, slider)["pictures"]
    assert len(pictures) == most
    one = len(pictures[0]["webp"])
    monkeypatch.setattr(module, "MOST_BYTES", most * one - one)
    coarse = draw_frames(draw, slider)["pictures"]
    assert len(coarse) == most
    assert len(coarse[0]["webp"]) < 0.7 * one
    monkeypatch.setattr(module, "MOST_BYTES", 5 * len(coarse[0]["webp"]))
    kept = draw_frames(draw, slider)["pictures"]
    assert 4 <= len(kept) <= 6
    assert {"0", "10", "60"} <= {picture["name"] for picture in kept}


@pytest.mark.parametrize("asked", [False, True])
def test_frames_are_drawn_only_where_they_are_asked_for(asked, monkeypatch):
    """A learner's kernel draws what is looked at, and no more."""
    drawn, sent = [], []

    def counted(value):
        drawn.append(value)
        return Figure(), f"value {value}"

    monkeypatch.delenv(module.STORE_FRAMES, raising=False)
    if asked:
        monkeypatch.setenv(module.STORE_FRAMES, "1")
    monkeypatch.setattr(module, "display", lambda data, **_: sent.append(data))
    show_live(counted, ipywidgets.IntSlider(min=0, max=2, value=1))
    html = sent[0]["text/html"]
    assert 'alt="value 1"' in html
    stored = re.findall(r'<script type="application/json" data-of="\w+">(.*?)</script>', html)
    assert [len(json.loads(data)["pictures"]) for data in stored] == [3] * asked
    assert drawn == [1, *[1, 0, 2] * asked]
