"""The dots of a study stand where their numbers are, and the band is the base's."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from transformer_lab.figures import run_dots

RUNS = {"base": [0.3, 0.5, 0.4], "h = 1": [0.7, 0.6], "h = 8": [0.45]}
WORDS = {"title": "One head is worse", "x_label": "loss, nats"}


def test_every_run_is_a_dot_and_every_mean_a_stroke():
    (axes,) = run_dots(RUNS, **WORDS, base="base").axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    strokes = [line for line in axes.lines if line.get_marker() == "|"]
    for number, (values, line, stroke) in enumerate(zip(RUNS.values(), dots, strokes, strict=True)):
        np.testing.assert_array_equal(line.get_xdata(), values)
        assert set(line.get_ydata()) == {number}
        np.testing.assert_allclose(stroke.get_xdata(), np.mean(values))
    assert [text.get_text() for text in axes.get_yticklabels()] == list(RUNS)
    assert axes.yaxis_inverted()
    band = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    np.testing.assert_allclose((band.x0, band.x1), (0.3, 0.5), atol=1e-3)


def test_without_a_base_there_is_no_band():
    (axes,) = run_dots(RUNS, **WORDS).axes
    assert not axes.patches


def test_a_logarithmic_scale_has_plain_numbers():
    figure = run_dots({"a": [0.2, 0.3], "b": [1.9]}, **WORDS, log=True)
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    shown = [
        text.get_text() for text in axes.get_xticklabels() if low <= text.get_position()[0] <= high
    ]
    assert shown == "0.2 0.3 0.4 0.5 0.7 1 1.5 2".split()


@pytest.mark.parametrize(
    ("runs", "base", "name"),
    [
        ({"a": []}, "", "'a' has 0 finite runs; expected at least 1"),
        ({"a": [1.0, np.nan]}, "", "'a' has 1 finite run; expected 2"),
        ({"a": [1.0]}, "b", "base is 'b'"),
    ],
)
def test_what_cannot_be_drawn_is_named(runs, base, name):
    with pytest.raises(ValueError, match=name):
        run_dots(runs, **WORDS, base=base)
