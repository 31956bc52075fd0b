"""The drawing of the residual stream: one vector on its way through a layer, post-norm and pre-norm."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from transformer_lab.config import check
from transformer_lab.figures.style import COLOURS, INK, PAPER, QUIET, course_style
from transformer_lab.figures.titles import add_title
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import layer_norm

Sublayer = Callable[[np.ndarray], np.ndarray]

EPSILON = 1e-5
NORM = "#0b7f7a"  # no other part of the model has this colour
NAMES = ("attention", "feed-forward")


class Part(NamedTuple):
    """One sub-layer: what it reads if that is normalised, what it says, the sum, and what goes on."""

    normed: np.ndarray | None
    said: np.ndarray
    total: np.ndarray
    out: np.ndarray

    def data(self) -> dict[str, list[float] | None]:
        """The same for a page."""
        return {name: None if v is None else v.tolist() for name, v in self._asdict().items()}


def residual_stream(
    x: Float[np.ndarray, " d_model"], attention: Sublayer, feed_forward: Sublayer
) -> Drawing:
    """Draw one word's vector through a layer (§3.1), with post-norm and with pre-norm.

        residual_stream(x, lambda v: (v + neighbour) / 2, lambda v: np.maximum(0, v @ W_1) @ W_2)

    LayerNorm has gain 1 and bias 0, as before training. A button silences both sub-layers, and the
    last step works LayerNorm out line by line.

    Args:
        x: The vector; 2 to 6 numbers have room.
        attention: From a vector to what attention says of it, of the same shape.
        feed_forward: The same for the feed-forward network.

    Raises:
        ValueError: If the vector is too long, or a sub-layer returns another shape.
    """
    check("numbers in x", len(x), "2 to 6, so that each can be read", 2 <= len(x) <= 6)
    speaking = (attention, feed_forward)
    for name, sublayer in zip(("attention", "feed_forward"), speaking, strict=True):
        shape = np.shape(sublayer(x))
        check(f"shape of what {name} returns", shape, f"{x.shape}, as x", shape == x.shape)
    silent = (np.zeros_like, np.zeros_like)
    flows = {
        name: {order: run_sublayers(x, sublayers, order == "pre") for order in ("post", "pre")}
        for name, sublayers in (("speaking", speaking), ("silent", silent))
    }
    data = {
        "x": x.tolist(),
        "names": NAMES,
        "epsilon": EPSILON,
        **{
            name: {order: [part.data() for part in parts] for order, parts in flow.items()}
            for name, flow in flows.items()
        },
    }
    ends = {order: parts[-1].out for order, parts in flows["speaking"].items()}
    alt = (
        f"Two residual streams, in steps: {format_vector(x)} flows down, and what attention and the "
        f"feed-forward network say is added to it. In post-norm LayerNorm stands on the stream, "
        f"which ends at {format_vector(ends['post'])}; in pre-norm it stands in the loops, and the "
        f"stream ends at {format_vector(ends['pre'])}."
    )
    return Drawing("stream", data, draw_still(x, flows["speaking"]), alt)


def run_sublayers(x: np.ndarray, sublayers: tuple[Sublayer, Sublayer], pre: bool) -> list[Part]:
    """Return what each sub-layer reads, what it adds, and what it leaves on the stream."""
    parts: list[Part] = []
    for sublayer in sublayers:
        normed = normalise(x) if pre else None
        said = np.asarray(sublayer(x if normed is None else normed), dtype=float)
        total = x + said
        x = total if pre else normalise(total)
        parts.append(Part(normed, said, total, x))
    return parts


def normalise(x: np.ndarray) -> np.ndarray:
    """Return LayerNorm with gain 1 and bias 0."""
    return layer_norm(x, np.ones(len(x)), np.zeros(len(x)), epsilon=EPSILON)


def format_vector(vector: np.ndarray) -> str:
    """Write a vector the way one reads it: (0, 1.5, −2)."""
    return f"({', '.join(f'{number:.2f}'.rstrip('0').rstrip('.') for number in vector)})".replace(
        "-", "−"
    )


def draw_still(x: np.ndarray, flow: dict[str, list[Part]]) -> Figure:
    """Draw both streams side by side, from top to bottom, for where no script runs."""
    with course_style():
        figure = Figure(figsize=(7.4, 6.0))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 7.4), ylim=(6.0, 0))
        axes.axis("off")
        for left, order, name in (
            (0.5, "post", "Post-norm: LayerNorm(x + Sublayer(x))"),
            (4.1, "pre", "Pre-norm: x + Sublayer(LayerNorm(x))"),
        ):
            axes.text(left - 0.3, 0.72, name, fontsize=9, fontweight="bold")
            draw_stream(axes, left, x, flow[order])
        add_title(figure, "Post-norm normalises the stream itself, pre-norm only what is read")
    return figure


def draw_stream(axes: Axes, left: float, x: np.ndarray, parts: list[Part]) -> None:
    """Draw one stream: a line down, a loop for each sub-layer, and the vectors beside it."""
    top, bottom, deep = 1.05, 5.85, 2.35
    arrow = {"arrowstyle": "-|>", "color": COLOURS["encoder"], "lw": 3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (left, bottom), (left, top), arrowprops=arrow)
    axes.text(left + 0.2, top + 0.05, f"x {format_vector(x)}", fontsize=8, va="center")
    for at, part in enumerate(parts):
        y = top + 0.25 + at * deep
        right, low = left + 2.85, y + 1.0
        axes.plot([left, right, right, left], [y, y, low, low], color=QUIET, lw=1.2, zorder=1)
        rows = [("LayerNorm", part.normed, NORM)] if part.normed is not None else []
        for row, (name, vector, colour) in enumerate(
            [*rows, (NAMES[at], part.said, COLOURS["mask"])]
        ):
            middle = y + 0.28 + 0.44 * row + 0.22 * (not rows)
            draw_box(axes, (left + 0.3, middle), name, colour)
            axes.text(left + 1.36, middle, format_vector(vector), fontsize=7, va="center")
        axes.add_patch(Circle((left, low), 0.11, facecolor=PAPER, edgecolor=QUIET, zorder=3))
        axes.text(left, low, "+", ha="center", va="center", zorder=4)
        axes.text(left + 0.2, low + 0.2, format_vector(part.total), fontsize=8, va="center")
        if part.normed is None:
            draw_box(axes, (left - 0.3, low + 0.6), "LayerNorm", NORM)
            axes.text(left + 0.8, low + 0.6, format_vector(part.out), fontsize=8, va="center")


def draw_box(axes: Axes, place: tuple[float, float], text: str, colour: str) -> None:
    """Draw a box with its name; `place` is the middle of its left edge."""
    x, y = place
    shape = FancyBboxPatch(
        (x, y - 0.14),
        *(1.0, 0.28),
        boxstyle="round,pad=0,rounding_size=0.05",
        facecolor=PAPER,
        edgecolor=colour,
        linewidth=1.8,
        zorder=3,
    )
    axes.add_patch(shape)
    axes.text(x + 0.5, y, text, ha="center", va="center", fontsize=8, color=INK, zorder=4)
