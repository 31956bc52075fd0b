"""Curves, matrices of numbers, maps and clocks show what they are given, and all of it is readable."""

import itertools

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color, to_rgb

from transformer_lab.figures import attention_panels, clock_hands, curves, number_grids, signed_map
from transformer_lab.figures.style import COLOURS, LINES, PAGE, SIGNED, WEIGHTS

POINTS = 11
ROWS, COLUMNS = 5, 7
QUERIES = ["le", "chat", "dort", "<eos>", "$x$"]
KEYS = ["the", "cat", "is", "asleep", "now", " piece", "<eos>"]
X = np.arange(1.0, POINTS + 1)
WORDS = {"title": "What it says", "x_label": "steps", "y_label": "loss"}
LONG = "A title as long as a sentence that has something to say, and 3 words more than it needs"


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def heads(random):
    """5 heads: one more than fits in a line."""
    raw = random.random((5, ROWS, COLUMNS))
    return {f"head {n}": head / head.sum(axis=1, keepdims=True) for n, head in enumerate(raw)}


def settings():
    """All of matplotlib's settings; reading them as usual would choose a backend."""
    return dict(dict.items(matplotlib.rcParams))


def draw(figure):
    """Lay the figure out and draw it: its pixels, rows from the bottom."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[::-1, :, :3] / 255


def box(artist):
    return artist.get_window_extent()


def inside(artist, figure):
    inner, outer = box(artist), figure.bbox
    across = outer.x0 <= inner.x0 and inner.x1 <= outer.x1
    return across and outer.y0 <= inner.y0 and inner.y1 <= outer.y1


def line_of(axes, y):
    """The one line that shows these numbers."""
    (line,) = (one for one in axes.lines if np.array_equal(one.get_ydata(), y, equal_nan=True))
    return line


def contrast(one, other):
    """WCAG 2.1."""
    luminance = []
    for colour in (one, other):
        c = np.array(to_rgb(colour))
        light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        luminance.append(light @ [0.2126, 0.7152, 0.0722] + 0.05)
    return max(luminance) / min(luminance)


def cell_texts(axes):
    """(row, column) → the text in that cell."""
    return {(round(t.get_position()[1]), round(t.get_position()[0])): t for t in axes.texts}


# Curves


def test_each_line_shows_its_numbers_over_x(random):
    lines = {name: random.normal(size=POINTS) for name in ("warm", "cold", "theory")}
    lines["cold"][3] = np.nan
    axes = curves(X, lines, **WORDS).axes[0]
    assert len(axes.lines) == len(lines)
    for y in lines.values():
        np.testing.assert_array_equal(line_of(axes, y).get_xdata(), X)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps", "loss")
    low, high = axes.get_ylim()
    values = np.concatenate(list(lines.values()))
    assert low <= np.nanmin(values)
    assert high >= np.nanmax(values)


def test_names_have_the_colours_of_their_lines(random):
    lines = {f"line {n}": random.normal(size=POINTS) for n in range(3)}
    lines["the key"] = random.normal(size=POINTS)
    axes = curves(X, lines, colours={"the key": "key"}, **WORDS).axes[0]
    names = {text.get_text(): text for text in axes.texts}
    assert set(names) == set(lines)
    for name, y in lines.items():
        assert same_color(names[name].get_color(), line_of(axes, y).get_color())
    assert same_color(names["the key"].get_color(), COLOURS["key"])
    assert len({text.get_color() for text in axes.texts}) == len(lines)


def test_names_stand_at_the_height_where_their_lines_end():
    lines = {"low": X, "middle": 3 * X, "high": 5 * X}
    figure = curves(X, lines, **WORDS)
    draw(figure)
    axes = figure.axes[0]
    for text in axes.texts:
        _, end = axes.transData.transform((X[-1], lines[text.get_text()][-1]))
        assert (box(text).y0 + box(text).y1) / 2 == pytest.approx(end, abs=3)
        assert box(text).x0 > axes.transData.transform((X[-1], 0))[0]


def test_a_line_that_breaks_off_is_named_at_its_last_point():
    broken = np.where(X < 6, 2 * X, np.nan)
    figure = curves(X, {"whole": X, "broken": broken}, **WORDS)
    draw(figure)
    axes = figure.axes[0]
    (text,) = (text for text in axes.texts if text.get_text() == "broken")
    _, end = axes.transData.transform((5, 10))
    assert abs((box(text).y0 + box(text).y1) / 2 - end) < 15


ENDS = {
    "in the middle": ([3, 3, 3, 3], {}),
    "at the top": ([11, 11, 11, 11], {}),
    "at the bottom": ([-7, -7, -7, -7], {}),
    "above what is shown": ([3, 400, 400, 500], {"y_limits": (0.0, 5.0)}),
    "below what is shown": ([3, -400, -400, -500], {"y_limits": (0.0, 5.0)}),
    "on a logarithmic axis": ([3, 3, 3, 3.01], {"log": "y"}),
    "at 0 on a logarithmic axis": ([3, 3, 0, 0], {"log": "y"}),
}


@pytest.mark.parametrize("ends", ENDS)
def test_names_at_one_place_stay_apart_and_inside(ends):
    lasts, settings = ENDS[ends]
    lines = {
        f"line number {n}": np.append(np.linspace(1 + n, 5, POINTS - 1), last)
        for n, last in enumerate(lasts)
    }
    figure = curves(X, lines, **WORDS, **settings)
    draw(figure)
    texts = figure.axes[0].texts
    assert {text.get_text() for text in texts} == set(lines)
    for text in texts:
        assert inside(text, figure), text.get_text()
    for one, other in itertools.combinations(texts, 2):
        assert not box(one).overlaps(box(other)), (one.get_text(), other.get_text())
    assert box(figure.axes[0]).height > 150, "the names leave the curves their room"


def test_a_crowd_at_the_top_leaves_the_name_below_at_its_line():
    top = np.full(POINTS, 13.0)
    figure = curves(X, {"low": 0 * X, "a": top, "b": top, "c": top, "d": top}, **WORDS)
    draw(figure)
    axes = figure.axes[0]
    (text,) = (text for text in axes.texts if text.get_text() == "low")
    assert (box(text).y0 + box(text).y1) / 2 == pytest.approx(
        axes.transData.transform((1, 0))[1], abs=3
    )


def test_theory_is_dashed_and_measurement_is_not():
    axes = curves(X, {"theory": 2 * X, "measured": 3 * X}, dashed=["theory"], **WORDS).axes[0]
    assert line_of(axes, 2 * X).get_linestyle() == "--"
    assert line_of(axes, 3 * X).get_linestyle() == "-"
    assert not any(same_color(line_of(axes, 2 * X).get_color(), colour) for colour in LINES)


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_the_axes_named_are_logarithmic(log):
    figure = curves(2**X, {"line": 3**X}, log=log, **WORDS)
    axes = figure.axes[0]
    assert axes.get_xscale() == ("log" if "x" in log else "linear")
    assert axes.get_yscale() == ("log" if "y" in log else "linear")
    if "x" in log:
        draw(figure)
        written = [text.get_text() for text in axes.get_xticklabels() if inside(text, figure)]
        assert {"2", "8", "32"} <= set(written) or {"4", "16", "64"} <= set(written), written


def test_y_limits_are_what_is_shown():
    axes = curves(X, {"line": 13 * X}, y_limits=(-3.0, 17.0), **WORDS).axes[0]
    assert axes.get_ylim() == (-3, 17)


def test_a_band_lies_around_its_line_in_its_colour():
    edges = np.stack([X - 1, X + 2])
    axes = curves(X, {"one": 7 - X, "two": X}, spread={"two": edges}, **WORDS).axes[0]
    (band,) = axes.collections
    corners = {(x, y) for x, y in band.get_paths()[0].vertices.tolist()}
    assert corners == {(x, y) for row in edges for x, y in zip(X, row, strict=True)}
    assert same_color(to_rgb(band.get_facecolor()[0]), line_of(axes, X).get_color())
    assert 0 < band.get_facecolor()[0][3] < 0.5, "the line and the grid are seen through it"


def test_each_run_is_a_thin_line_in_the_colour_of_its_mean():
    runs = np.stack([X - 1, X + 3, X - 2])
    axes = curves(X, {"one": 7 - X, "two": X}, each={"two": runs}, **WORDS).axes[0]
    mean = line_of(axes, X)
    for run in runs:
        thin = line_of(axes, run)
        assert thin.get_color() == mean.get_color()
        assert thin.get_linewidth() < mean.get_linewidth()
    assert len(axes.lines) == 2 + len(runs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lines": {"whole": X, "short": X[1:]}}, "'short' has 10 points; expected 11"),
        ({"lines": {"whole": X, "gone": X * np.nan}}, "'gone' has 0 finite points"),
        ({"spread": {"whole": np.ones((2, 7))}}, r"spread\['whole'\] is \(2, 7\); .* \(2, 11\)"),
        ({"spread": {"whole": np.ones((3, POINTS))}}, r"spread\['whole'\] is \(3, 11\)"),
        (
            {"each": {"whole": [X, X[1:]]}},
            r"each\['whole'\] has a run of length 10; expected runs of length 11",
        ),
    ],
)
def test_a_line_that_does_not_fit_is_named(arguments, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        curves(**{"x": X, "lines": {"whole": X}, **WORDS, **arguments})


@pytest.mark.parametrize("log", ["", "x"])
@pytest.mark.parametrize(
    "x", [[1, 2], [0, 1, 2, 3, 4, 5, 6], [1, 2, 4, 8, 16, 64], [512, 2048, 8192, 65536], [3]]
)
def test_few_points_have_ticks_where_they_are_and_nowhere_else(x, log):
    if log and 0 in x:
        x = x[1:]
    figure = curves(np.array(x, dtype=float), {"line": np.arange(len(x))}, **WORDS, log=log)
    draw(figure)
    (axes,) = figure.axes
    ticks = axes.get_xticks()
    assert set(ticks) <= set(x)
    assert x[-1] in ticks
    assert len(axes.xaxis.get_ticklocs(minor=True)) == 0
    texts = [t for t in axes.get_xticklabels() if t.get_text()]
    assert [float(t.get_text().replace(",", "")) for t in texts] == ticks.tolist()
    for one, other in itertools.combinations(texts, 2):
        assert not box(one).overlaps(box(other))


def test_whole_numbers_have_no_ticks_between_them():
    figure = curves(np.arange(1, 14), {"line": np.arange(13)}, **WORDS)
    draw(figure)
    assert all(tick == round(tick) for tick in figure.axes[0].get_xticks())
    figure = signed_map(np.ones((3, 4)), **WORDS)
    draw(figure)
    for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
        assert all(tick == round(tick) for tick in axis.get_ticklocs())


def test_a_seventh_line_is_told_from_the_first():
    lines = {f"line {n}": X + n for n in range(len(LINES) + 1)}
    (axes,) = curves(X, lines, **WORDS).axes
    first, seventh = line_of(axes, X), line_of(axes, X + len(LINES))
    assert first.get_linestyle() != seventh.get_linestyle()


# Matrices with their numbers


def test_numbers_of_either_sign_have_one_scale_in_all_matrices(random):
    grids = {"small": random.normal(size=(2, 3)) / 10, "large": random.normal(size=(3, 2)) * 5}
    limits = {axes.images[0].get_clim() for axes in number_grids(grids, title="Two").axes}
    ((low, high),) = limits
    assert low == -high
    assert high >= abs(grids["large"]).max()


def test_signs_stand_between_the_matrices_and_a_marked_row_is_framed(random):
    grids = {"Q": random.normal(size=(3, 4)), "K": random.normal(size=(4, 3)), "S": np.eye(3)}
    figure = number_grids(grids, title="Three", signs="×=", marked={"S": 2})
    draw(figure)
    q, times, k, equals, s = figure.axes
    assert [axes.texts[0].get_text() for axes in (times, equals)] == ["×", "="]
    assert box(q).x1 < box(times.texts[0]).x0 < box(k).x0 < box(equals.texts[0]).x0 < box(s).x0
    (frame,) = s.patches
    assert (frame.get_xy(), frame.get_width(), frame.get_height()) == ((-0.5, 1.5), 3, 1)
    assert not q.patches + k.patches


def test_what_is_wider_than_a_page_goes_on_below(random):
    grids = {f"matrix {n}": random.normal(size=(3, 5)) for n in range(4)}
    figure = number_grids(grids, title="Four")
    draw(figure)
    assert figure.get_figwidth() <= PAGE + 0.01
    assert number_grids({"wide": np.eye(17)}, title="One").get_figwidth() <= PAGE + 0.01
    assert len(figure.axes) == len(grids)
    first, *_, last = figure.axes
    assert box(first).y0 > box(last).y1
    for one, other in itertools.combinations(figure.axes, 2):
        assert not box(one).overlaps(box(other))


def test_each_cell_holds_its_number(random):
    grids = {"Q": random.normal(size=(3, 5)), "K": random.normal(size=(7, 2)) * 10}
    figure = number_grids(grids, title="Two", digits=3)
    assert len(figure.axes) == len(grids)
    for axes, (name, grid) in zip(figure.axes, grids.items(), strict=True):
        texts = cell_texts(axes)
        assert set(texts) == set(np.ndindex(grid.shape))
        for place, text in texts.items():
            number = text.get_text()
            assert "-" not in number, "the minus is a minus, no hyphen"
            assert float(number.replace("−", "-")) == pytest.approx(grid[place], abs=5e-4)
            assert len(number.partition(".")[2]) == 3
        assert axes.get_title(loc="left") == f"{name}\n{grid.shape}"
        (image,) = axes.images
        np.testing.assert_array_equal(image.get_array(), grid)


def test_row_0_stands_at_the_top(random):
    figure = number_grids({"a": random.normal(size=(3, 5))}, title="One")
    draw(figure)
    texts = cell_texts(figure.axes[0])
    assert box(texts[0, 0]).y0 > box(texts[1, 0]).y1
    assert box(texts[0, 0]).x1 < box(texts[0, 1]).x0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-np.inf, "−∞"),
        (-3.0, "−3"),
        (0.0, "0"),
        (-0.0, "0"),
        (17.0, "17"),
        (-0.257, "−0.26"),
        (-0.001, "0.00"),
        (0.5, "0.50"),
    ],
)
def test_numbers_are_written_as_in_a_book(value, text):
    grid = np.array([[1.0, value, 2.0]])
    assert cell_texts(number_grids({"a": grid}, title="One").axes[0])[0, 1].get_text() == text


def test_signed_numbers_have_colours_symmetric_about_0(random):
    grid = random.normal(size=(ROWS, COLUMNS)) + 3
    grid[2, 3] = -np.inf
    (image,) = number_grids({"scores": grid}, title="One").axes[0].images
    low, high = image.get_clim()
    assert low == -high
    assert high >= grid.max()
    assert image.get_cmap().name == SIGNED


def test_weights_have_colours_from_0_to_1(random):
    grids = {"large": random.random((3, 5)), "small": random.random((5, 3)) / 100}
    for axes in number_grids(grids, title="Two", scale=dict.fromkeys(grids, "weights")).axes:
        (image,) = axes.images
        assert image.get_clim() == (0, 1)
        assert image.get_cmap().name == WEIGHTS


def test_a_mask_says_what_is_seen():
    mask = np.tri(3, 5, 1, dtype=bool)
    axes = number_grids({"mask": mask}, title="One", scale={"mask": "mask"}).axes[0]
    for place, text in cell_texts(axes).items():
        assert (text.get_text() == "sees") == mask[place]
    (image,) = axes.images
    light, dark = (sum(image.cmap(image.norm(value))[:3]) for value in (1, 0))
    assert light > dark


VALUES = {
    "weights": np.linspace(0, 1, 101).reshape(1, -1),
    "signed": np.linspace(-3, 3, 101).reshape(1, -1),
    "one sign": np.linspace(0, 3, 101).reshape(1, -1),
    "holes": np.array([[-np.inf, -1, 0, 1, 2, -np.inf, 0.5]]),
    "only holes": np.full((1, 3), -np.inf),
    "zeros": np.zeros((1, 3)),
    "mask": np.array([[True, False, True]]),
}


@pytest.mark.parametrize("kind", VALUES)
def test_numbers_are_read_on_their_cells(kind):
    grid = VALUES[kind]
    scale = {"a": kind} if kind in ("weights", "mask") else {}
    figure = number_grids({"a": grid}, title="One", scale=scale)
    pixels = draw(figure)
    axes = figure.axes[0]
    for (row, column), text in cell_texts(axes).items():
        x, y = axes.transData.transform((column, row - 0.4)).astype(int)  # above the number
        ratio = contrast(text.get_color(), pixels[y, x])
        assert ratio >= 3, (grid[row, column], ratio)


def test_numbers_do_not_run_into_each_other():
    grid = np.array([[-10.25, -10.25, -10.25], [99.99, -np.inf, 99.99]])
    figure = number_grids({"wide": grid}, title="One")
    draw(figure)
    for one, other in itertools.combinations(figure.axes[0].texts, 2):
        assert not box(one).overlaps(box(other))


def test_rows_and_columns_are_named_where_names_are_given(random):
    grids = {"A": random.random((ROWS, COLUMNS)), "B": random.random((2, 3))}
    figure = number_grids(grids, title="Two", rows={"A": QUERIES}, columns={"A": KEYS})
    draw(figure)
    named, bare = figure.axes
    assert [text.get_text() for text in named.get_yticklabels()] == QUERIES
    assert [text.get_text() for text in named.get_xticklabels()] == [*KEYS[:5], "␣piece", KEYS[6]]
    assert not bare.get_xticklabels() + bare.get_yticklabels()
    for text in named.get_xticklabels() + named.get_yticklabels():
        assert inside(text, figure), text.get_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grids": {"fits": np.eye(3), "flat": np.ones(3)}}, r"shape of 'flat' is \(3,\)"),
        ({"grids": {"deep": np.ones((2, 3, 5))}}, r"shape of 'deep' is \(2, 3, 5\)"),
        ({"signs": "×="}, "signs is '×='; expected '', because"),
        ({"marked": {"fits": 3}}, "row marked in 'fits' is 3; expected 0 to 2"),
        ({"rows": {"fits": ["one"]}}, "'fits' has 1 row label; expected 3"),
        (
            {"columns": {"fits": list("abcd")}},
            "'fits' has 4 column labels; expected 3",
        ),
    ],
)
def test_a_matrix_that_does_not_fit_is_named(arguments, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        number_grids(**{"grids": {"fits": np.eye(3)}, "title": "One", **arguments})


# Large maps


@pytest.mark.parametrize("shift", [0, 3, -9])
def test_a_map_shows_its_values_with_white_at_0(shift, random):
    values = random.normal(size=(23, 41)) + shift
    figure = signed_map(values, value_label="PE", **WORDS)
    axes, scale = figure.axes
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), values)
    assert image.get_clim() == (-abs(values).max(), abs(values).max())
    assert image.origin == "upper"
    assert (axes.get_xlabel(), axes.get_ylabel(), scale.get_ylabel()) == ("steps", "loss", "PE")


def test_a_map_of_numbers_above_0_uses_all_its_colours_for_them(random):
    values = random.uniform(13, 32, size=(23, 41))
    (image,) = signed_map(values, **WORDS).axes[0].images
    assert image.get_clim() == (values.min(), values.max())


@pytest.mark.parametrize(("shape", "aspect"), [((17, 17), "equal"), ((17, 19), "auto")])
def test_a_square_matrix_is_drawn_as_a_square(shape, aspect, random):
    axes = signed_map(random.normal(size=shape), **WORDS).axes[0]
    assert axes.get_aspect() == (1.0 if aspect == "equal" else "auto")


def test_a_map_may_say_what_its_edges_are(random):
    axes = signed_map(random.normal(size=(7, 7)), edges=(-4.0, 10.0, -3.0, 11.0), **WORDS).axes[0]
    assert (*axes.get_xlim(), *axes.get_ylim()) == (-4, 10, -3, 11)


def test_below_0_is_blue_and_above_is_red():
    figure = signed_map(np.array([[-2.0, 0, 2], [2, 0, -2]]), **WORDS)
    pixels = draw(figure)

    def colour(column, row):
        x, y = figure.axes[0].transData.transform((column, row)).astype(int)
        return pixels[y, x]

    for below, above in (((0, 0), (2, 0)), ((2, 1), (0, 1))):
        assert colour(*below)[2] > colour(*below)[0] + 0.2
        assert colour(*above)[0] > colour(*above)[2] + 0.2
    assert min(colour(1, 0)) > 0.95


def test_maps_that_are_compared_have_the_limits_they_are_given(random):
    values = random.uniform(-1, 1, size=(3, 5))
    (image,) = signed_map(values, **WORDS, limits=(-2.0, 2.0)).axes[0].images
    assert image.get_clim() == (-2, 2)
    (image,) = signed_map(values + 3, **WORDS, limits=(1.0, 9.0)).axes[0].images
    assert image.get_clim() == (1, 9)
    with pytest.raises(ValueError, match="limits is"):
        signed_map(values + 3, **WORDS, limits=(0.0, 2.0))
    grids = [number_grids({"a": one}, title="One", limit=4.0) for one in (values, 2 * values)]
    assert len({figure.axes[0].images[0].get_clim() for figure in grids}) == 1


def test_a_line_that_comes_again_may_keep_its_colour():
    (axes,) = curves(X, {"a": X, "b": 2 * X}, **WORDS, colours={"a": 3, "b": "key"}).axes
    assert same_color(line_of(axes, X).get_color(), LINES[3])
    assert same_color(line_of(axes, 2 * X).get_color(), COLOURS["key"])


def test_a_map_of_zeros_is_white():
    (image,) = signed_map(np.zeros((3, 5)), **WORDS).axes[0].images
    low, high = image.get_clim()
    assert low == -high < 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_map_refuses_what_is_no_number(bad, random):
    values = random.normal(size=(3, 5))
    values[1, 2] = bad
    with pytest.raises(ValueError, match="values contain NaN or infinity; expected finite numbers"):
        signed_map(values, **WORDS)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 5), (0, 3)])
def test_a_map_is_a_matrix(shape, as_users_run_it):
    with pytest.raises(ValueError, match="shape of values is"):
        signed_map(np.ones(shape), **WORDS)


# Clocks


def hands(axes):
    """Name → where the hand points to from the middle, in pixels."""
    middle = axes.transData.transform((0, 0))
    found = {}
    for line in axes.lines:
        if not line.get_label().startswith("_"):
            start, tip = axes.transData.transform(line.get_xydata())
            np.testing.assert_allclose(start, middle, atol=1e-6)
            found[line.get_label()] = tip - middle
    return found


def test_a_hand_turns_from_the_top_to_the_right():
    quarters = {f"{n} quarters": np.full(3, n * np.pi / 2) for n in range(4)}
    figure = clock_hands(quarters, ["a", "b", "c"], title="Quarters")
    draw(figure)
    for axes in figure.axes:
        pointing = [hand / np.linalg.norm(hand) for hand in hands(axes).values()]
        np.testing.assert_allclose(pointing, [(0, 1), (1, 0), (0, -1), (-1, 0)], atol=1e-6)


def test_each_hand_is_sin_across_and_cos_up(random):
    angles = {f"position {n}": random.uniform(0, 20, size=5) for n in range(3)}
    names = ["fast", "b", "c", "d", "slow"]
    figure = clock_hands(angles, names, title="Positions")
    draw(figure)
    assert [axes.get_title() for axes in figure.axes] == names
    for clock, axes in enumerate(figure.axes):
        found = hands(axes)
        assert set(found) == set(angles)
        for name, hand in found.items():
            angle = angles[name][clock]
            expected = np.sin(angle), np.cos(angle)
            np.testing.assert_allclose(hand / np.linalg.norm(hand), expected, atol=1e-6)


def test_the_legend_tells_the_hands_apart():
    angles = {f"position {n}": np.full(2, float(n)) for n in range(4)}
    figure = clock_hands(angles, ["a", "b"], title="Positions")
    draw(figure)
    (legend,) = figure.legends
    shown = {
        text.get_text(): line.get_color()
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
    }
    assert set(shown) == set(angles)
    assert len(set(shown.values())) == len(angles)
    for line in figure.axes[0].lines:
        if line.get_label() in shown:
            assert line.get_color() == shown[line.get_label()]


def test_angles_that_do_not_fit_are_named(as_users_run_it):
    fits = np.zeros(3)
    with pytest.raises(
        ValueError, match=r"shape of the angles in 'two' is \(2,\); expected \(3,\)"
    ):
        clock_hands({"fits": fits, "two": np.zeros(2)}, ["a", "b", "c"], title="Clocks")
    five = {f"position {n}": fits for n in range(5)}
    with pytest.raises(ValueError, match=r"len\(angles\) is 5; expected at most 4"):
        clock_hands(five, ["a", "b", "c"], title="Clocks")


# Several heads


def test_each_panel_shows_its_head_on_one_scale(heads):
    figure = attention_panels(heads, QUERIES, KEYS, title="Heads")
    panels = [axes for axes in figure.axes if axes.images and axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in panels] == list(heads)
    for axes, weights in zip(panels, heads.values(), strict=True):
        (image,) = axes.images
        np.testing.assert_array_equal(image.get_array(), weights)
        assert image.get_clim() == (0, 1)
        assert image.get_cmap().name == WEIGHTS
        assert image.origin == "upper"


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_each_column_of_panels_names_its_keys_and_each_line_its_queries(count, heads):
    some = dict(itertools.islice(heads.items(), count))
    figure = attention_panels(some, QUERIES, KEYS, title="Heads")
    draw(figure)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    keys, queries = [*KEYS[:5], "␣piece", KEYS[6]], QUERIES

    def seen(texts):
        return [text.get_text() for text in texts if text.get_visible() and text.get_text()]

    with_keys = {round(p.bbox.x0) for p in panels if seen(p.get_xticklabels()) == keys}
    with_queries = {round(p.bbox.y0) for p in panels if seen(p.get_yticklabels()) == queries}
    assert with_keys == {round(p.bbox.x0) for p in panels}
    assert with_queries == {round(p.bbox.y0) for p in panels}
    for panel in panels:
        for text in panel.get_xticklabels() + panel.get_yticklabels():
            assert not text.get_parse_math(), "a token is no formula"
            assert not text.get_visible() or inside(text, figure), text.get_text()
    for one, other in itertools.permutations(panels, 2):
        assert not box(one.xaxis).overlaps(box(other)), "no name lies on another map"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"head 1": np.zeros((ROWS, COLUMNS, 2))}, r"shape of head 1 is \(5, 7, 2\)"),
        ({"head 1": np.zeros((3, COLUMNS))}, r"len\(queries\) is 5; expected 3, because head 1"),
        ({"head 1": np.zeros((ROWS, 3))}, r"len\(keys\) is 7; expected 3, because head 1"),
        ({"head 1": np.full((ROWS, COLUMNS), 1.5)}, "head 1 contains 1.5; expected numbers from"),
        (
            {"head 1": np.full((ROWS, COLUMNS), np.nan)},
            "head 1 contains nan; expected numbers from",
        ),
    ],
)
def test_a_head_that_does_not_fit_is_named(changes, message, heads, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        attention_panels({**heads, **changes}, QUERIES, KEYS)


# All of them


SMALL = {
    "curves": lambda title: curves(X, {"line": X}, **{**WORDS, "title": title}),
    "number_grids": lambda title: number_grids({"a": np.eye(2)}, title=title),
    "signed_map": lambda title: signed_map(np.eye(3), **{**WORDS, "title": title}),
    "clock_hands": lambda title: clock_hands({"now": np.zeros(2)}, ["a", "b"], title=title),
    "attention_panels": lambda title: attention_panels(
        {"a": np.eye(3)}, list("abc"), list("abc"), title=title
    ),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("title", [LONG, "MAMMA " * 10 + "MAMMA", "Short"])
def test_a_title_is_not_cut_off(name, title):
    figure = SMALL[name](title)
    draw(figure)
    assert figure.get_suptitle().replace("\n", " ") == title
    (text,) = (text for text in figure.texts if text.get_text() == figure.get_suptitle())
    assert figure.get_figwidth() <= PAGE + 0.01
    assert inside(text, figure)
    for axes in figure.axes:
        assert not box(text).overlaps(box(axes))


@pytest.mark.parametrize("name", SMALL)
def test_no_setting_changes(name):
    before = settings()
    draw(SMALL[name]("Short"))
    assert settings() == before
    usual = draw(SMALL[name](LONG))
    with matplotlib.rc_context({"image.cmap": "jet", "font.size": 40, "figure.dpi": 30}):
        figure = SMALL[name](LONG)
    assert figure.bbox.bounds == SMALL[name](LONG).bbox.bounds
    np.testing.assert_array_equal(draw(figure), usual)


@pytest.mark.parametrize(
    ("top", "shown"), [(0.9, ["0.2", "0.3", "0.4", "0.5", "0.7"]), (900.0, None)]
)
def test_a_short_logarithmic_axis_has_plain_numbers(top, shown):
    figure = curves(X, {"loss": np.geomspace(0.2, top, POINTS)}, **WORDS, log="y")
    draw(figure)
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    labels = [t.get_text() for t in axes.get_yticklabels() if low <= t.get_position()[1] <= high]
    assert labels == shown if shown else all("10" in label for label in labels)
