"""The pictures say what the arrays say, on the right axes, and each has its words."""

import base64
import html
import io
import itertools
import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from PIL import Image, ImageChops

from transformer_lab.figures import attention_heatmap, attention_panels, show, weight_bars
from transformer_lab.figures.display import draw_image, picture
from transformer_lab.figures.style import (
    COLOURS,
    HEADS,
    HIGHLIGHT,
    LINES,
    MASKED,
    PAGE,
    PAPER,
    QUIET,
    WEIGHTS,
    course_style,
)
from transformer_lab.figures.titles import format_formulas
from transformer_lab.lab import show_live

QUERIES = ["le", "chat", "dort", "<eos>", "$x$"]
KEYS = ["the", "cat", "is", "asleep", "now", " piece", "<eos>"]


@pytest.fixture
def weights():
    raw = np.random.default_rng(0).random((len(QUERIES), len(KEYS)))
    return raw / raw.sum(axis=1, keepdims=True)


def settings():
    """All of matplotlib's settings; reading them as usual would choose a backend."""
    return dict(dict.items(matplotlib.rcParams))


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def test_rows_are_queries_from_the_top_and_columns_are_keys(weights):
    figure = attention_heatmap(
        weights, QUERIES, KEYS, query_label="word written", key_label="word read"
    )
    axes = figure.axes[0]
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), weights)
    assert image.origin == "upper"
    assert labels(axes.yaxis) == QUERIES
    assert labels(axes.xaxis) == [*KEYS[:5], "␣piece", KEYS[6]]
    assert axes.get_ylabel() == "word written"
    assert axes.get_xlabel() == "word read"


def test_a_cell_has_its_colour_where_its_tokens_are(weights):
    """In the drawn pixels: query 1, key 5 alone is bright."""
    weights = np.zeros_like(weights)
    weights[1, 5] = 1
    figure = attention_heatmap(weights, QUERIES, KEYS)
    image = np.asarray(draw_image(figure).convert("RGB")).astype(int)
    axes = figure.axes[0]

    def pixel(query, key):
        x, y = axes.transData.transform((key, query)) * 2
        return image[image.shape[0] - round(y), round(x)]

    bright = np.array(to_rgb(matplotlib.colormaps[WEIGHTS](1.0))) * 255
    for query, key in itertools.product(range(len(QUERIES)), range(len(KEYS))):
        close = bool(np.all(abs(pixel(query, key) - bright) < 12))
        assert close == ((query, key) == (1, 5)), (query, key)


def test_the_scale_is_from_0_to_1_whatever_the_weights(weights):
    for scale in (1.0, 0.01):
        (image,) = attention_heatmap(weights * scale, QUERIES, KEYS).axes[0].images
        assert image.get_clim() == (0, 1)
        assert image.get_cmap().name == WEIGHTS


def test_tokens_are_text_and_never_formulas(weights):
    axes = attention_heatmap(weights, QUERIES, KEYS).axes[0]
    assert not any(
        text.get_parse_math() for text in axes.get_xticklabels() + axes.get_yticklabels()
    )


