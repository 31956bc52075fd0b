"""The tree of a beam search shows every beginning once, in its place, and how it ended."""

import itertools

import pytest
from matplotlib.colors import same_color, to_hex

from tests.figures.test_plots import contrast
from transformer_lab.figures import beam_tree
from transformer_lab.figures.beam_tree import LOOKS

# <bos> → a, b; a → c, d; b → e; d → <eos>
PARENTS = [None, 0, 0, 1, 1, 2, 4]
WORDS = ["<bos>", "a", "b", "c", "$d$", "parce qu'elle", "<eos>"]
VALUES = [0.0, -0.5, -1.25, -3.0, -2.0, -1.5, -2.25]
KEPT = {0, 1, 2, 4, 5, 6}
LONG = "A title as long as a sentence that has something to say, and some words more than that"


def tree(**changes):
    arguments = {"parents": PARENTS, "words": WORDS, "log_probabilities": VALUES, "kept": KEPT}
    figure = beam_tree(**{**arguments, "winner": 6, "title": "One", **changes})
    figure.canvas.draw()
    return figure


def boxes(figure):
    """The box of each node, found by the word inside it."""
    axes = figure.axes[0]
    frames = [p for p in axes.patches if type(p).__name__ == "FancyBboxPatch"]
    found = {}
    for frame in frames:
        extent = frame.get_window_extent()
        inside = [
            text.get_text()
            for text in axes.texts
            if extent.contains(*middle(text.get_window_extent()))
        ]
        word, number = inside
        found[WORDS.index(word)] = (frame, number)
    assert len(frames) == len(found)
    return found


def middle(extent):
    return (extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2


def test_each_beginning_has_a_box_with_its_word_and_its_number():
    numbers = {node: number for node, (_, number) in boxes(tree()).items()}
    assert numbers == {n: f"{value:.2f}".replace("-", "−") for n, value in enumerate(VALUES)}


def test_the_tree_grows_to_the_right_and_the_most_probable_child_stands_above():
    at = {node: middle(box.get_window_extent()) for node, (box, _) in boxes(tree()).items()}
    for node, parent in enumerate(PARENTS[1:], 1):
        assert at[node][0] > at[parent][0]
    for same_length in ((1, 2), (3, 4, 5)):
        assert len({round(at[n][0], 3) for n in same_length}) == 1
    assert at[1][1] > at[2][1]
    assert at[4][1] > at[3][1] > at[5][1]


@pytest.mark.parametrize("winner", [6, 5, None])
def test_colours_say_what_was_kept_dropped_and_won(winner):
    path = {6: {0, 1, 4, 6}, 5: {0, 2, 5}, None: set()}[winner]
    for node, (box, _) in boxes(tree(winner=winner)).items():
        look = "won" if node in path else "kept" if node in KEPT else "dropped"
        assert same_color(box.get_edgecolor(), LOOKS[look][0]), node
    assert len({edge for edge, *_ in LOOKS.values()}) == 3


def test_every_word_and_number_can_be_read_on_its_box():
    """4.5 : 1 is what WCAG 2.1 asks of small text."""
    figure = tree()
    for node, (box, _) in boxes(figure).items():
        extent = box.get_window_extent()
        inside = [
            text
            for text in figure.axes[0].texts
            if extent.contains(*middle(text.get_window_extent()))
        ]
        assert len(inside) == 2
        for text in inside:
            assert contrast(text.get_color(), box.get_facecolor()) >= 4.5, (node, text)
            assert text.get_zorder() > box.get_zorder()
            assert text.get_alpha() in (None, 1)


@pytest.mark.parametrize("winner", [6, 5])
def test_the_winners_branches_lie_on_top(winner):
    """Branches of one parent begin in one point: there the winner's must not be painted over."""
    lines = tree(winner=winner).axes[0].lines
    won = [line for line in lines if same_color(line.get_color(), LOOKS["won"][0])]
    others = [line for line in lines if line not in won]
    assert len(won) == {6: 3, 5: 2}[winner]
    assert min(line.get_zorder() for line in won) > max(line.get_zorder() for line in others)


def test_a_branch_leads_from_each_parent_to_its_child():
    figure = tree()
    axes = figure.axes[0]
    found = boxes(figure)
    assert len(axes.lines) == len(PARENTS) - 1
    drawn = set()
    for line in axes.lines:
        (x0, y0), (x1, y1) = axes.transData.transform(line.get_xydata())
        start, end = (
            next(
                node
                for node, (box, _) in found.items()
                if abs(getattr(box.get_window_extent(), side) - x) < 3
                and abs(middle(box.get_window_extent())[1] - y) < 3
            )
            for x, y, side in ((x0, y0, "x1"), (x1, y1, "x0"))
        )
        drawn.add((end, start))
        assert to_hex(line.get_color()) == to_hex(found[end][0].get_edgecolor())
    assert drawn == set(enumerate(PARENTS[1:], 1)) == {(n, PARENTS[n]) for n in range(1, 7)}


@pytest.mark.parametrize("title", ["", "One", LONG])
def test_nothing_lies_on_anything_else_or_leaves_the_picture(title):
    figure = tree(title=title)
    extents = [box.get_window_extent() for box, _ in boxes(figure).values()]
    for one, other in itertools.combinations(extents, 2):
        assert not one.overlaps(other)
    texts = [text for text in (*figure.axes[0].texts, *figure.texts) if text.get_text()]
    assert {"One", LONG} & {text.get_text().replace("\n", " ") for text in texts} == {title} - {""}
    for text in texts:
        extent = text.get_window_extent()
        assert figure.bbox.x0 <= extent.x0
        assert extent.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= extent.y0
        assert extent.y1 <= figure.bbox.y1
        inside = [e for e in extents if e.overlaps(extent)]
        assert len(inside) == (text.get_text() in WORDS or text.get_text()[0] in "−0")
        assert all(e.x0 < extent.x0 and extent.x1 < e.x1 for e in inside), text.get_text()


def test_the_empty_beginning_alone_is_a_tree():
    figure = beam_tree([None], ["<bos>"], [0.0], kept=[0])
    assert not figure.axes[0].lines


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parents": []}, r"len\(parents\) is 0; expected at least 1"),
        ({"parents": [0, *PARENTS[1:]]}, r"parents\[0\] is 0; expected None"),
        ({"parents": [*PARENTS[:5], 5, 4]}, r"parents\[5\] is 5; expected 0 to 4"),
        ({"parents": [*PARENTS[:5], None, 4]}, r"parents\[5\] is None"),
        ({"words": WORDS[1:]}, r"len\(words\) is 6; expected 7"),
        ({"log_probabilities": VALUES[1:]}, r"len\(log_probabilities\) is 6"),
        ({"kept": {0, 7}}, r"kept is \[0, 7\]; expected nodes from 0 to 6"),
        ({"winner": 7}, "winner is 7; expected None or a node from 0 to 6"),
    ],
)
def test_what_is_no_tree_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        tree(**changes)
