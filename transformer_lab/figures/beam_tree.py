"""A beam search as a tree: which partial hypotheses were kept, which were dropped, and which won."""

from collections.abc import Collection, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from transformer_lab.config import check
from transformer_lab.figures import alt_text as said
from transformer_lab.figures.heatmaps import LETTER, longest
from transformer_lab.figures.style import COLOURS, HIGHLIGHT, INK, PAGE, PAPER, QUIET, course_style
from transformer_lab.figures.titles import add_title

HEIGHT, ROW = 0.36, 0.46  # of a box, and from one box to the one below; inches
BETWEEN, NARROW = 0.42, 0.2  # from one column of boxes to the next, where the branches run
MARGIN = 0.15
NOTE = (
    "log-probability so far, nats, sorted within a parent; orange: won, blue: kept, grey: dropped"
)
NOTE_WIDTH = 6.2
KEPT, WON = "#e6f3fb", "#fff1e6"
"""What a box that was kept, and one on the winner's path, is filled with."""


def beam_tree(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    *,
    kept: Collection[int],
    winner: int | None = None,
    title: str = "",
) -> Figure:
    """Draw partial hypotheses as the nodes of a tree that grows to the right, word by word.

    Node n is one beginning: that of its parent, and one word more. Below each other stand the
    beginnings of one length, those of one parent together, the most probable of these first: a
    column as a whole is not sorted.

    Args:
        parents: For each node the number of its parent, which stands before it; None for the
            first node, the empty beginning.
        words: The last word of each beginning.
        log_probabilities: Of each whole beginning, in nats.
        kept: The nodes that the search went on with, or took as finished; the others are grey.
        winner: The node of the finished sentence that won; the path to it is highlighted.
        title: What the picture says.

    Raises:
        ValueError: Naming the argument that does not fit.
    """
    check_tree(parents, words, log_probabilities, kept, winner)
    path = set()
    at = winner
    while at is not None:
        path.add(at)
        at = parents[at]
    columns = group_by_length(parents, log_probabilities)
    widths = [max(longest([words[n] for n in nodes]) * LETTER, 0.36) + 0.2 for nodes in columns]
    tall = max(len(nodes) for nodes in columns) * ROW
    with course_style():
        branches = max(len(columns) - 1, 1)
        between = (PAGE - 2 * MARGIN - sum(widths)) / branches  # no wider than a page, if it fits
        between = min(max(between, NARROW), BETWEEN)
        wide = sum(widths) + between * (len(columns) - 1)
        wide = max(wide, NOTE_WIDTH) + 2 * MARGIN
        room = 0.26 * bool(title) + 0.3
        figure = Figure(figsize=(wide, tall + 2 * MARGIN + room))
        add_title(figure, title)
        room += 0.2 * figure.get_suptitle().count("\n")
        figure.set_figheight(tall + 2 * MARGIN + room)
        wide = max(wide, figure.get_figwidth())
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, wide)
        axes.set_ylim(0, tall + 2 * MARGIN + room)
        axes.axis("off")
        axes.text(MARGIN, MARGIN + 0.03, NOTE, color=QUIET, va="center", fontsize=8.5)
        ends: dict[int, tuple[float, float]] = {}  # where the branches of a node begin
        left = MARGIN
        for nodes, width in zip(columns, widths, strict=True):
            top = MARGIN + 0.3 + (tall + len(nodes) * ROW) / 2  # each column in the middle
            for place, node in enumerate(nodes):
                y = top - (place + 0.5) * ROW
                parent = parents[node]
                if parent is not None:
                    draw_branch(axes, ends[parent], (left, y), node_style(node, kept, path))
                text = f"{log_probabilities[node]:.2f}".replace("-", "−")
                draw_node(axes, (left, y, width), words[node], text, node_style(node, kept, path))
                ends[node] = (left + width, y)
            left += width + between
    said.add_alt_text(figure, title, describe_tree(parents, words, log_probabilities, kept, winner))
    return figure


def describe_tree(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    kept: Collection[int],
    winner: int | None,
) -> str:
    """Say how many partial hypotheses there are, how many were kept, and which sentence won."""
    text = f"A tree of {len(parents)} beginnings, {len(set(kept))} of them kept."
    path, at = [], winner
    while at is not None:
        path.append(words[at])
        at = parents[at]
    if winner is None:
        return text
    score = f"{log_probabilities[winner]:.2f}".replace("-", "−")
    return f"{text} The winner, at {score}: {' '.join(path[::-1])}."


def check_tree(
    parents: Sequence[int | None],
    words: Sequence[str],
    log_probabilities: Sequence[float],
    kept: Collection[int],
    winner: int | None,
) -> None:
    """Raise a ValueError unless this is one tree, with a word and a number at each node."""
    nodes = range(len(parents))
    check("len(parents)", len(parents), "at least 1", len(parents) > 0)
    check("parents[0]", parents[0], "None, as it is the empty beginning", parents[0] is None)
    for node in nodes[1:]:
        parent = parents[node]
        fits = parent is not None and 0 <= parent < node
        check(f"parents[{node}]", parent, f"0 to {node - 1}", fits)
    for name, given in (("words", words), ("log_probabilities", log_probabilities)):
        check(f"len({name})", len(given), f"{len(nodes)}, one a node", len(given) == len(nodes))
    check("kept", sorted(kept), f"nodes from 0 to {nodes[-1]}", set(kept) <= set(nodes))
    fits = winner is None or winner in nodes
    check("winner", winner, f"None or a node from 0 to {nodes[-1]}", fits)


def group_by_length(
    parents: Sequence[int | None], log_probabilities: Sequence[float]
) -> list[list[int]]:
    """Group the nodes by length, each group in the order in which they stand below each other."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent is not None:
            children.setdefault(parent, []).append(node)
    columns = [[0]]
    while True:
        found = [
            child
            for node in columns[-1]
            for child in sorted(children.get(node, ()), key=lambda n: -log_probabilities[n])
        ]
        if not found:
            return columns
        columns.append(found)


def node_style(node: int, kept: Collection[int], path: Collection[int]) -> str:
    """Return the colours and the line of a node."""
    if node in path:
        return "won"
    return "kept" if node in kept else "dropped"


LOOKS = {
    "won": (HIGHLIGHT, WON, 2.2, INK),
    "kept": (COLOURS["query"], KEPT, 1.4, INK),
    "dropped": (COLOURS["mask"], PAPER, 0.9, QUIET),
}
"""Edge, fill, width of line, text."""


def draw_node(
    axes: Axes, place: tuple[float, float, float], word: str, number: str, look: str
) -> None:
    """Draw one node: the word, and the number below it."""
    left, middle, width = place
    edge, fill, line, ink = LOOKS[look]
    patch = FancyBboxPatch(
        (left, middle - HEIGHT / 2),
        width,
        HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.05",
        facecolor=fill,
        edgecolor=edge,
        linewidth=line,
    )
    axes.add_patch(patch)
    centre = left + width / 2
    weight = "bold" if look == "won" else "normal"
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": ink, "parse_math": False}
    axes.text(centre, middle + 0.075, word, fontsize=9, fontweight=weight, **style)
    axes.text(centre, middle - 0.09, number, fontsize=8, **style)


def draw_branch(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], look: str
) -> None:
    """Draw a branch from the right side of one box to the left side of another."""
    edge, _, line, _ = LOOKS[look]
    axes.plot(
        [start[0], end[0]],
        [start[1], end[1]],
        color=edge,
        lw=line,
        zorder=1 if look != "won" else 2,
    )
