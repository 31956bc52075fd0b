"""Large maps of numbers of either sign, and positions as the hands of clocks."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from transformer_lab.config import check
from transformer_lab.viz.figures import add_title
from transformer_lab.viz.style import COLOURS, QUIET, SIGNED, course_style


def signed_map(
    values: Float[np.ndarray, "rows columns"],
    *,
    title: str,
    x_label: str,
    y_label: str,
    value_label: str = "",
) -> Figure:
    """A matrix too large for numbers: blue below 0, white at 0, red above.

    Args:
        values: Row 0 stands at the top.
        title: What the picture says.
        x_label: What the columns are.
        y_label: What the rows are.
        value_label: What the numbers are.

    Raises:
        ValueError: If `values` is no matrix of finite numbers.
    """
    check("shape of values", values.shape, "(rows, columns)", values.ndim == 2 and values.size > 0)
    check("values", "not all finite", "finite numbers", bool(np.isfinite(values).all()))
    largest = float(abs(values).max()) or 1.0
    with course_style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        image = axes.imshow(values, cmap=SIGNED, vmin=-largest, vmax=largest, aspect="auto")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=20)
        bar.set_label(value_label)
        bar.outline.set_visible(False)
        add_title(figure, title)
    return figure


def clock_hands(
    angles: Mapping[str, Float[np.ndarray, " clocks"]], names: list[str], *, title: str
) -> Figure:
    """Each pair (sin, cos) of a position as one clock's hand, which turns from the top to the right.

    Args:
        angles: What is shown, for instance a position → its angle on each clock, in radians;
            at most 4.
        names: The name of each clock.
        title: What the picture says.

    Raises:
        ValueError: If a row of angles does not have one for each clock, or if they are too many.
    """
    for name, row in angles.items():
        check(f"angles of {name!r}", row.shape, f"({len(names)},)", row.shape == (len(names),))
    shades = [QUIET, COLOURS["query"], COLOURS["key"], COLOURS["value"]]
    check("len(angles)", len(angles), f"at most {len(shades)}", len(angles) <= len(shades))
    with course_style():
        figure = Figure(figsize=(1.55 * len(names) + 0.2, 2.5), layout="constrained")
        clocks = figure.subplots(1, len(names), squeeze=False)[0]
        around = np.linspace(0, 2 * np.pi, 100)
        for place, (axes, clock) in enumerate(zip(clocks, names, strict=True)):
            axes.plot(np.sin(around), np.cos(around), color=QUIET, lw=0.8)
            for shade, (name, row) in zip(shades, angles.items(), strict=False):
                tip = np.sin(row[place]), np.cos(row[place])
                axes.plot([0, tip[0]], [0, tip[1]], color=shade, lw=2.2, label=name)
                axes.plot(*tip, "o", color=shade, ms=4)
            axes.set_title(clock, fontsize=8.5, fontweight="normal", loc="center")
            axes.set_aspect("equal")
            axes.axis("off")
        lines, labels = clocks[0].get_legend_handles_labels()
        figure.legend(lines, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        add_title(figure, title)
    return figure
