"""Every figure carries words made from its numbers, and `show` says them where none are given."""

import html
import re

import numpy as np
import pytest

from transformer_lab.figures import (
    Arrows,
    LivePicture,
    Panel,
    Words,
    architecture,
    attention_heatmap,
    attention_panels,
    clock_hands,
    curves,
    number_grids,
    run_dots,
    sentence_arrows,
    show,
    signed_map,
    stage_panels,
    weight_bars,
)
from transformer_lab.figures import (
    alt_text as words,
)
from transformer_lab.figures.display import read_alt_text
from transformer_lab.lab import show_live

WORDS = ["the", "cat", "sat"]
WEIGHTS = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2], [0.03, 0.92, 0.05]])
AXES = {"x_label": "steps", "y_label": "loss"}


FIGURES = {
    "attention_heatmap": lambda title: attention_heatmap(WEIGHTS, WORDS, WORDS, title=title),
    "attention_panels": lambda title: attention_panels({"a": WEIGHTS}, WORDS, WORDS, title=title),
    "weight_bars": lambda title: weight_bars(WEIGHTS, WORDS, WORDS, title=title),
    "curves": lambda title: curves([1.0, 2.0, 3.0], {"up": [1.0, 2.0, 4.0]}, title=title, **AXES),
    "number_grids": lambda title: number_grids({"A": WEIGHTS}, title=title),
    "signed_map": lambda title: signed_map(WEIGHTS, title=title, **AXES),
    "stage_panels": lambda title: stage_panels({"Q": WEIGHTS}, WORDS, title=title),
    "clock_hands": lambda title: clock_hands({"now": np.zeros(3)}, WORDS, title=title),
    "run_dots": lambda title: run_dots({"base": [1.0, 2.0]}, title=title, x_label="BLEU"),
    "sentence_arrows": lambda title: sentence_arrows(
        Panel([Words(WORDS), Words(WORDS)], [Arrows(WEIGHTS)]), title=title
    ),
    "architecture": lambda title: architecture(lit=["softmax"], title=title),
}


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_carries_its_title_and_more(name, shown):
    show(FIGURES[name]("What it says"))
    (data,) = shown
    alt = data["text/plain"]
    assert alt.startswith("What it says. ")
    assert len(alt) > len("What it says. ") + 20
    assert alt == alt.strip()
    assert alt.endswith(".")
    assert "  " not in alt
    assert ".." not in alt
    assert "nan" not in alt.lower()
    assert data["text/plain"] == alt
    assert html.unescape(re.search('alt="([^"]*)"', data["text/html"])[1]) == alt


@pytest.mark.parametrize("title", ["A question?", "A claim.", "More…"])
def test_a_title_that_ends_gets_no_second_point(title):
    assert read_alt_text(FIGURES["curves"](title)).startswith(f"{title} ")


def test_words_by_hand_come_before_those_of_the_figure(shown):
    show(FIGURES["curves"]("What it says"), alt="By hand")
    assert shown[0]["text/plain"] == "By hand"


def test_a_figure_without_words_is_refused(shown):
    figure = FIGURES["curves"]("What it says")
    figure.set_label("")
    with pytest.raises(ValueError, match="alt is"):
        show(figure)


def test_a_live_drawing_may_be_a_figure_alone(shown, panel_of):
    import ipywidgets

    def draw(row):
        return attention_heatmap(WEIGHTS, WORDS, WORDS, row=row, title=f"Row {row}")

    slider = ipywidgets.IntSlider(value=1, max=2)
    show_live(draw, slider)
    (data,) = shown
    assert data["text/plain"] == read_alt_text(draw(1))
    panel = panel_of(data)
    slider.value = 2
    assert html.escape(read_alt_text(draw(2))) in panel.value


def test_a_picture_that_grows_may_be_a_figure_alone(monkeypatch):
    sent = []
    monkeypatch.setattr(
        "transformer_lab.figures.live.display", lambda data, **_: sent.append(data["text/plain"])
    )
    figure = FIGURES["curves"]("What it says")
    LivePicture().show(figure)
    assert sent == [read_alt_text(figure)]


# What the words are


def test_a_map_names_the_strongest_key_of_each_row_and_reads_the_framed_one():
    text = read_alt_text(attention_heatmap(WEIGHTS, WORDS, WORDS, row=0))
    assert "the on cat 0.50, cat on the 0.70, sat on cat 0.92" in text
    assert "In the framed row, the: cat 0.50, sat 0.30 and the 0.20." in text


def test_a_large_map_names_its_surest_rows():
    weights = np.random.default_rng(0).random((17, 19))
    queries, keys = [f"q{n}" for n in range(17)], [f"k{n}" for n in range(19)]
    text = words.describe_map(weights, queries, keys)
    named = re.findall(r"\b(q\d+) on (k\d+)", text)
    surest = set(np.argsort(-weights.max(axis=1))[: words.MOST_ROWS].tolist())
    assert {int(query[1:]) for query, _ in named} == surest
    assert all(weights[int(q[1:])].argmax() == int(k[1:]) for q, k in named)


