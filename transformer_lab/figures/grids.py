"""Small matrices with their numbers, side by side."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure, FigureBase

from transformer_lab.config import check, check_count
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.heatmaps import frame, label_axis, longest
from transformer_lab.figures.style import (
    COLOURS,
    INK,
    MASKED,
    PAGE,
    PAPER,
    QUIET,
    SIGNED,
    WEIGHTS,
    course_style,
)
from transformer_lab.figures.titles import add_title, format_formulas, wrap_title

Scale = Literal["weights", "signed", "mask"]
"""What a matrix holds: numbers from 0 to 1, numbers of either sign, or a boolean mask."""

ROOM_FOR_A_NUMBER = 0.5  # inches
GAP, SIGN_GAP = 0.4, 0.3  # inches between two matrices, and extra for a sign between them


def number_grids(
    grids: Mapping[str, Float[np.ndarray, "_ _"] | Bool[np.ndarray, "_ _"]],
    *,
    title: str,
    rows: Mapping[str, Sequence[str]] | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    scale: Mapping[str, Scale] | None = None,
    digits: int = 2,
    signs: str = "",
    marked: Mapping[str, int] | None = None,
    limit: float = 0.0,
    shapes: bool = True,
) -> Figure:
    """Draw small matrices side by side, with every number written in its cell.

    All matrices of signed numbers share one colour scale. Matrices that do not fit side by side on
    a page continue in a new row below.

    Args:
        grids: The matrices by name; each name is written above its matrix.
        title: The figure's title.
        rows: The row labels of some matrices, by matrix name.
        columns: The column labels of some matrices, by matrix name.
        scale: The kind of numbers in each matrix, by name; "signed" by default.
        digits: The number of decimal places.
        signs: The characters between neighbouring matrices, one for each gap, such as "×=".
        marked: The index of a row to frame in some matrices, by matrix name.
        limit: The colour scale extends to at least ±`limit`, so that pictures can be compared.
        shapes: Whether to write the shape of each matrix below its name.

    Raises:
        ValueError: If a matrix, its labels, its marked row or `signs` is invalid; the message
            names the cause.
    """
    rows, columns, scale, marked = rows or {}, columns or {}, scale or {}, marked or {}
    check_grids(grids, rows, columns, signs, marked)
    names = list(grids)
    bare = [
        max(
            grids[name].shape[1] * ROOM_FOR_A_NUMBER,
            longest(lines_above(name, grids[name], shapes)) * 0.075,
        )
        for name in names
    ]
    labelled = [width + label_width(rows.get(n, ())) for width, n in zip(bare, names, strict=True)]
    widths = [min(width, PAGE - GAP) for width in labelled]
    lines = split_into_lines(widths)
    deep = max((longest(c) for c in columns.values()), default=0) > 2
    tall = [max(len(grids[names[n]]) for n in line) * ROOM_FOR_A_NUMBER * 0.8 for line in lines]
    names_high = 0.17 * max(len(lines_above(name, grid, shapes)) for name, grid in grids.items())
    heights = [high + 0.35 + names_high + 0.3 * bool(columns) + 0.35 * deep for high in tall]
    wide = max(sum(widths[n] + GAP for n in line) for line in lines) + len(signs) * SIGN_GAP
    signed = [g for name, g in grids.items() if scale.get(name, "signed") == "signed"]
    largest = max(limit, *(float(abs(g[np.isfinite(g)]).max(initial=0)) for g in signed), 0.0)
    with course_style():
        figure = Figure(figsize=(wide, sum(heights) + 0.4), layout="constrained")
        parts = figure.subfigures(len(lines), squeeze=False, height_ratios=heights)[:, 0]
        for part, line in zip(parts, lines, strict=True):
            rest = wide - sum(widths[n] + GAP for n in line)
            panels = make_axes_side_by_side(part, [bare[n] for n in line], signs, rest)
            for axes, name in zip(panels, (names[n] for n in line), strict=True):
                draw_grid(axes, grids[name], scale.get(name, "signed"), digits, largest)
                name_grid(
                    axes, lines_above(name, grids[name], shapes), rows.get(name), columns.get(name)
                )
                if name in marked:
                    axes.add_patch(frame(-0.5, marked[name] - 0.5, grids[name].shape[1]))
        add_title(figure, title)
        masks = [name for name in grids if scale.get(name) == "mask"]
        words.add_alt_text(figure, title, words.describe_grids(grids, rows, columns, masks, digits))
    return figure


def check_grids(
    grids: Mapping[str, np.ndarray],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    signs: str,
    marked: Mapping[str, int],
) -> None:
    """Raise a ValueError unless these are matrices with matching labels, signs and marked rows."""
    for name, grid in grids.items():
        check(f"shape of {name!r}", grid.shape, "(rows, columns)", grid.ndim == 2)
        for what, named, size in zip(("row", "column"), (rows, columns), grid.shape, strict=True):
            given = len(named.get(name, range(size)))
            check_count(repr(name), given, f"{what} label", f"{size}", given == size)
        row = marked.get(name, 0)
        check(f"row marked in {name!r}", row, f"0 to {len(grid) - 1}", 0 <= row < len(grid))
    gaps = max(len(grids) - 1, 0)
    expected = f"'' or one character for each gap between matrices, {gaps} in all"
    if not gaps:
        expected = "'', because there are fewer than two matrices"
    check("signs", signs, expected, len(signs) in (0, gaps))


def split_into_lines(widths: Sequence[float]) -> list[list[int]]:
    """Arrange panels in rows no wider than a page, and return the panel indices of each row.

    `widths` holds the widths of the panels in inches.
    """
    lines: list[list[int]] = [[]]
    for n, width in enumerate(widths):
        if lines[-1] and sum(widths[m] + GAP for m in lines[-1]) + width + GAP > PAGE:
            lines.append([])
        lines[-1].append(n)
    if len(lines) > 1:  # as many in each line, if that fits
        each = -(-len(widths) // len(lines))
        even = [list(range(n, min(n + each, len(widths)))) for n in range(0, len(widths), each)]
        if all(sum(widths[n] + GAP for n in line) <= PAGE for line in even):
            return even
    return lines


def make_axes_side_by_side(
    figure: FigureBase, widths: Sequence[float], signs: str, rest: float
) -> list[Axes]:
    """Return one axes for each width, side by side, with `signs` between them.

    `rest` is the width to leave empty on the right.
    """
    ratios = [widths[0]]
    for width in widths[1:]:
        ratios += [SIGN_GAP, width] if signs else [width]
    room = rest > 0.5 and not signs
    all_axes = figure.subplots(
        1, len(ratios) + room, width_ratios=ratios + [rest] * room, squeeze=False
    )[0].tolist()
    if room:
        all_axes.pop().remove()
    for sign, axes in zip(signs, all_axes[1::2], strict=False):
        axes.axis("off")
        axes.text(0.5, 0.5, sign, ha="center", va="center", fontsize=15, color=QUIET)
    return all_axes[::2] if signs else all_axes


def lines_above(name: str, grid: np.ndarray, shape: bool) -> list[str]:
    """Return the lines of a matrix's heading: its name, wrapped if it is long, and its shape.

    If `shape` is False, the shape is left out.
    """
    letters = max(14, round(grid.shape[1] * ROOM_FOR_A_NUMBER / 0.07))
    lines = [part for line in name.split("\n") for part in wrap_title(line, letters).split("\n")]
    return [*lines, f"({grid.shape[0]}, {grid.shape[1]})"] if shape else lines


def name_grid(
    axes: Axes,
    lines: Sequence[str],
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
) -> None:
    """Write the heading of a matrix, and the labels of its rows and columns if there are any."""
    axes.set_title("\n".join(map(format_formulas, lines)), fontsize=9, fontweight="normal", pad=6)
    for axis, labels in (("x", columns), ("y", rows)):
        if labels:
            label_axis(axes, axis, labels, "")
    axes.xaxis.set_ticks_position("bottom")
    axes.tick_params(length=0)
    if not columns:
        axes.set_xticks([])
    if not rows:
        axes.set_yticks([])
    axes.spines[:].set_visible(False)


def label_width(labels: Sequence[str]) -> float:
    """Return the width of the row labels in inches."""
    return longest(labels) * 0.08 if labels else 0.0


def draw_grid(axes: Axes, grid: np.ndarray, scale: Scale, digits: int, largest: float) -> None:
    """Draw the cells of one matrix, coloured by their numbers, with the numbers written inside.

    On the "signed" scale, the colours run from −1.5 to 1.5 times `largest`.
    """
    values = grid.astype(float)
    largest = 1.5 * max(largest, 1e-12)  # the map's ends are too dark to read on
    scales: dict[Scale, tuple[float, float, str | ListedColormap]] = {
        "weights": (0.0, 1.0, WEIGHTS),
        "signed": (-largest, largest, SIGNED),
        "mask": (0.0, 1.0, ListedColormap([COLOURS["mask"], PAPER])),
    }
    low, high, colours = scales[scale]
    shown = np.ma.masked_invalid(values)
    axes.imshow(shown, cmap=colours, vmin=low, vmax=high, aspect="auto")
    axes.set_facecolor(MASKED)  # of cells that hold −∞
    axes.set_xticks(np.arange(grid.shape[1] - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(grid.shape[0] - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="#d9d9d9", lw=0.6)
    axes.tick_params(which="minor", length=0)
    for (row, column), value in np.ndenumerate(values):
        share = (value - low) / (high - low) if np.isfinite(value) else 0.5
        dark = {"weights": share < 0.6, "signed": abs(share - 0.5) > 0.32, "mask": share < 0.5}
        text = format_cell_number(value, digits) if scale != "mask" else ("sees" if value else "")
        colour = PAPER if dark[scale] and np.isfinite(value) else INK
        axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=colour)


def format_cell_number(value: float, digits: int) -> str:
    """Format a number for a cell, with a true minus sign, and without decimals if it is whole."""
    if not np.isfinite(value):
        return "−∞" if value < 0 else "?"
    text = f"{value:z.0f}" if value == round(value) else f"{value:z.{digits}f}"
    return text.replace("-", "−")
