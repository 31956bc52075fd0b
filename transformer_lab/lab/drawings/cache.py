"""The drawing of the KV cache: what is computed word by word with it, and what without it."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from transformer_lab.config import check
from transformer_lab.figures.heatmaps import label_axis
from transformer_lab.figures.style import COLOURS, HIGHLIGHT, PAPER, course_style, weight_colours
from transformer_lab.figures.titles import add_title
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import check_attention

KEPT = "#d9e6f2"
TABLES = 3
"""A word that is read gets a row of queries, one of keys and one of values."""


def kv_cache(
    words: Sequence[str],
    query: Float[np.ndarray, "n d_k"],
    key: Float[np.ndarray, "n d_k"],
    value: Float[np.ndarray, "n d_v"],
) -> Drawing:
    """Draw how decoder self-attention (§3.2.3) reads word after word, with a cache and without one.

        kv_cache(["<bos>", "l'", "animal"], Q, K, V)

    Each step reads one word more. With a cache one row of each table is computed; without, all rows
    up to it are. The output is the same.

    Args:
        words: What is read, in order, one for each row.
        query: What each word looks for.
        key: What each word offers; it does not change when later words come.
        value: What each word gives.

    Raises:
        ValueError: If there are fewer than 2 words, or naming the argument whose shape does not fit.
    """
    n = len(words)
    check("len(words)", n, "2 or more", n >= 2)
    check_attention(query, key, value, None)
    for name, given in (("query", query), ("key", key)):
        check(f"rows of {name}", len(given), f"{n}, one a word", len(given) == n)
    data = {
        "words": list(words),
        "query": np.round(query, 4).tolist(),
        "key": np.round(key, 4).tolist(),
        "value": np.round(value, 4).tolist(),
        "colours": weight_colours(),
    }
    cached, plain = TABLES * n, TABLES * n * (n + 1) // 2
    alt = (
        f"{n} words are read one after the other. With a cache each step computes one row of queries, "
        f"keys and values: {cached} rows in all. Without, step t computes t rows of each: {plain}."
    )
    return Drawing("cache", data, draw_still(words, cached, plain), alt)


def draw_still(words: Sequence[str], cached: int, plain: int) -> Figure:
    """Draw for each step which rows are computed, kept, or computed again."""
    n = len(words)
    steps, read = np.indices((n, n))
    later, now = read > steps, read == steps
    with course_style():
        figure = Figure(figsize=(7.4, 0.3 * n + 1.6), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        past_of = {
            "With a cache: 1 row a step": (KEPT, "kept"),
            "Without: t rows at step t": (HIGHLIGHT, "again"),
        }
        for axes, (name, (colour, past)) in zip(panels, past_of.items(), strict=True):
            shown = np.where(later, 0, np.where(now, 2, 1))
            axes.imshow(
                shown, cmap=ListedColormap([PAPER, colour, COLOURS["query"]]), aspect="auto"
            )
            for step, place in zip(*np.nonzero(~later), strict=True):
                text, ink = ("new", PAPER) if step == place else (past, "#000000")
                axes.text(place, step, text, ha="center", va="center", fontsize=8, color=ink)
            axes.set_title(name, fontsize=9, fontweight="normal")
            label_axis(axes, "x", words, "whose query, key and value")
            axes.tick_params(length=0)
        label_axis(panels[0], "y", [f"step {t + 1}" for t in range(n)], "")
        add_title(figure, f"{cached} rows are computed with a cache, {plain} without")
    return figure