def test_hidden_cells_are_counted():
    mask = np.tri(3, dtype=bool)
    assert "The mask hides 3 cells" in read_alt_text(
        attention_heatmap(WEIGHTS * mask, WORDS, WORDS, mask=mask)
    )


def test_panels_say_how_sure_each_is_and_where_most_rows_look():
    text = words.describe_panels({"head 1": WEIGHTS}, WORDS)
    assert (
        "head 1: the largest weight of a row is 0.71 on average, most often on cat (2 of 3" in text
    )


def test_bars_name_the_highest():
    keys = list("abcdefghijklm")
    rows = np.array([[0.1, 0.3, 0.02, 0.25, 0.03, 0.2, 0.1, *[0.0] * 6]])
    assert (
        words.describe_bars(rows, ["one"], keys) == "Bars. one: highest b 0.30, d 0.25 and f 0.20."
    )
    assert words.describe_bars(rows[:, :2], ["one"], keys[:2]) == "Bars. one: a 0.10 and b 0.30."


@pytest.mark.parametrize(
    ("y", "text"),
    [
        ([4, 2, 1], "goes from 4 at 10 to 1 at 30"),
        ([4, 0, 5], "goes from 4 at 10 to 5 at 30, lowest 0 at 20"),
        ([4, 9, 5], "goes from 4 at 10 to 5 at 30, highest 9 at 20"),
        ([2, 2, 2], "is 2 everywhere"),
        ([np.nan, 2, 3], "goes from 2 at 20 to 3 at 30"),
        ([np.nan, 2, np.nan], "is 2 at 20"),
    ],
)
def test_a_curve_says_where_it_goes(y, text):
    assert words.describe_curve(np.array([10.0, 20, 30]), np.array(y, dtype=float)) == text


def test_small_matrices_are_read_out_and_large_ones_are_measured():
    small, large = np.array([[1.0, -np.inf], [0.25, 3]]), np.arange(100.0).reshape(10, 10)
    text = words.describe_grids({"S": small, "L": large}, {"S": ["a", "b"]}, {}, [], 2)
    assert text == "S, 2 by 2: a 1 −infinity; b 0.25 3. L, 10 by 10: from 0 to 99."


def test_a_mask_says_who_sees_whom():
    mask = np.array([[True, True], [False, False]])
    text = read_alt_text(
        number_grids(
            {"m": mask},
            rows={"m": ["a", "b"]},
            columns={"m": ["x", "y"]},
            scale={"m": "mask"},
            title="",
        )
    )
    assert text == "M: a sees x and y, b sees nothing."


def test_a_large_map_says_where_its_ends_are():
    values = np.zeros((5, 7))
    values[1, 2], values[3, 4] = -2, 3
    text = words.describe_signed_map(values, "step", "word", "PE")
    assert "5 rows (word) by 7 columns (step)" in text
    assert "smallest −2 in row 1, column 2 and largest 3 in row 3, column 4" in text


def test_stages_clocks_and_runs_say_their_numbers():
    assert "1. Q, 3 by 3, from 0.03 to 0.92" in words.describe_stages({"Q": WEIGHTS})
    turned = words.describe_clocks({"now": np.array([np.pi / 2, 3 * np.pi])}, ["a", "b"])
    assert turned == "2 clocks. a: now at 90°; b: now at 180°."
    runs = words.describe_runs({"base": [1.0, 2.0], "one": [3.0]}, "BLEU")
    assert "base 1.5, 1 to 2 (2 runs); one 3 (1 run)" in runs


def test_the_drawing_of_the_paper_says_what_is_lit_and_written():
    text = read_alt_text(
        architecture({"softmax": "(2, 9)"}, lit=["encoder.feed_forward", "output"])
    )
    assert "in a layer of the encoder: Feed-forward." in text
    assert "Lit up: output." in text
    assert "softmax (2, 9)." in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.012345, "0.0123"), (-4.0, "−4"), (16_384.0, "16,400"), (999.6, "1,000"), (0.0, "0")],
)
def test_numbers_have_three_digits(value, text):
    assert words.format_number(value) == text


def test_lists_are_read_as_lists():
    assert [words.join_with_and(list("abc"[:n])) for n in (1, 2, 3)] == [
        "a",
        "a and b",
        "a, b and c",
    ]


def test_what_rounding_leaves_of_a_0_is_read_as_0():
    lines = {"up": np.array([0.0, 20.0, np.inf]), "down": np.array([6.4, 1.2e-6, np.nan])}
    found = words.drop_rounding_noise(lines)
    np.testing.assert_array_equal(found["up"], lines["up"])
    np.testing.assert_array_equal(found["down"], [6.4, 0.0, np.nan])
    np.testing.assert_array_equal(
        words.drop_rounding_noise({"all": np.array([3e-9])})["all"], [3e-9]
    )
