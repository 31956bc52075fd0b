"""Draw Figure 1 of the paper, optionally with a model's shapes or highlighted boxes."""

from collections.abc import Collection, Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from transformer_lab.config import join_with_and
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.style import COLOURS, HIGHLIGHT, INK, PAPER, QUIET, course_style
from transformer_lab.figures.titles import add_title, format_formulas

ENCODER = {
    "source_embedding": "Embedding × √d_model",
    "source_positions": "+ Positions",
    "encoder.self_attention": "Self-attention",
    "encoder.add_norm_1": "Add & Norm",
    "encoder.feed_forward": "Feed-forward",
    "encoder.add_norm_2": "Add & Norm",
}
DECODER = {
    "target_embedding": "Embedding × √d_model",
    "target_positions": "+ Positions",
    "decoder.self_attention": "Masked self-attention",
    "decoder.add_norm_1": "Add & Norm",
    "decoder.cross_attention": "Cross-attention",
    "decoder.add_norm_2": "Add & Norm",
    "decoder.feed_forward": "Feed-forward",
    "decoder.add_norm_3": "Add & Norm",
    "output": "Linear",
    "softmax": "Softmax",
}
BOXES = ENCODER | DECODER
"""The boxes of Figure 1, from the bottom up, with the text inside each one.

A name that begins with `encoder.` or `decoder.` stands for a part of one layer.
"""

WIDTH, HEIGHT, STEP = 2.1, 0.34, 0.52  # of a box, and from one box to the next; inches
LEFT, RIGHT = 0.7, 4.2  # where the columns begin
BASE = 0.5  # where the lowest boxes begin
FIRST_OF_LAYER = 2  # in a column, counted from 0
AROUND = 0.18  # how far a residual connection is from its boxes


def architecture(
    labels: Mapping[str, str] | None = None,
    *,
    lit: Collection[str] = (),
    layers: tuple[int | str, int | str] = ("N", "N"),
    title: str = "",
) -> Figure:
    """Draw the encoder and the decoder of Figure 1 side by side, with post-norm as in the paper.

    Args:
        labels: Text to write below the names of some `BOXES`, such as the output's shape.
        lit: The names of boxes to highlight; the others fade. If it is empty, none fades.
        layers: The number of encoder layers and the number of decoder layers.
        title: The figure's title.

    Raises:
        ValueError: If `labels` or `lit` names a box that does not exist.
    """
    labels = labels or {}
    for name, given in (("labels", labels), ("lit", lit)):
        for key in given:
            if key not in BOXES:
                known = join_with_and(map(repr, BOXES))
                raise ValueError(f"{name} names the box {key!r}, but the boxes are {known}")
    with course_style():
        figure = Figure(figsize=(7.0, BASE + len(DECODER) * STEP + 0.45 + 0.3 * bool(title)))
        axes = figure.add_axes((0, 0, 1, 1 - 0.06 * bool(title)))
        axes.set_xlim(0, 7.0)
        axes.set_ylim(0, BASE + len(DECODER) * STEP + 0.4)
        axes.axis("off")
        for column, boxes, part, count in zip(
            (LEFT, RIGHT), (ENCODER, DECODER), ("encoder", "decoder"), layers, strict=True
        ):
            draw_layer_frame(axes, column, boxes, part, count)
            for row, (name, text) in enumerate(boxes.items()):
                draw_box(axes, column, row, text, labels.get(name, ""), part, box_style(name, lit))
            draw_arrows(axes, column, boxes)
        draw_memory(axes)
        for column, text in ((LEFT, "source words"), (RIGHT, "target words, shifted right")):
            axes.text(column + WIDTH / 2, 0.12, text, ha="center", va="center", color=QUIET)
        centre, top = RIGHT + WIDTH / 2, box_bottom(len(DECODER))
        draw_arrow(axes, (centre, top - STEP + HEIGHT), (centre, top))
        axes.text(centre, top + 0.05, "next word", ha="center", va="bottom", color=QUIET)
        add_title(figure, title)
        words.add_alt_text(figure, title, describe_architecture(labels, lit))
    return figure


def describe_architecture(labels: Mapping[str, str], lit: Collection[str]) -> str:
    """Describe Figure 1: which boxes are highlighted, and the labels in the boxes."""
    text = "Figure 1 of the paper: encoder and decoder side by side."
    for side in ("encoder", "decoder"):
        parts = [BOXES[name] for name in BOXES if name in lit and name.startswith(f"{side}.")]
        if parts:
            text += f" Lit up in a layer of the {side}: {join_with_and(parts)}."
    outside = [format_box_name(name) for name in BOXES if name in lit and "." not in name]
    if outside:
        text += f" Lit up: {join_with_and(outside)}."
    written = [f"{format_box_name(name)} {labels[name]}" for name in BOXES if labels.get(name)]
    return f"{text} {'; '.join(written)}." if written else text


