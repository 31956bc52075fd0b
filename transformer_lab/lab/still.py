"""A still picture of all heads of one kind, for places where the lab cannot run."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_lab.attention.record import AttentionRecord, Kind
from transformer_lab.figures.heatmaps import LETTER, longest, visible
from transformer_lab.figures.style import MASKED, PAGE, WEIGHTS, course_style

SIDE = 1.9  # inches: the longer side of a map
GAP, NAME, TITLE, MARGIN = 0.12, 0.2, 0.36, 0.1  # inches
FONT = 6.5
LINE = 0.086  # inches: if cells are lower than this, their labels would overlap, so there are none
LABEL: dict[str, Any] = {"fontsize": FONT, "parse_math": False}
"""The text options for a token, which may contain a dollar sign."""
MOST_CELLS = 60
"""The maximum number of rows and columns to draw; larger maps are pooled.

With 100, the picture would take more bytes than the data.
"""


def overview(record: AttentionRecord, kind: Kind) -> Figure:
    """Draw all heads of one kind: one row of attention maps per layer, with colours from 0 to 1.

    Tokens are written only along the left and lower edges, and only if the cells are large enough.
    """
    layers = getattr(record, kind)
    across = max(len(layer) for layer in layers)
    queries, keys = ([shorten(token) for token in side] for side in record.tokens(kind))
    beside = longest(queries) * LETTER * FONT / 9 + GAP
    cell = cell_side(len(queries), len(keys), across, beside)
    labelled = cell >= LINE
    if not labelled:
        beside = MARGIN
        cell = cell_side(len(queries), len(keys), across, beside)
    wide, tall = cell * len(keys), cell * len(queries)
    below = longest(keys) * LETTER * FONT / 9 + GAP if labelled else MARGIN
    title = f"{kind.capitalize()} attention: layer.head, rows are queries, columns are keys"
    title += "" if labelled else ", in the order of the text"
    size = (
        max(beside + across * (wide + GAP) + MARGIN, len(title) * LETTER + MARGIN),
        below + len(layers) * (tall + NAME) + TITLE,
    )
    with course_style():
        figure = Figure(figsize=size)
        # One set of axes, in inches: dozens of small ones, each laid out, take seconds to draw.
        axes = figure.add_axes(
            (0, 0, 1, 1), xlim=(0, size[0]), ylim=(0, size[1]), autoscale_on=False
        )
        axes.axis("off")
        axes.text(MARGIN, size[1] - 0.2, title, fontsize=10, va="center")
        for row, layer in enumerate(layers):
            bottom = below + (len(layers) - 1 - row) * (tall + NAME)
            for head, weights in enumerate(layer):
                left = beside + head * (wide + GAP)
                shown = mask_future(max_pool(np.asarray(weights, dtype=float)), kind)
                if shown.mask.any():
                    axes.add_patch(
                        Rectangle((left, bottom), wide, tall, color=MASKED, lw=0, zorder=-1)
                    )
                axes.imshow(
                    shown,
                    extent=(left, left + wide, bottom, bottom + tall),
                    cmap=WEIGHTS,
                    vmin=0,
                    vmax=1,
                    aspect="auto",
                    interpolation="nearest",
                )
                axes.text(left, bottom + tall + 0.04, f"{row + 1}.{head + 1}", fontsize=8)
            if labelled:
                for n, token in enumerate(queries):
                    place = (beside - 0.04, bottom + tall - (n + 0.5) * cell)
                    axes.text(*place, visible(token), ha="right", va="center", **LABEL)
        if labelled:
            for head in range(len(layers[-1])):
                for n, token in enumerate(keys):
                    place = (beside + head * (wide + GAP) + (n + 0.5) * cell, below - 0.04)
                    axes.text(*place, visible(token), ha="center", va="top", rotation=90, **LABEL)
    return figure


def cell_side(queries: int, keys: int, across: int, beside: float) -> float:
    """Return the side length of a map's cells in inches.

    The page must have room for `across` maps of (`queries`, `keys`) cells side by side, and for
    `beside` inches of labels.
    """
    most = (PAGE - beside - MARGIN) / across - GAP
    return min(SIDE / max(queries, keys), most / keys)


def shorten(token: str) -> str:
    """Shorten a token to 16 characters, so that even a very long word leaves room for the maps."""
    return token if len(token) <= 16 else token[:15] + "…"


def max_pool(weights: np.ndarray) -> np.ndarray:
    """Reduce a map to at most `MOST_CELLS` rows and columns by max pooling over square blocks.

    A small map is returned unchanged.
    """
    step = -(-max(weights.shape) // MOST_CELLS)
    rows, columns = (-(-size // step) for size in weights.shape)
    whole = np.zeros((rows * step, columns * step))  # weights are never less
    whole[: weights.shape[0], : weights.shape[1]] = weights
    return whole.reshape(rows, step, columns, step).max(axis=(1, 3))


def mask_future(weights: np.ndarray, kind: Kind) -> np.ma.MaskedArray:
    """Return a map as a masked array, with later words masked in a decoder's map.

    If a later word has any weight, nothing is masked.
    """
    future = np.triu(np.ones(weights.shape, dtype=bool), 1)
    hidden = kind == "decoder" and not weights[future].any()
    return np.ma.array(weights, mask=future & hidden)


def describe_overview(record: AttentionRecord, kind: Kind) -> str:
    """Describe the picture that `overview` draws, for readers who cannot see it."""
    layers = getattr(record, kind)
    heads = sum(len(layer) for layer in layers)
    queries, keys = record.tokens(kind)
    return (
        f"{kind.capitalize()} attention of {heads} heads in {len(layers)} layers: small maps of "
        f"{len(queries)} queries down and {len(keys)} keys across. "
        + "Strongest link of each layer's first head: "
        + "; ".join(describe_largest(layer[0], queries, keys) for layer in layers)
        + "."
    )


def describe_largest(weights: np.ndarray, queries: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """Return a phrase that says where a map's largest weight is."""
    query, key = np.unravel_index(int(weights.argmax()), weights.shape)
    return f"{queries[query].strip()} to {keys[key].strip()} {weights[query, key]:.2f}"
