"""Curves and small matrices with their numbers: arrays in, `Figure` out."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from transformer_lab.config import check
from transformer_lab.viz.figures import add_title, label_axis, longest
from transformer_lab.viz.style import (
    COLOURS,
    INK,
    LINES,
    PAPER,
    QUIET,
    SIGNED,
    WEIGHTS,
    course_style,
)

Scale = Literal["weights", "signed", "mask"]
"""What the numbers of a matrix are: from 0 to 1, of either sign, or True = may attend."""

ROOM_FOR_A_NUMBER = 0.5  # inches
FEW = 40  # points; more than these need no marks
GAP = 0.055  # between the labels of two curves, as a share of the axes' height


def curves(
    x: Sequence[float] | np.ndarray,
    lines: Mapping[str, Sequence[float] | np.ndarray],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log: Literal["", "x", "y", "xy"] = "",
    dashed: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
    spread: Mapping[str, np.ndarray] | None = None,
    each: Mapping[str, Sequence[Sequence[float]] | np.ndarray] | None = None,
    y_limits: tuple[float, float] | None = None,
) -> Figure:
    """Lines over the same x, each with its name written at its right end.

    Args:
        x: (points).
        lines: Name → (points); NaN leaves a gap.
        title: What the picture says.
        x_label: What x is, with its unit.
        y_label: What the lines are.
        log: The axes with a logarithmic scale.
        dashed: Names of lines that are theory, not measurement.
        colours: Name → a name of `COLOURS`, for lines that stand for a thing with a colour.
        spread: Name → (2, points): the lower and upper edge of a band around the line.
        each: Name → (runs, points): thin lines of the same colour, such as the runs of a mean.
        y_limits: What the y axis shows; all of it if not said.

    Raises:
        ValueError: Naming the line that does not fit.
    """
    for name, y in lines.items():
        check(f"points of {name!r}", len(y), f"{len(x)}, as many as x", len(y) == len(x))
        finite = int(np.isfinite(np.asarray(y, dtype=float)).sum())
        check(f"finite points of {name!r}", finite, "at least 1", finite > 0)
    for name, band in (spread or {}).items():
        shape = np.shape(band)
        check(f"shape of the spread of {name!r}", shape, f"(2, {len(x)})", shape == (2, len(x)))
    for name, runs in (each or {}).items():
        points = sorted({len(run) for run in runs})
        check(f"points of the runs of {name!r}", points, f"[{len(x)}]", points == [len(x)])
    with course_style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        ends = []
        for number, (name, y) in enumerate(lines.items()):
            theory = name in dashed
            colour = QUIET if theory else LINES[number % len(LINES)]
            colour = COLOURS[colours[name]] if colours and name in colours else colour
            style: dict[str, Any] = {"ls": "--", "lw": 1.4} if theory else {"lw": 1.8}
            if not theory and len(x) <= FEW:
                style |= {"marker": "o", "ms": 3.5}
            axes.plot(x, y, color=colour, **style)
            if spread and name in spread:
                axes.fill_between(x, *spread[name], color=colour, alpha=0.2, lw=0)
            for run in (each or {}).get(name, ()):
                axes.plot(x, run, color=colour, lw=0.8, alpha=0.5)
            ends.append((name, np.asarray(y, dtype=float), colour))
        if "x" in log:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        if "y" in log:
            axes.set_yscale("log")
        if y_limits:
            axes.set_ylim(*y_limits)
        if "y" in log and axes.get_ylim()[1] < 20 * axes.get_ylim()[0]:
            write_plainly(axes.yaxis)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(alpha=0.25)
        label_ends(axes, np.asarray(x, dtype=float), ends)
        add_title(figure, title)
    return figure


def write_plainly(axis: Axis) -> None:
    """Write 0.2, 0.3, 0.4 … on a logarithmic axis that is too short for powers of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7)))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def label_ends(axes: Axes, x: np.ndarray, ends: Sequence[tuple[str, np.ndarray, str]]) -> None:
    """Write each curve's name beside its last point, apart from each other."""
    axes.autoscale_view()
    to_axes = axes.transData + axes.transAxes.inverted()
    places = []
    for name, y, colour in ends:
        last = int(np.flatnonzero(np.isfinite(y))[-1])
        height = float(to_axes.transform((x[last], y[last]))[1])
        places.append((min(max(height, 0.0), 1.0), name, colour))  # y_limits may leave it out
    places.sort()
    heights = [height for height, _, _ in places]
    for n in range(1, len(heights)):
        heights[n] = max(heights[n], heights[n - 1] + GAP)
    highest = 1.0  # of the label above; none may leave the picture
    for n in reversed(range(len(heights))):
        heights[n] = min(heights[n], highest)
        highest = heights[n] - GAP
    for height, (_, name, colour) in zip(heights, places, strict=True):
        axes.annotate(
            name,
            (1.02, height),
            xycoords="axes fraction",
            color=colour,
            va="center",
            fontsize=9,
        )