def format_box_name(name: str) -> str:
    """Return a box's name for a screen reader, with spaces instead of dots and underscores."""
    return name.replace(".", " ").replace("_", " ")


def box_style(name: str, lit: Collection[str]) -> str:
    """Return the name of a box's style: "plain", "lit" or "quiet".

    If no box is `lit`, all of them are plain.
    """
    if not lit:
        return "plain"
    return "lit" if name in lit else "quiet"


def box_bottom(row: int) -> float:
    """Return the y coordinate of the lower edge of a box in this row, in data units."""
    return BASE + row * STEP


def draw_box(
    axes: Axes, column: float, row: int, text: str, label: str, part: str, look: str
) -> None:
    """Draw one box with its name, and a label below the name."""
    edge = {"plain": COLOURS[part], "lit": HIGHLIGHT, "quiet": COLOURS["mask"]}[look]
    box = FancyBboxPatch(
        (column, box_bottom(row)),
        WIDTH,
        HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.06",
        facecolor="#fff1e6" if look == "lit" else PAPER,
        edgecolor=edge,
        linewidth=2.2 if look == "lit" else 1.2,
    )
    axes.add_patch(box)
    middle = box_bottom(row) + HEIGHT / 2
    colour = QUIET if look == "quiet" else INK
    weight = "bold" if look == "lit" else "normal"
    lift = 0.065 if label else 0
    centre = column + WIDTH / 2
    axes.text(
        centre,
        middle + lift,
        format_formulas(text),
        ha="center",
        va="center",
        fontweight=weight,
        color=colour,
    )
    axes.text(centre, middle - 0.09, label, ha="center", va="center", fontsize=7.5, color=QUIET)


def draw_layer_frame(
    axes: Axes, column: float, boxes: Mapping[str, str], part: str, count: int | str
) -> None:
    """Draw the frame around the repeated layer, and write how many times it is repeated."""
    inside = sum(name.startswith(f"{part}.") for name in boxes)
    low = box_bottom(FIRST_OF_LAYER) - 0.14
    high = box_bottom(FIRST_OF_LAYER + inside - 1) + HEIGHT + 0.1
    side = AROUND + 0.12
    frame = Rectangle(
        (column - side, low), WIDTH + 2 * side, high - low, facecolor="#f4f4f6", edgecolor="none"
    )
    axes.add_patch(frame)
    at = column - side - 0.06 if part == "encoder" else column + WIDTH + side + 0.06
    axes.text(
        *(at, (low + high) / 2, f"{count} ×"),
        ha="right" if part == "encoder" else "left",
        va="center",
        fontsize=11,
        color=COLOURS[part],
    )


def draw_arrows(axes: Axes, column: float, boxes: Mapping[str, str]) -> None:
    """Draw the arrows between boxes, and a residual connection around each sub-layer."""
    centre = column + WIDTH / 2
    draw_arrow(axes, (centre, 0.22), (centre, box_bottom(0)))
    for row in range(len(boxes) - 1):
        draw_arrow(axes, (centre, box_bottom(row) + HEIGHT), (centre, box_bottom(row + 1)))
    for row, text in enumerate(boxes.values()):
        if text == "Add & Norm":
            low, high = box_bottom(row - 1) - 0.1, box_bottom(row) + HEIGHT / 2
            aside = column + WIDTH + AROUND
            axes.plot([centre, aside, aside], [low, low, high], color=QUIET, lw=1)
            draw_arrow(axes, (aside, high), (column + WIDTH, high))


def draw_memory(axes: Axes) -> None:
    """Draw the arrow from the top of the encoder to the cross-attention of each layer."""
    top = box_bottom(len(ENCODER)) - 0.02
    into = box_bottom(list(DECODER).index("decoder.cross_attention")) + HEIGHT / 2
    middle = (LEFT + WIDTH + RIGHT) / 2
    start = LEFT + WIDTH / 2
    colour = COLOURS["encoder"]
    last = box_bottom(len(ENCODER) - 1) + HEIGHT
    axes.plot([start, start, middle, middle], [last, top, top, into], color=colour, lw=1.4)
    draw_arrow(axes, (middle, into), (RIGHT, into), colour)
    axes.text(middle - 0.08, top + 0.05, "memory (keys, values)", ha="right", color=colour)


def draw_arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = QUIET
) -> None:
    """Draw a thin arrow."""
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)
