"""Draw large matrices of signed numbers as maps, and positions as clock hands."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from transformer_lab.config import check, check_choice
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.heatmaps import LETTER, label_axis, longest
from transformer_lab.figures.style import COLOURS, PAGE, QUIET, SIGNED, WEIGHTS, course_style
from transformer_lab.figures.titles import add_title, format_formulas


def signed_map(
    values: Float[np.ndarray, "rows columns"],
    *,
    title: str,
    x_label: str,
    y_label: str,
    value_label: str = "",
    edges: tuple[float, float, float, float] | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw a matrix with too many numbers to write out: blue below 0, white at 0, red above.

    If all numbers are above 0, the colours go from the smallest to the largest. A square matrix is
    drawn as a square.

    Args:
        values: The matrix; row 0 is at the top.
        title: The figure's title.
        x_label: The label of the x axis, which says what the columns are.
        y_label: The label of the y axis, which says what the rows are.
        value_label: The label of the colour bar, which says what the numbers are.
        edges: The values on the axes at the left, right, bottom and top of the map; by default, the
            axes show row and column indices.
        limits: The range of the colours, so that pictures can be compared. If the lower limit is
            not above 0, the colours are symmetric about 0.

    Raises:
        ValueError: If `values` is not a matrix of finite numbers, or a number is outside `limits`.
    """
    fits = values.ndim == 2 and values.size > 0
    check("shape of values", values.shape, "(rows, columns) with at least one of each", fits)
    if not np.isfinite(values).all():
        raise ValueError("values contain NaN or infinity; expected finite numbers")
    low, largest = limits or (float(values.min()), float(abs(values).max()) or 1.0)
    inside = limits is None or (low <= values.min() and values.max() <= largest)
    expected = f"a range that includes all values, from {values.min():.3g} to {values.max():.3g}"
    check("limits", limits, expected, inside)
    colours, low = (SIGNED, -largest) if low <= 0 else (WEIGHTS, low)
    square = values.shape[0] == values.shape[1]
    with course_style():
        figure = Figure(figsize=(5.4, 4.4) if square else (7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        aspect: Literal["equal", "auto"] = "equal" if square else "auto"
        image = axes.imshow(
            values, cmap=colours, vmin=low, vmax=largest, aspect=aspect, extent=edges
        )
        axes.set_xlabel(format_formulas(x_label))
        axes.set_ylabel(format_formulas(y_label))
        for axis in (axes.xaxis, axes.yaxis) if edges is None else ():
            axis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        axes.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, aspect=20)
        bar.set_label(value_label)
        bar.outline.set_visible(False)
        add_title(figure, title)
        words.add_alt_text(
            figure, title, words.describe_signed_map(values, x_label, y_label, value_label)
        )
    return figure


def stage_panels(
    stages: Mapping[str, Float[np.ndarray, "tokens features"]],
    tokens: Sequence[str],
    *,
    weights: Collection[str] = (),
    across: int = 4,
    features: int = 32,
    limit: float | None = None,
    title: str,
) -> Figure:
    """Draw a sentence's arrays stage by stage: a row per token, blue below 0, red above.

    All panels share one scale, symmetric about 0, except that panels of weights go from 0 to 1. If
    an array is wide, only its first features are drawn, and the panel says so.

    Args:
        stages: The arrays by name, in the order in which they are computed.
        tokens: The token of each row.
        weights: The names of the stages that are attention weights.
        across: The number of panels side by side.
        features: The maximum number of columns to draw for each stage.
        limit: The number drawn in the deepest red; by default, 2% of all magnitudes exceed it.
        title: The figure's title.

    Raises:
        ValueError: If a stage does not have a row for each token, or `weights` has an unknown name.
    """
    for name, values in stages.items():
        fits = values.ndim == 2 and len(values) == len(tokens)
        check(f"shape of {name!r}", values.shape, f"({len(tokens)}, features)", fits)
    for name in weights:
        check_choice("stage in weights", name, stages)
    down = -(-len(stages) // across)
    signed = [abs(values).ravel() for name, values in stages.items() if name not in weights]
    limit = limit or (float(np.quantile(np.concatenate(signed), 0.98)) if signed else 0) or 1.0
    with course_style():
        wide = min(across * 1.75 + longest(tokens) * LETTER, PAGE)
        size = (wide, down * (len(tokens) * 0.15 + 0.75) + 0.5 + 0.5 * bool(signed))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=True)
        for axes in grid.flat:
            axes.axis("off")
        scale: AxesImage | None = None
        for number, (axes, (name, values)) in enumerate(
            zip(grid.flat, stages.items(), strict=False), start=1
        ):
            axes.axis("on")
            colours, low, high = (WEIGHTS, 0, 1) if name in weights else (SIGNED, -limit, limit)
            drawn = values[:, :features]
            image = axes.imshow(
                drawn, cmap=colours, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
            )
            scale = image if name not in weights else scale
            size_of = f"{values.shape[0]} × {values.shape[1]}"
            first = f", first {features}" if drawn.shape != values.shape else ""
            above = f"{number}. {format_formulas(name)}\n{size_of}{first}"
            axes.set_title(above, fontsize=8.5, fontweight="normal")
            label_axis(axes, "y", tokens, "")
            axes.set_xticks([])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
        if scale:
            bar = figure.colorbar(
                scale, ax=grid, location="bottom", aspect=60, fraction=0.03, extend="both"
            )
            bar.set_label("value (panels of weights: dark 0, bright 1)" if weights else "value")
            bar.outline.set_visible(False)
        add_title(figure, title)
        words.add_alt_text(figure, title, words.describe_stages(stages))
    return figure


def clock_hands(
    angles: Mapping[str, Float[np.ndarray, " clocks"]], names: list[str], *, title: str
) -> Figure:
    """Draw each pair (sin, cos) of a position as a clock hand that turns clockwise.

    Args:
        angles: The angles of each hand in radians, one for each clock, by the hand's name. There
            may be up to 4 hands, for example one for each position.
        names: The name of each clock.
        title: The figure's title.

    Raises:
        ValueError: If `angles` has more than 4 names, or a name lacks an angle for some clock.
    """
    for name, row in angles.items():
        check(
            f"shape of the angles in {name!r}",
            row.shape,
            f"({len(names)},)",
            row.shape == (len(names),),
        )
    shades = [QUIET, COLOURS["query"], COLOURS["key"], COLOURS["value"]]
    check("len(angles)", len(angles), f"at most {len(shades)}", len(angles) <= len(shades))
    with course_style():
        figure = Figure(figsize=(min(1.55 * len(names) + 0.2, PAGE), 2.5), layout="constrained")
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
        words.add_alt_text(figure, title, words.describe_clocks(angles, names))
    return figure
