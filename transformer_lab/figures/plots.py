"""Line plots with each curve's name at its end."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from transformer_lab.config import check, check_count
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.style import COLOURS, LINES, QUIET, course_style
from transformer_lab.figures.titles import add_title, format_formulas

FEW = 40  # points; a line with more needs no markers
SEVERAL = 12  # points; up to this many, each has a tick
LABEL = 0.014  # width of a letter below a tick, as a share of the axes' width
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
    colours: Mapping[str, str | int] | None = None,
    spread: Mapping[str, np.ndarray] | None = None,
    each: Mapping[str, Sequence[Sequence[float]] | np.ndarray] | None = None,
    y_limits: tuple[float, float] | None = None,
) -> Figure:
    """Draw lines over the same x values, with each line's name at its right end.

    Args:
        x: The x values, with shape (points).
        lines: The y values of each line by name, with shape (points); NaN leaves a gap.
        title: The figure's title.
        x_label: The label of the x axis, with the unit.
        y_label: The label of the y axis.
        log: The axes that use a logarithmic scale.
        dashed: The names of lines to draw dashed, because they show theory, not measurements.
        colours: The colours of some lines, by name: a key of `COLOURS` for a part of the model, or
            an index into `LINES` to match a line in another picture.
        spread: The lower and upper edges of a band around some lines, by name, with shape
            (2, points).
        each: Thin lines to draw in the colour of some lines, by name, with shape (runs, points);
            for example, the runs behind a mean.
        y_limits: The range of the y axis; by default, it covers all data.

    Raises:
        ValueError: If a line, band or run does not match x, or a line has no finite point; the
            message names it.
    """
    for name, y in lines.items():
        check_count(f"line {name!r}", len(y), "point", f"{len(x)}, as in x", len(y) == len(x))
        finite = int(np.isfinite(np.asarray(y, dtype=float)).sum())
        check_count(f"line {name!r}", finite, "finite point", "at least 1", finite > 0)
    for name, band in (spread or {}).items():
        shape = np.shape(band)
        check(f"shape of spread[{name!r}]", shape, f"(2, {len(x)})", shape == (2, len(x)))
    for name, runs in (each or {}).items():
        points = sorted({len(run) for run in runs})
        if points != [len(x)]:
            wrong = [number for number in points if number != len(x)]
            found = f"a run of length {wrong[0]}" if wrong else "no runs"
            raise ValueError(
                f"each[{name!r}] has {found}; expected runs of length {len(x)}, the length of x"
            )
    with course_style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        ends = []
        for number, (name, y) in enumerate(lines.items()):
            theory = name in dashed
            colour = QUIET if theory else LINES[number % len(LINES)]
            if colours and name in colours:
                pinned = colours[name]
                colour = LINES[pinned] if isinstance(pinned, int) else COLOURS[pinned]
            style: dict[str, Any] = {"ls": "--", "lw": 1.4} if theory else {"lw": 1.8}
            if number >= len(LINES) and not theory:
                style["ls"] = "-."  # the colours begin again
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
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        if "y" in log:
            axes.set_yscale("log")
        if y_limits:
            axes.set_ylim(*y_limits)
        if "y" in log and axes.get_ylim()[1] < 20 * axes.get_ylim()[0]:
            write_plainly(axes.yaxis)
        axes.set_xlabel(format_formulas(x_label))
        axes.set_ylabel(format_formulas(y_label))
        axes.grid(alpha=0.25)
        tick_where_data_is(axes, np.asarray(x, dtype=float))
        label_ends(axes, np.asarray(x, dtype=float), ends)
        add_title(figure, title)
        given = {name: np.asarray(y, dtype=float) for name, y in lines.items()}
        if "y" not in log:
            given = words.drop_rounding_noise(given)
        seen = words.describe_lines(np.asarray(x, dtype=float), given, x_label, y_label)
        words.add_alt_text(figure, title, seen)
    return figure


def tick_where_data_is(axes: Axes, x: np.ndarray) -> None:
    """Put the ticks of the x axis at the data points if there are few of them.

    If there are many and all are whole numbers, put the ticks of a linear axis at whole numbers.
    """
    if len(x) > SEVERAL:
        if axes.get_xscale() == "linear" and np.array_equal(x, x.round()):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        return
    points = np.unique(x)
    left, right = (np.log2(points) if axes.get_xscale() == "log" else points)[[0, -1]]
    places = (np.log2(points) if axes.get_xscale() == "log" else points) - left
    places = places / ((right - left) or 1.0)
    kept: list[int] = []
    for n in reversed(range(len(points))):  # the last point always keeps its label
        room = LABEL * (len(f"{points[n]:,g}") + 1)
        if not kept or places[kept[-1]] - places[n] >= room:
            kept.append(n)
    axes.set_xticks(points[kept[::-1]], [f"{point:,g}" for point in points[kept[::-1]]])
    axes.xaxis.set_minor_locator(NullLocator())


def write_plainly(axis: Axis) -> None:
    """Label a short logarithmic axis with 0.2, 0.3, 0.4 … instead of powers of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7)))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())


def label_ends(axes: Axes, x: np.ndarray, ends: Sequence[tuple[str, np.ndarray, str]]) -> None:
    """Write each curve's name next to its last point, keeping the names apart."""
    axes.autoscale_view()
    to_axes = axes.transData + axes.transAxes.inverted()
    places = []
    for name, y, colour in ends:
        last = int(np.flatnonzero(np.isfinite(y))[-1])
        height = float(to_axes.transform((x[last], y[last]))[1])
        places.append((min(max(height, 0.0), 1.0), name, colour))  # y_limits may leave it out
    places.sort()
    heights = [height for height, _, _ in places]
    gap = GAP * (1.3 if any("√" in name for _, name, _ in places) else 1)  # a root is taller
    for n in range(1, len(heights)):
        heights[n] = max(heights[n], heights[n - 1] + gap)
    highest = 1.0  # of the label above; none may leave the picture
    for n in reversed(range(len(heights))):
        heights[n] = min(heights[n], highest)
        highest = heights[n] - gap
    for height, (_, name, colour) in zip(heights, places, strict=True):
        axes.annotate(
            format_formulas(name),
            (1.02, height),
            xycoords="axes fraction",
            color=colour,
            va="center",
            fontsize=9,
        )
