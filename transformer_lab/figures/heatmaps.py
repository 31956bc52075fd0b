"""Draw attention weights as heatmaps and bars; functions return a `Figure` without showing it."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from transformer_lab.attention.record import Alignment, checked_labels
from transformer_lab.config import check, check_boolean, check_choice
from transformer_lab.figures import alt_text as words
from transformer_lab.figures.style import (
    COLOURS,
    HIGHLIGHT,
    INK,
    MASKED,
    PAGE,
    PAPER,
    QUIET,
    WEIGHTS,
    course_style,
)
from transformer_lab.figures.titles import add_title, format_formulas

CELL = 0.33  # inches: room for a number like .95
SMALLEST = 0.19  # inches: the smallest cell at which the tokens can still be read
SMALL = 6  # rows and columns; a map with no more gets larger cells, and its scale a shorter label
LETTER = 0.085  # inches, about the width of one
LONGEST_LABEL = 60  # letters: no picture has room for a word of ten thousand
WORTH_A_NUMBER = 0.045  # smaller weights would print as 0.0 or clutter the picture


def attention_heatmap(
    weights: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    query_label: str = "query",
    key_label: str = "key",
    row: int | None = None,
    cell: tuple[int, int] | None = None,
    alignment: Alignment = (),
    mask: Bool[np.ndarray, "query key"] | None = None,
) -> Figure:
    """Draw one head's weights: a row for each query, a column for each key, colours from 0 to 1.

    Args:
        weights: The weights, from 0 to 1.
        queries: The token of each row, from top to bottom.
        keys: The token of each column, from left to right.
        title: The figure's title.
        query_label: The label of the query axis.
        key_label: The label of the key axis.
        row: The index of a row to frame, with its larger weights written inside.
        cell: A (query, key) cell to frame.
        alignment: Gold (key, query) links, as in a record; each is marked with a ring.
        mask: True means "may attend"; the other cells are grey, which is not on the colour scale.

    Raises:
        ValueError: If an argument is invalid; the message names it.
    """
    check_weights_and_tokens(weights, queries, keys)
    rows, columns = weights.shape
    check("row", row, f"a number from 0 to {rows - 1}, or None", row is None or 0 <= row < rows)
    inside = cell is None or (0 <= cell[0] < rows and 0 <= cell[1] < columns)
    expected = f"a query from 0 to {rows - 1} and a key from 0 to {columns - 1}"
    check("cell", cell, f"None, or (query, key) with {expected}", inside)
    for key, query in alignment:
        fits = 0 <= key < columns and 0 <= query < rows
        expected = f"a key from 0 to {columns - 1} and a query from 0 to {rows - 1}"
        check("alignment link", (key, query), f"(key, query) with {expected}", fits)
    check_mask(mask, weights)

    with course_style():
        # Beside the cells there is room for tokens and scale, above them for tokens and title.
        small = max(rows, columns) <= SMALL
        side = CELL * (1.5 if small else 1)
        beside = longest(queries) * LETTER + 1.5
        side = min(side, (PAGE - beside) / columns)
        width = columns * side + beside
        height = rows * side + longest(keys) * LETTER + 0.7
        notes = ["○  gold alignment"] * bool(alignment) + masked_note(mask)
        height += 0.4 * bool(title) + 0.2 * bool(notes)
        figure = Figure(figsize=(max(width, 4), height), layout="compressed")
        axes = figure.add_subplot()
        image = draw_weights(axes, weights, mask)
        axes.xaxis.set_ticks_position("top")
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0)
        chosen = {row, cell[0] if cell else None}
        label_axis(axes, "y", queries, query_label, bold=chosen)
        label_axis(axes, "x", keys, key_label, bold={cell[1]} if cell else ())
        axes.spines[:].set_visible(False)
        if row is not None:
            axes.add_patch(frame(-0.5, row - 0.5, columns))
            for column, weight in enumerate(weights[row].tolist()):
                write_weight(axes, column, row, weight)
        if cell is not None:
            axes.add_patch(frame(cell[1] - 0.5, cell[0] - 0.5, 1))
        for key, query in alignment:
            ring(axes, key, query)
        if notes:
            figure.supxlabel("     ".join(notes), fontsize=9, color=QUIET)
        bar = figure.colorbar(image, ax=axes, shrink=0.6, aspect=18, ticks=[0, 0.5, 1])
        bar.set_label("weight" if small else "weight (each row sums to 1)")
        bar.outline.set_visible(False)
        add_title(figure, title)
        seen = words.describe_map(weights, queries, keys, row=row, mask=mask)
        words.add_alt_text(figure, title, seen)
    return figure


def attention_panels(
    panels: Mapping[str, Float[np.ndarray, "query key"]],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    mask: Bool[np.ndarray, "query key"] | None = None,
) -> Figure:
    """Draw several heads' weights for the same tokens side by side, on one scale from 0 to 1.

    Args:
        panels: Maps of weights, with shape (query, key), by title. At most 4 are drawn side by
            side, or 2 if 4 would be too small.
        queries: The token of each row.
        keys: The token of each column.
        title: The figure's title.
        mask: True means "may attend", the same in all panels; the other cells are grey.

    Raises:
        ValueError: If an argument is invalid; the message names it.
    """
    for name, weights in panels.items():
        check_weights_and_tokens(weights, queries, keys, (name, "queries", "keys"))
        check_mask(mask, weights)
    beside = longest(queries) * LETTER + 1.6
    across = min(4, len(panels))
    if across * len(keys) * SMALLEST + beside > PAGE:
        across = min(2, len(panels))
    down = -(-len(panels) // across)
    with course_style():
        side = min(CELL, max(SMALLEST, 2.2 / len(keys)), (PAGE - beside) / (across * len(keys)))
        width = across * len(keys) * side + beside
        labelled = 1 + bool(len(panels) % across)  # the line above a short last line names keys too
        height = down * (len(queries) * side + 0.5) + labelled * longest(keys) * LETTER + 0.6
        height += 0.2 * bool(masked_note(mask))
        figure = Figure(figsize=(width, height), layout="compressed")
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        for axes in grid.flat:
            axes.axis("off")
        for number, (axes, (name, weights)) in enumerate(
            zip(grid.flat, panels.items(), strict=False)
        ):
            axes.axis("on")
            image = draw_weights(axes, weights, mask)
            axes.set_title(name, fontsize=9, fontweight="normal")
            axes.tick_params(length=0)
            axes.tick_params(axis="x", labelbottom=number + across >= len(panels))
            axes.spines[:].set_visible(False)
            label_axis(axes, "y", queries, "")
            label_axis(axes, "x", keys, "")
        bar = figure.colorbar(image, ax=grid, shrink=0.6, aspect=18, ticks=[0, 0.5, 1])
        bar.set_label("weight")
        bar.outline.set_visible(False)
        for note in masked_note(mask):
            figure.supxlabel(note, fontsize=9, color=QUIET)
        add_title(figure, title)
        words.add_alt_text(figure, title, words.describe_panels(panels, keys))
    return figure


def weight_bars(
    rows: Float[np.ndarray, "row key"],
    labels: Sequence[str],
    keys: Sequence[str],
    *,
    title: str = "",
    parts: Sequence[str] = (),
    value_label: str = "weight",
) -> Figure:
    """Draw rows of weights as bars, one panel below the other, all on a scale from 0 to 1.

    Args:
        rows: Rows of weights, from 0 to 1.
        labels: A title for each row, written above its panel.
        keys: The token of each bar.
        title: The figure's title.
        parts: For each row, a name from `COLOURS`, such as "encoder", that sets the colour of its
            bars; by default, all bars have the colour of queries.
        value_label: The label of each y axis.

    Raises:
        ValueError: If an argument is invalid; the message names it.
    """
    check_weights_and_tokens(rows, labels, keys, names=("rows", "labels", "keys"))
    parts = parts or ["query"] * len(rows)
    expected = f"{len(rows)}, because rows has shape {rows.shape}"
    check("len(parts)", len(parts), expected, len(parts) == len(rows))
    for part in parts:
        check_choice("name in parts", part, COLOURS)
    with course_style():
        wide = min(max(len(keys) * 0.48 + 1.1, 4.6), PAGE)
        size = (wide, max(len(rows) * 1.25, 1.7) + 1.1)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(rows), sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, weights, label, part in zip(panels, rows, labels, parts, strict=True):
            bars = axes.bar(np.arange(len(keys)), weights, color=COLOURS[part], width=0.72)
            numbers = [f"{w:.2f}" if w >= WORTH_A_NUMBER else "" for w in weights]
            axes.bar_label(bars, numbers, padding=1, fontsize=8)
            axes.set_title(format_formulas(label), fontsize=9, fontweight="normal")
            axes.set_ylim(0, 1.15)
            axes.set_yticks([0, 0.5, 1])
            axes.set_ylabel(value_label)
            axes.tick_params(axis="x", length=0)
        label_axis(panels[-1], "x", keys, "")
        words.add_alt_text(figure, title, words.describe_bars(rows, labels, keys))
        if len(keys) <= SMALL:
            panels[-1].tick_params(axis="x", rotation=0)
        add_title(figure, title)
    return figure


def check_weights_and_tokens(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    names: tuple[str, str, str] = ("weights", "queries", "keys"),
) -> None:
    """Raise a ValueError unless weights are from 0 to 1, with a token for each row and column."""
    name = f"shape of {names[0]}"
    fits = weights.ndim == 2 and weights.size > 0
    check(name, weights.shape, f"({names[1]}, {names[2]}) with at least one of each", fits)
    for axis, tokens in enumerate((queries, keys)):
        checked_labels(names[axis + 1], tokens)
        expected = f"{weights.shape[axis]}, because {names[0]} has shape {weights.shape}"
        check(f"len({names[axis + 1]})", len(tokens), expected, len(tokens) == weights.shape[axis])
    wrong = weights[~((weights >= 0) & (weights <= 1 + 1e-3))]  # NaN too
    if len(wrong):
        raise ValueError(f"{names[0]} contains {float(wrong[0]):.4g}; expected numbers from 0 to 1")


def check_mask(mask: np.ndarray | None, weights: np.ndarray) -> None:
    """Raise a ValueError unless the mask covers the weights and hides no weight above 0."""
    if mask is not None:
        check_boolean(mask, "bool")
        check("shape of mask", mask.shape, f"{weights.shape}", mask.shape == weights.shape)
        hidden = float(weights[~mask].max(initial=0))
        if hidden:
            raise ValueError(f"largest weight on a masked key is {hidden:.4g}; expected 0")


def masked_note(mask: np.ndarray | None) -> list[str]:
    """Return the notes to write below a map: an explanation of grey cells, if there are any."""
    return [] if mask is None or mask.all() else ["grey: hidden by the mask"]


def draw_weights(axes: Axes, weights: np.ndarray, mask: np.ndarray | None) -> AxesImage:
    """Draw the cells of one map on a colour scale from 0 to 1, with masked cells in grey."""
    shown = weights if mask is None else np.ma.array(weights, mask=~mask)
    axes.set_facecolor(MASKED)
    return axes.imshow(shown, cmap=WEIGHTS, vmin=0, vmax=1, aspect="equal")


def label_axis(
    axes: Axes, axis: str, tokens: Sequence[str], label: str, bold: Collection[int | None] = ()
) -> None:
    """Write the tokens along an axis, and the label of the axis."""
    line = axes.xaxis if axis == "x" else axes.yaxis
    line.set_ticks(range(len(tokens)), [visible(token) for token in tokens])
    line.set_label_text(label)
    for number, text in enumerate(line.get_ticklabels()):
        text.set_parse_math(False)  # a token may hold a dollar sign
        if axis == "x":
            text.set_rotation(90 if len(tokens) > 1 and longest(tokens) > 2 else 0)
        if number in bold:
            text.set_fontweight("bold")


def visible(token: str) -> str:
    """Return a token with its leading and trailing white space made visible.

    Subwords often begin or end with white space. An incomplete character, as found in
    byte-level tokens, becomes a question mark, and a very long word is cut short.
    """
    token = token if len(token) <= LONGEST_LABEL else token[: LONGEST_LABEL - 1] + "…"
    token = token.encode(errors="replace").decode()
    body = token.strip()
    before, _, after = token.partition(body) if body else (token, "", "")
    marks = str.maketrans(" \n\t", "␣⏎⇥")
    return before.translate(marks) + body + after.translate(marks)


def longest(tokens: Sequence[str]) -> int:
    """Return the length of the longest token, but at most `LONGEST_LABEL`."""
    return min(max(len(token) for token in tokens), LONGEST_LABEL)


def frame(x: float, y: float, width: int) -> Rectangle:
    """Return a frame one cell high with a corner at (x, y), not clipped at the map's edge."""
    return Rectangle((x, y), width, 1, fill=False, edgecolor=HIGHLIGHT, linewidth=2, clip_on=False)


def ring(axes: Axes, key: int, query: int) -> None:
    """Draw a ring in the middle of a cell, in two colours to stand out on dark and bright cells."""
    for width, colour in ((2.4, INK), (1.0, PAPER)):
        axes.plot(key, query, "o", ms=19, mfc="none", mec=colour, mew=width, clip_on=False)


def write_weight(axes: Axes, key: int, query: int, weight: float) -> None:
    """Write a weight such as .95 into its cell, dark on bright colours and bright on dark ones."""
    if weight < WORTH_A_NUMBER:
        return
    colour = INK if weight > 0.6 else PAPER
    text = f"{weight:.2f}".removeprefix("0")
    axes.text(key, query, text, ha="center", va="center", fontsize=8, color=colour)
