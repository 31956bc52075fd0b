"""All heads of one kind as one still picture: what is seen where the explorer cannot run."""

import numpy as np
from matplotlib.figure import Figure

from transformer_lab.attention_record import AttentionRecord, Kind
from transformer_lab.viz.figures import LETTER, label_axis, longest
from transformer_lab.viz.style import WEIGHTS, course_style

LABELLED = 24
"""Maps of more tokens than this get no labels: they could not be read."""
SIDE = 1.9  # inches, of one map


def overview(record: AttentionRecord, kind: Kind) -> Figure:
    """A line of maps for each layer, all on the scale from 0 to 1; the outer ones are labelled."""
    layers = getattr(record, kind)
    across = max(len(layer) for layer in layers)
    queries, keys = ([short(token) for token in side] for side in record.tokens(kind))
    labelled = max(len(queries), len(keys)) <= LABELLED
    beside = longest(queries) * LETTER if labelled else 0.1
    above = longest(keys) * LETTER if labelled else 0.1
    with course_style():
        # Many heads are drawn smaller: the picture stays one screen wide.
        side = min(SIDE, 9.5 / across)
        tall = side * min(2, len(queries) / len(keys))  # no room is left around flat maps
        size = (across * (side + 0.1) + beside + 0.5, len(layers) * (tall + 0.32) + above + 0.5)
        figure = Figure(figsize=size, layout="compressed")
        grid = figure.subplots(len(layers), across, squeeze=False)
        for number, (row, layer) in enumerate(zip(grid, layers, strict=True)):
            for axes in row[len(layer) :]:
                axes.axis("off")
            for head, (axes, weights) in enumerate(zip(row, layer, strict=False)):
                axes.imshow(np.asarray(weights, dtype=float), cmap=WEIGHTS, vmin=0, vmax=1)
                axes.set_title(f"{number + 1}.{head + 1}", fontsize=8, fontweight="normal")
                axes.tick_params(length=0, labelsize=6.5)
                axes.spines[:].set_visible(False)
                label_axis(axes, "y", queries if labelled and head == 0 else (), "")
                last = number == len(layers) - 1
                label_axis(axes, "x", keys if labelled and last else (), "")
        figure.suptitle(
            f"{kind.capitalize()} attention: layer.head, rows are queries, columns keys",
            x=0.02, ha="left", fontsize=10,
        )  # fmt: skip
    return figure


def short(token: str) -> str:
    """A token of at most 16 letters: one very long word would leave no room for the maps."""
    return token if len(token) <= 16 else token[:15] + "…"


def overview_words(record: AttentionRecord, kind: Kind) -> str:
    """What the picture shows, for those who do not see it."""
    layers = getattr(record, kind)
    heads = sum(len(layer) for layer in layers)
    queries, keys = record.tokens(kind)
    return (
        f"{kind.capitalize()} attention of {heads} heads in {len(layers)} layers: small maps of "
        f"{len(queries)} queries down and {len(keys)} keys across. "
        + "Strongest link of each layer's first head: "
        + "; ".join(strongest(layer[0], queries, keys) for layer in layers)
        + "."
    )


def strongest(weights: np.ndarray, queries: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """The largest weight of a map, in words."""
    query, key = np.unravel_index(int(weights.argmax()), weights.shape)
    return f"{queries[query]} to {keys[key]} {weights[query, key]:.2f}"
