"""The picture of a finding: each test's interval, and the region that the claim predicts."""

import math
import textwrap
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tools.build_notebooks import ROOT
from tools.findings.finding import Finding, Measurement

FOLDER = ROOT / "docs" / "_static" / "findings"
COLOURS = {"for": "#0086d1", "against": "#c0392b", "open": "#777777"}


def choose_measurements(finding: Finding) -> list[Measurement]:
    """Return the measurements that the picture shows: at most two of each outcome, in their order."""
    shown: list[Measurement] = []
    for test in finding.measurements:
        if sum(other.outcome == test.outcome for other in shown) < 2:
            shown.append(test)
    return shown


def draw_chart(finding: Finding, path: Path) -> None:
    """Draw one row for each test and write the picture as SVG, the same bytes each time."""
    shown = choose_measurements(finding)
    titles = [textwrap.fill(test.what, 78) for test in shown]
    lines = sum(title.count("\n") + 1 for title in titles)
    with mpl.rc_context({"svg.hashsalt": "findings", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(6.4, 0.6 + 0.45 * len(shown) + 0.2 * lines), layout="constrained")
        axes = figure.subplots(len(shown), 1, squeeze=False)[:, 0]
        for ax, test, title in zip(axes, shown, titles, strict=True):
            low, high = test.interval
            ends = [end for end in (low, high, test.at_least, test.at_most) if math.isfinite(end)]
            room = 0.25 * (max(ends) - min(ends)) or 0.25 * abs(max(ends)) or 1.0
            left, right = min(ends) - room, max(ends) + room
            ax.axvspan(max(left, test.at_least), min(right, test.at_most), color="#e8f3ea")
            colour = COLOURS[test.outcome]
            ax.plot([low, high], [0, 0], color=colour, linewidth=5, solid_capstyle="round")
            ax.plot([test.estimate], [0], "o", color=colour, markersize=8)
            ax.set(xlim=(left, right), ylim=(-1, 1), yticks=[])
            ax.set_title(title, loc="left", fontsize=9)
            ax.spines[["left", "right", "top"]].set_visible(False)
        axes[-1].set_xlabel("green: what the claim predicts; bar: what was measured", fontsize=8)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