def number_grids(
    grids: Mapping[str, Float[np.ndarray, "_ _"] | Bool[np.ndarray, "_ _"]],
    *,
    title: str,
    rows: Mapping[str, Sequence[str]] | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, Scale] | None = None,
    digits: int = 2,
) -> Figure:
    """Small matrices side by side, with every number written in its cell.

    Args:
        grids: Name → matrix; the name stands above it, with its shape.
        title: What the picture says.
        rows: Name → a label for each row.
        columns: Name → a label for each column.
        scale: Name → what the numbers are; "signed" if not said.
        digits: Digits after the point.

    Raises:
        ValueError: Naming the matrix that does not fit.
    """
    rows, columns, scale = rows or {}, columns or {}, scale or {}
    for name, grid in grids.items():
        check(f"shape of {name!r}", grid.shape, "(rows, columns)", grid.ndim == 2)
        for what, named, size in zip(("rows", "columns"), (rows, columns), grid.shape, strict=True):
            given = len(named.get(name, range(size)))
            check(f"labels for the {what} of {name!r}", given, f"{size}", given == size)
    sizes = [grid.shape for grid in grids.values()]
    widths = [
        max(c * ROOM_FOR_A_NUMBER, len(name) * 0.075) + room_left(rows.get(name, ()))
        for name, (_, c) in zip(grids, sizes, strict=True)
    ]
    tall = max(r for r, _ in sizes) * ROOM_FOR_A_NUMBER * 0.8
    deep = max((longest(c) for c in columns.values()), default=0) > 2
    with course_style():
        inches = (sum(widths) + 0.55 * len(sizes), tall + 1.1 + 0.3 * bool(columns) + 0.35 * deep)
        figure = Figure(
            figsize=(max(inches[0], len(title) * 0.1 + 0.4), inches[1]), layout="constrained"
        )
        panels = figure.subplots(1, len(sizes), width_ratios=widths, squeeze=False)[0]
        for axes, (name, grid) in zip(panels, grids.items(), strict=True):
            draw_grid(axes, grid, scale.get(name, "signed"), digits)
            r, c = grid.shape
            axes.set_title(f"{name}\n({r}, {c})", fontsize=9, fontweight="normal", pad=6)
            for axis, labels in (("x", columns.get(name)), ("y", rows.get(name))):
                if labels:
                    label_axis(axes, axis, labels, "")
            axes.xaxis.set_ticks_position("bottom")
            axes.tick_params(length=0)
            if name not in columns:
                axes.set_xticks([])
            if name not in rows:
                axes.set_yticks([])
            axes.spines[:].set_visible(False)
        add_title(figure, title)
    return figure


def room_left(labels: Sequence[str]) -> float:
    """Inches for the labels of rows."""
    return longest(labels) * 0.08 if labels else 0.0


def draw_grid(axes: Axes, grid: np.ndarray, scale: Scale, digits: int) -> None:
    """The cells of one matrix, coloured by what the numbers are, with the numbers in them."""
    values = grid.astype(float)
    seen = values[np.isfinite(values)]
    largest = 1.5 * float(abs(seen).max(initial=1e-12))  # the map's ends are too dark to read on
    scales: dict[Scale, tuple[float, float, str | ListedColormap]] = {
        "weights": (0.0, 1.0, WEIGHTS),
        "signed": (-largest, largest, SIGNED),
        "mask": (0.0, 1.0, ListedColormap([COLOURS["mask"], PAPER])),
    }
    low, high, colours = scales[scale]
    shown = np.ma.masked_invalid(values)
    axes.imshow(shown, cmap=colours, vmin=low, vmax=high, aspect="auto")
    axes.set_facecolor("#d9d9d9")  # of cells that hold −∞
    axes.set_xticks(np.arange(grid.shape[1] - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(grid.shape[0] - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#d9d9d9", lw=0.6)
    axes.tick_params(which="minor", length=0)
    for (row, column), value in np.ndenumerate(values):
        share = (value - low) / (high - low) if np.isfinite(value) else 0.5
        dark = {"weights": share < 0.6, "signed": abs(share - 0.5) > 0.32, "mask": share < 0.5}
        text = number_in(value, digits) if scale != "mask" else ("sees" if value else "")
        colour = PAPER if dark[scale] and np.isfinite(value) else INK
        axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=colour)


def number_in(value: float, digits: int) -> str:
    """A number as it stands in a cell: whole numbers without a point, the minus as a minus."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "?"
    text = f"{value:z.0f}" if value == round(value) else f"{value:.{digits}f}"
    return text.replace("-", "−")
