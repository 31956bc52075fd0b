"""Drawn sentences: every arrow is there, nothing is cut off, nothing lies on anything else."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from transformer_lab.figures import Arrows, Panel, Words, sentence_arrows
from transformer_lab.figures.boxes import THIN
from transformer_lab.figures.display import read_alt_text
from transformer_lab.figures.sentence import NARROWEST, WIDEST
from transformer_lab.figures.style import COLOURS, SCREEN_DPI

CAT = ["the", "cat", "sat"]
PHONE = 350
"""CSS pixels that a picture has on a narrow phone."""


def drawn(figure, kind):
    return [patch for patch in figure.axes[0].patches if type(patch) is kind]


def texts(figure):
    return [text for text in [*figure.axes[0].texts, *figure.texts] if text.get_text()]


def overlap(one, other):
    """Whether two boxes share more than a pixel in both directions."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return wide > 1 and high > 1


def without_their_rim(text):
    """The letters of a label alone, without the paper behind them."""
    text.set_bbox(None)
    return text.get_window_extent()


WORDS = ["a", "the", "cat", "<pad>", "traversé", "$x$", "didn't"]


def some_panel(random):
    """A query over one to five keys, of which some are covered; each weight stands on its arrow."""
    count = random.integers(1, 6)
    keys = random.choice(WORDS, count).tolist()
    covered = random.choice(count, random.integers(0, count), replace=False).tolist()
    raw = random.uniform(0.01, 1, count)
    raw[covered] = 0
    notes = [str(n) for n in range(count)] if random.integers(2) else []
    label, name = random.choice(["", "k"]), random.choice(["", "one head"])
    below = Words(keys, "key", covered=covered, notes=notes, label=str(label))
    above = Words(["sat"], "query", start=int(random.integers(count)))
    down = bool(random.integers(2))
    return Panel(
        [below, above], [Arrows((raw / raw.sum())[None], down=down, labels=True)], str(name)
    )


@pytest.mark.parametrize("seed", range(18))
def test_every_arrow_is_drawn_and_nothing_is_cut_off_or_covered(seed):
    random = np.random.default_rng(seed)
    shown = [some_panel(random) for _ in range(1 + seed % 4)]
    figure = sentence_arrows(*shown, title=["", "Short", "long words " * 9][seed % 3])
    figure.canvas.draw()
    asked = sum(np.count_nonzero(arrows.weights) for panel in shown for arrows in panel.arrows)
    assert len(drawn(figure, FancyArrowPatch)) == asked
    assert NARROWEST <= figure.get_figwidth() <= WIDEST + 0.01
    written = texts(figure)
    extents = [without_their_rim(text) for text in written]
    for text, extent in zip(written, extents, strict=True):
        inside = figure.bbox.x0 <= extent.x0 and extent.x1 <= figure.bbox.x1
        assert inside, text.get_text()
        assert figure.bbox.y0 <= extent.y0, text.get_text()
        assert extent.y1 <= figure.bbox.y1, text.get_text()
        on_screen = text.get_fontsize() * SCREEN_DPI / 72
        assert on_screen * PHONE / (figure.get_figwidth() * SCREEN_DPI) >= 8, "read on a phone"
    for number, extent in enumerate(extents):
        for other, text in zip(extents[number + 1 :], written[number + 1 :], strict=True):
            assert not overlap(extent, other), (written[number].get_text(), text.get_text())
    boxes = [box.get_window_extent() for box in drawn(figure, FancyBboxPatch)]
    for number, box in enumerate(boxes):
        assert not any(overlap(box, other) for other in boxes[number + 1 :])


def test_a_thicker_arrow_is_a_larger_weight_and_next_to_nothing_is_dotted():
    weights = [[0.8, 0.15, THIN / 2]]
    figure = sentence_arrows(
        Panel([Words(CAT), Words(["sat"])], [Arrows(weights, "value")]), title=""
    )
    first, second, third = drawn(figure, FancyArrowPatch)
    tails = [arrow.get_arrowstyle().tail_width for arrow in (first, second)]
    assert tails[0] / tails[1] == pytest.approx(0.8 / 0.15)
    assert third.get_linestyle() == ":"
    assert to_hex(first.get_facecolor()) == COLOURS["value"]


