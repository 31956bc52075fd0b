"""Draw boxes around words, arrows whose thickness shows a weight, and covers over hidden words.

The module `sentence` decides where each of these goes. Positions and sizes are in inches, but the
thickness of arrows is in points.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from transformer_lab.figures.style import COLOURS, HEADS, INK, MASKED, PAPER, QUIET

WORD, SMALL = 12.0, 11.0  # points: for a word, and for labels beside and between words
THICK = 10.0  # points: an arrow of weight 1
THIN = 0.005  # below this weight an arrow is dotted
HEAD_NAMES = {f"head {number}": colour for number, colour in enumerate(HEADS, start=1)}


def colour_of(part: str) -> str:
    """Return the colour of a part, or grey for ""."""
    return {"": QUIET, **COLOURS, **HEAD_NAMES}[part]


def draw_box(
    axes: Axes,
    middle: float,
    low: float,
    wide: float,
    high: float,
    text: str,
    size: float,
    part: str,
    *,
    note: bool = False,
) -> None:
    """Draw a box with text inside; a note is filled with a light shade of its colour."""
    colour = np.array([int(colour_of(part)[n : n + 2], 16) / 255 for n in (1, 3, 5)])
    shape = "square,pad=0" if note else "round,pad=0,rounding_size=0.06"
    box = FancyBboxPatch(
        (middle - wide / 2, low),
        wide,
        high,
        boxstyle=shape,
        facecolor=tuple(0.16 * colour + 0.84) if note else PAPER,
        edgecolor=tuple(colour),
        linewidth=1.0 if note else 1.8,
        zorder=3,
    )
    axes.add_patch(box)
    axes.text(
        *(middle, low + high / 2 - 0.01, text),
        ha="center",
        va="center",
        fontsize=size,
        color=QUIET if part == "mask" and not note else INK,
        parse_math=False,
        zorder=6,
    )


def draw_cover(axes: Axes, left: float, low: float, wide: float, high: float) -> None:
    """Draw a cover over hidden words; the words themselves stay readable."""
    sheet = Rectangle(
        (left, low),
        wide,
        high,
        facecolor=MASKED,
        edgecolor=COLOURS["mask"],
        linewidth=1.2,
        linestyle="--",
        zorder=5,
    )
    axes.add_patch(sheet)


def make_arrow(
    start: tuple[float, float], end: tuple[float, float], weight: float, colour: str
) -> FancyArrowPatch:
    """Return an arrow whose thickness shows its weight, or a dotted line for a weight near 0."""
    if weight < THIN:
        return FancyArrowPatch(
            start, end, arrowstyle="-", color=colour, lw=1, linestyle=":", shrinkA=0, shrinkB=0
        )
    tail = max(1.0, THICK * weight)
    look = f"simple,tail_width={tail},head_width={tail + 7},head_length={7 + 0.6 * tail}"
    return FancyArrowPatch(
        start,
        end,
        arrowstyle=look,
        mutation_scale=1,
        facecolor=colour,
        linewidth=0,
        shrinkA=0,
        shrinkB=0,
        zorder=2,
    )


def write_label(axes: Axes, x: float, y: float, label: str) -> None:
    """Write a label on an arrow, with a background in the colour of the paper."""
    axes.text(
        *(x, y, label),
        ha="center",
        va="center",
        fontsize=SMALL,
        parse_math=False,
        zorder=4,
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.5},
    )
