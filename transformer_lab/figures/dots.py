"""Dot plots of several runs for each of many settings."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from transformer_lab.config import check_choice, check_count
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.heatmaps import label_axis
from transformer_lab.figures.plots import write_plainly
from transformer_lab.figures.style import COLOURS, INK, QUIET, course_style
from transformer_lab.figures.titles import add_title

LINE = 0.24  # inches for one setting


def run_dots(
    runs: Mapping[str, Sequence[float]],
    *,
    title: str,
    x_label: str,
    base: str = "",
    log: bool = False,
) -> Figure:
    """Draw one row per setting, from top to bottom: a dot for each run, and a stroke at the mean.

    Args:
        runs: For each setting, the result of each run.
        title: The figure's title.
        x_label: The label of the x axis, with the unit.
        base: The setting to compare with; a band covers the range of its runs.
        log: Whether to use a logarithmic scale; all numbers must be above 0.

    Raises:
        ValueError: If a setting has no runs, a number is not finite, or `base` is not a setting.
    """
    for name, values in runs.items():
        finite = int(np.isfinite(np.asarray(values, dtype=float)).sum())
        expected = (
            f"{len(values)}, because every run must be finite" if len(values) else "at least 1"
        )
        check_count(f"setting {name!r}", finite, "finite run", expected, finite == len(values) > 0)
    check_choice("base", base, ["", *runs])
    with course_style():
        figure = Figure(figsize=(7.2, LINE * len(runs) + 1.2), layout="constrained")
        axes = figure.add_subplot()
        if log:
            axes.set_xscale("log")
            write_plainly(axes.xaxis)
        if base:
            axes.axvspan(min(runs[base]), max(runs[base]), color=COLOURS["mask"], alpha=0.3, lw=0)
        for line, values in enumerate(runs.values()):
            axes.plot(values, [line] * len(values), "o", ms=4.5, color=COLOURS["query"], alpha=0.75)
            axes.plot(np.mean(values), line, "|", ms=11, mew=2, color=INK)
        label_axis(axes, "y", list(runs), "")
        axes.set_ylim(len(runs) - 0.5, -0.5)
        axes.set_xlabel(x_label)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", alpha=0.25)
        axes.hlines(range(len(runs)), *axes.get_xlim(), color=QUIET, alpha=0.15, lw=0.8, zorder=0)
        add_title(figure, title)
        words.add_alt_text(figure, title, words.describe_runs(runs, x_label))
    return figure