@pytest.mark.parametrize("down", [False, True])
def test_an_arrow_points_from_the_box_that_it_leaves_to_the_box_that_it_reaches(down):
    weights = np.zeros((2, 3))
    weights[1, 0] = 0.5
    rows = [Words(CAT, "key"), Words(["is", "asleep"], "query")]
    figure = sentence_arrows(Panel(rows, [Arrows(weights, down=down)]), title="")
    (arrow,) = drawn(figure, FancyArrowPatch)
    boxes = drawn(figure, FancyBboxPatch)
    ends = [boxes[0], boxes[4]]  # "the" and "asleep"
    start, end = ends[::-1] if down else ends
    for point, box in zip(arrow._posA_posB, (start, end), strict=True):
        assert point[0] == pytest.approx(box.get_x() + box.get_width() / 2)
        middle = box.get_y() + box.get_height() / 2
        assert abs(point[1] - middle) < box.get_height()


def test_neighbours_that_are_covered_lie_under_one_sheet():
    figure = sentence_arrows(Panel([Words(list("abcde"), covered=[0, 3, 4])]), title="")
    boxes = [box.get_window_extent() for box in drawn(figure, FancyBboxPatch)]
    sheets = [sheet.get_window_extent() for sheet in drawn(figure, Rectangle)]
    under = [[n for n, box in enumerate(boxes) if overlap(box, sheet)] for sheet in sheets]
    assert under == [[0], [3, 4]]


def test_its_words_name_rows_covers_and_arrows():
    rows = [
        Words(CAT, label="answer", notes=["1", "2", "3"], covered=[2]),
        Words(["sat"], label="asks"),
    ]
    one = Panel(rows, [Arrows([[0.25, 0.75, 0.0]], down=True, labels=True)], name="A")
    every = Panel([Words(CAT), Words(CAT)], [Arrows(np.full((3, 3), 0.3))])
    assert read_alt_text(sentence_arrows(one, every, title="All")) == (
        "All. A: From the bottom up, row 1, answer: the (1), cat (2), sat (3), with sat covered; "
        "row 2, asks: sat. Arrows from row 2 to row 1: sat to the 0.25, sat to cat 0.75. "
        "From the bottom up, row 1: the, cat, sat; row 2: the, cat, sat. "
        "Arrows from every word of row 1 to every word of row 2."
    )


ROWS = [Words(CAT, "key"), Words(["sat"], "query")]


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        (Panel([]), "a panel has 0 rows; expected at least 1"),
        (Panel([Words([])]), "row 0 has 0 words; expected at least 1"),
        (Panel([Words(CAT, start=-1)]), "`start` of row 0 is -1; expected a finite number of at"),
        (Panel([Words(CAT, start=float("nan"))]), "`start` of row 0 is nan; expected a finite"),
        (Panel([Words(CAT, "keys")]), "`part` of row 0 is 'keys'; expected '', 'query'"),
        (Panel([Words(CAT, ["key"])]), "`part` of row 0 has 1 colour; expected 3"),
        (Panel([Words(CAT, notes=["1"])]), "row 0 has 1 note; expected either none or 3"),
        (
            Panel([Words(CAT, covered=[3])]),
            "`covered` of row 0 contains 3; expected positions from 0 to 2",
        ),
        (Panel(ROWS, [Arrows([[1.0, 0.0, 0.0]], lower=1)]), "lower row is 1; expected the index of a"),
        (Panel(ROWS, [Arrows(np.ones((3, 1)))]), r"shape of weights is \(3, 1\); expected \(1, 3\)"),
        (Panel(ROWS, [Arrows([[1.5, 0.0, 0.0]])]), "weights contains 1.5; expected numbers from"),
        (
            Panel(ROWS, [Arrows([[1.0, 0.0, 0.0]], labels=[["a"]])]),
            r"labels\[0\] has 1 label; expected 3, one for each weight",
        ),
        (
            Panel([Words(CAT, covered=[0]), ROWS[1]], [Arrows([[1.0, 0.0, 0.0]])]),
            "covered words cannot have arrows, but there are arrows at 'the'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(panel, message):
    with pytest.raises(ValueError, match=message):
        sentence_arrows(panel, title="One")