def test_a_row_is_framed_and_its_weights_are_written_into_it(weights):
    figure = attention_heatmap(weights, QUERIES, KEYS, row=2)
    axes = figure.axes[0]
    (patch,) = axes.patches
    assert patch.get_bbox().bounds == (-0.5, 1.5, len(KEYS), 1)
    assert to_hex(patch.get_edgecolor()) == HIGHLIGHT
    written = {text.get_position(): float(text.get_text()) for text in axes.texts}
    for key, weight in enumerate(weights[2]):
        if weight > 0.05:
            assert written[key, 2] == pytest.approx(weight, abs=0.005)
    assert all(position[1] == 2 for position in written)
    bold = [text.get_text() for text in axes.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["dort"]


def test_a_cell_is_framed_by_query_and_key(weights):
    (patch,) = attention_heatmap(weights, QUERIES, KEYS, cell=(3, 6)).axes[0].patches
    assert patch.get_bbox().bounds == (5.5, 2.5, 1, 1)


def test_gold_links_are_ringed_at_key_and_query(weights):
    axes = attention_heatmap(weights, QUERIES, KEYS, alignment=((0, 0), (6, 3))).axes[0]
    rings = {(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines}
    assert rings == {(0, 0), (6, 3)}


def test_bars_show_each_row_on_one_scale(weights):
    parts = ["encoder", "decoder", "query"]
    figure = weight_bars(weights[:3], ["first", "second", "third"], KEYS, parts=parts)
    assert len(figure.axes) == 3
    three = zip(figure.axes, weights[:3], ["first", "second", "third"], parts, strict=True)
    for axes, row, label, part in three:
        np.testing.assert_allclose([bar.get_height() for bar in axes.patches], row)
        assert axes.get_title(loc="left") == label
        assert {to_hex(bar.get_facecolor()) for bar in axes.patches} == {COLOURS[part]}
        assert axes.get_ylim() == figure.axes[0].get_ylim()
    assert labels(figure.axes[-1].xaxis) == [*KEYS[:5], "␣piece", KEYS[6]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": np.zeros((2, 5, 7))}, r"shape of weights is \(2, 5, 7\)"),
        (
            {"weights": np.zeros((7, 5))},
            r"len\(queries\) is 5; expected 7, because weights has shape",
        ),
        ({"queries": QUERIES[1:]}, r"len\(queries\) is 4; expected 5"),
        ({"keys": KEYS[1:]}, r"len\(keys\) is 6; expected 7"),
        (
            {"weights": np.full((5, 7), 2.0)},
            "weights contains 2; expected numbers from 0 to 1",
        ),
        ({"weights": np.full((5, 7), np.nan)}, "weights contains nan; expected numbers from"),
        (
            {"queries": "abcde"},
            "queries is 'abcde'; expected a list of strings",
        ),
        ({"keys": b"abcdefg"}, "keys is b'abcdefg'; expected a list of strings"),
        ({"keys": range(7)}, r"keys\[0\] is 0 .int.; expected the token itself, not"),
        ({"queries": dict.fromkeys(QUERIES)}, "queries is .*; expected a list of strings"),
        ({"queries": [*QUERIES[:4], None]}, r"queries\[4\] is None .*; expected a string"),
        ({"row": 5}, "row is 5; expected a number from 0 to 4, or None"),
        ({"cell": (5, 0)}, r"cell is \(5, 0\)"),
        ({"alignment": ((0, 5),)}, r"alignment link is \(0, 5\)"),
    ],
)
def test_what_does_not_fit_is_named(arguments, message, weights, as_users_run_it):
    given = {"weights": weights, "queries": QUERIES, "keys": KEYS, **arguments}
    with pytest.raises(ValueError, match=message):
        attention_heatmap(**given)


def test_bars_name_what_does_not_fit(weights, as_users_run_it):
    with pytest.raises(ValueError, match="labels is 'fives'; expected a list of strings"):
        weight_bars(weights, "fives", KEYS)
    with pytest.raises(ValueError, match=r"len\(labels\) is 1; expected 5"):
        weight_bars(weights, ["one"], KEYS)
    with pytest.raises(ValueError, match=r"len\(parts\) is 1; expected 5, because rows has shape"):
        weight_bars(weights, QUERIES, KEYS, parts=["query"])
    with pytest.raises(ValueError, match="name in parts is 'heads'; expected 'query', "):
        weight_bars(weights, QUERIES, KEYS, parts=["heads"] * len(QUERIES))


def test_show_gives_the_picture_its_words_wherever_it_is_read(weights, shown):
    alt = 'Rows <"queries"> & columns'
    assert show(attention_heatmap(weights, QUERIES, KEYS), alt=alt) is None
    (data,) = shown
    assert data["text/plain"] == alt
    pattern = r'<img alt="([^"]*)" width="(\d+)" style="[^"]*" src="data:image/webp;base64,(.*)">'
    tag = re.fullmatch(pattern, data["text/html"])
    assert html.unescape(tag[1]) == alt
    assert set(data) == {"text/html", "text/plain"}, "no picture is stored twice"
    image = Image.open(io.BytesIO(base64.b64decode(tag[3])))
    drawn = draw_image(attention_heatmap(weights, QUERIES, KEYS))
    assert ImageChops.difference(image, drawn.convert("RGB")).getbbox() is None, "nothing is lost"
    assert image.width == pytest.approx(2 * int(tag[2]), abs=2), "two pixels for each CSS pixel"


@pytest.mark.parametrize("alt", ["", "  "])
def test_a_picture_without_words_is_refused(alt, weights):
    with pytest.raises(ValueError, match=r"alt is .* expected a description"):
        picture(attention_heatmap(weights, QUERIES, KEYS), alt)


def test_the_same_figure_gives_the_same_bytes_and_no_version(weights):
    first, second = (
        picture(attention_heatmap(weights, QUERIES, KEYS, row=1), "row 1") for _ in "ab"
    )
    assert first == second
    packed = first["text/html"].rpartition("base64,")[2].rpartition('">')[0]
    assert b"atplotlib" not in base64.b64decode(packed)


def test_the_paper_is_opaque_for_dark_themes(weights):
    image = draw_image(attention_heatmap(weights, QUERIES, KEYS))
    assert "transparency" not in image.info
    assert to_hex(np.array(image.convert("RGB").getpixel((0, 0))) / 255) == PAPER


def test_a_live_picture_is_drawn_anew_and_stays_behind_as_a_picture(weights, shown, panel_of):
    import ipywidgets

    def draw(row):
        return attention_heatmap(weights, QUERIES, KEYS, row=row), f"row {row}"

    slider = ipywidgets.IntSlider(value=1, max=4)
    show_live(draw, slider)
    (data,) = shown
    assert data["text/plain"] == "row 1"
    panel = panel_of(data)
    before = panel.value
    assert before == data["text/html"]
    slider.value = 3
    assert 'alt="row 3"' in panel.value
    assert panel.value != before


def test_nothing_outside_a_figure_changes(weights):
    before = settings()
    draw_image(attention_heatmap(weights, QUERIES, KEYS, title="A title"))
    weight_bars(weights, QUERIES, KEYS)
    assert settings() == before
    with matplotlib.rc_context({"image.cmap": "jet", "font.size": 40, "figure.dpi": 30}):
        wild = draw_image(attention_heatmap(weights, QUERIES, KEYS, title="A title"))
    assert wild == draw_image(attention_heatmap(weights, QUERIES, KEYS, title="A title"))


def test_importing_changes_no_setting_and_draws_through_no_global_state():
    program = (
        "import matplotlib, sys; before = dict(dict.items(matplotlib.rcParams))\n"
        "import transformer_lab.figures\n"
        "assert dict(dict.items(matplotlib.rcParams)) == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert 'torch' not in sys.modules, 'pictures need no model'"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def cie_lab(rgb):
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ rgb / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


SIGHT = {  # Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
    "full": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("sight", SIGHT)
def test_the_courses_colours_are_told_apart(sight):
    seen = {
        name: cie_lab(np.clip(np.array(SIGHT[sight]) @ linear(colour), 0, 1))
        for name, colour in COLOURS.items()
    }
    for one, other in itertools.combinations(seen, 2):
        # 2.3 is a just noticeable difference.
        assert np.linalg.norm(seen[one] - seen[other]) > 20, (one, other)


@pytest.mark.parametrize("sight", SIGHT)
def test_the_colours_of_curves_are_told_apart(sight):
    seen = [cie_lab(np.clip(np.array(SIGHT[sight]) @ linear(c), 0, 1)) for c in (*LINES, QUIET)]
    for one, other in itertools.combinations(range(len(seen)), 2):
        assert np.linalg.norm(seen[one] - seen[other]) >= 10, (one, other)


@pytest.mark.parametrize("sight", SIGHT)
def test_the_tints_of_heads_are_told_apart(sight):
    tints = [0.45 * np.array(to_rgb(colour)) + 0.55 for colour in HEADS]  # as in `heads_as_slabs`
    seen = [cie_lab(np.clip(np.array(SIGHT[sight]) @ linear(to_hex(t)), 0, 1)) for t in tints]
    for one, other in itertools.combinations(seen, 2):
        assert np.linalg.norm(one - other) >= 15


def test_a_cell_that_may_not_be_seen_is_no_weight(weights):
    """In the drawn pixels: hidden cells are grey, and a weight of 0 is not."""
    mask = np.tri(*weights.shape, 2, dtype=bool)
    seen = np.where(mask, weights, 0)
    seen[2, 0] = 0
    for figure in (
        attention_heatmap(seen, QUERIES, KEYS, mask=mask),
        attention_panels({"one": seen, "two": seen}, QUERIES, KEYS, mask=mask),
    ):
        image = np.asarray(draw_image(figure).convert("RGB")).astype(int)
        axes = figure.axes[0]
        for query, key in itertools.product(range(len(QUERIES)), range(len(KEYS))):
            x, y = axes.transData.transform((key, query)) * 2
            pixel = image[image.shape[0] - round(y), round(x)]
            grey = bool(np.all(abs(pixel - np.array(to_rgb(MASKED)) * 255) < 12))
            assert grey == (not mask[query, key]), (query, key)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((7, 5), dtype=bool), r"shape of mask is \(7, 5\); expected \(5, 7\)"),
        (
            np.tri(5, 7, 2, dtype=int),
            "mask.dtype is .*int.*; expected bool, where True means 'may attend'",
        ),
        ([[True] * 7] * 5, "mask is of type list; expected an array of dtype bool"),
        (np.zeros((5, 7), dtype=bool), "largest weight on a masked key is .* expected 0"),
    ],
)
def test_a_mask_that_does_not_fit_is_named(mask, message, weights, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        attention_heatmap(weights, QUERIES, KEYS, mask=mask)


def test_no_picture_is_wider_than_a_page(weights):
    many = [f"word{n}" for n in range(60)]
    row = np.full((3, 60), 1 / 60)
    wide = (
        attention_heatmap(row, many[:3], many),
        attention_panels(dict.fromkeys("abcde", row), many[:3], many),
        weight_bars(row, many[:3], many),
        attention_heatmap(weights, QUERIES, KEYS, title="many words " * 20),
    )
    for figure in wide:
        assert figure.get_figwidth() <= PAGE + 0.01


@pytest.mark.parametrize(
    ("text", "set_as"),
    [
        ("Without √d_k it dies", r"Without $\sqrt{d_{k}}$ it dies"),
        ("d_model, 6 d_v", r"$d_{\mathrm{model}}$, 6 $d_{v}$"),
        ("old_k d_key", "old_k d_key"),
        ("from -4.0 to 2e-3", "from −4.0 to 2e-3"),
        ("$d_k$ as it is", "$d_k$ as it is"),
    ],
)
def test_widths_are_set_as_formulas(text, set_as):
    assert format_formulas(text) == set_as


@pytest.mark.parametrize("name", COLOURS)
def test_the_courses_colours_stand_out_from_the_paper(name):
    luminance = linear(COLOURS[name]) @ [0.2126, 0.7152, 0.0722]
    assert 1.05 / (luminance + 0.05) >= 3  # WCAG 2.1, 1.4.11


def test_the_style_ends_with_its_block():
    before = settings()
    with course_style():
        assert matplotlib.rcParams["figure.facecolor"] == PAPER
    assert settings() == before


def test_a_word_of_ten_thousand_letters_is_drawn_by_its_beginning():
    words = ["x" * 10_000, "and", "y"]
    figure = attention_heatmap(np.eye(3), words, words, title="long")
    width, height = figure.get_size_inches()
    assert max(width, height) < 12
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == ["x" * 59 + "…", "and", "y"]
    figure.canvas.draw()
