"""The drawing of heads as slabs: what multi-head attention does to the numbers, step by step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from transformer_lab.config import check
from transformer_lab.figures.style import HEADS, INK, PAPER, QUIET, course_style, weight_colours
from transformer_lab.figures.titles import add_title
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import (
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

CELL = (0.29, 0.21)  # inches of a number: width, height


def heads_as_slabs(
    x: Float[np.ndarray, "n d_model"],
    query: Float[np.ndarray, "h d_model d_k"],
    key: Float[np.ndarray, "h d_model d_k"],
    value: Float[np.ndarray, "h d_model d_k"],
    output: Float[np.ndarray, "h_d_k d_out"],
    *,
    words: Sequence[str] = (),
    row: int = 1,
) -> Drawing:
    """Draw multi-head self-attention (§3.2.2) of one sentence: split by head, moved forward, merged.

        heads_as_slabs(x[0], W_Q, W_K, W_V, W_O)

    Each number of Q, K and V has the colour of its head. From the step that moves the heads
    forward, two buttons choose how: a reshape and a swap, or a reshape alone, which mixes words.

    Args:
        x: The sentence.
        query: W_Q of each head.
        key: W_K of each head.
        value: W_V of each head, as wide as the others.
        output: W_O.
        words: One for each row of x; w0, w1 and so on, if not said.
        row: The word that is lit at first.

    Raises:
        ValueError: Naming the argument whose shape does not fit, or too many heads for the colours.
    """
    n, d_model = x.shape
    h, _, d_k = query.shape
    words = list(words) or [f"w{i}" for i in range(n)]
    check("heads of query", h, f"1 to {len(HEADS)}, one a colour", 1 <= h <= len(HEADS))
    for name, given in (("query", query), ("key", key), ("value", value)):
        wanted = (h, d_model, d_k)
        check(f"shape of {name}", given.shape, f"{wanted}", given.shape == wanted)
    check("rows of output", len(output), f"{h * d_k}, heads times d_k", len(output) == h * d_k)
    check("words", tuple(words), f"{n} words or none", len(words) == n)
    check("row", row, f"0 to {n - 1}", 0 <= row < n)
    data = {
        "words": words,
        "x": x.tolist(),
        "query": query.tolist(),
        "key": key.tolist(),
        "value": value.tolist(),
        "output": output.tolist(),
        "row": row,
        "heads": HEADS[:h],
        "colours": weight_colours(),
    }
    first = sorted(set(np.arange(n * d_k) // (h * d_k)))  # the words of which head 0 gets numbers
    off = abs(
        multi_head_output(x, query, key, value, output, True)
        - multi_head_output(x, query, key, value, output, False)
    )
    alt = (
        f"Multi-head attention in steps: the {h * d_k} columns of Q are cut into {h} heads of "
        f"{d_k}, and the heads are moved forward, so that each slab has {d_k} numbers of all {n} "
        f"words. A reshape alone gives head 0 numbers of "
        f"{' and '.join(words[i] for i in first)} only, and the output is off by up to {off.max():.2f}."
    )
    return Drawing(
        "slabs", data, draw_still(x @ np.concatenate(list(query), axis=1), h, words), alt
    )


def multi_head_output(
    x: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    output: np.ndarray,
    swap: bool,
) -> np.ndarray:
    """Return the output (n, d_out), with heads made by a reshape and a swap or by a reshape alone."""
    (h, _, d_k), n = query.shape, len(x)
    whole = [x @ np.concatenate(list(matrices), axis=1) for matrices in (query, key, value)]
    if swap:
        heads, _ = scaled_dot_product_attention(*(split_heads(matrix[None], h) for matrix in whole))
        return merge_heads(heads)[0] @ output
    heads, _ = scaled_dot_product_attention(*(matrix.reshape(h, n, d_k) for matrix in whole))
    return heads.reshape(n, h * d_k) @ output


def draw_still(queries: np.ndarray, h: int, words: Sequence[str]) -> Figure:
    """Draw Q in the colours of the heads and the slabs of both ways, for where no script runs."""
    n, width = queries.shape
    d_k = width // h
    owners = np.tile(np.repeat(np.arange(h), d_k), (n, 1))
    right = [grid.reshape(n, h, d_k).swapaxes(0, 1) for grid in (queries, owners)]
    wrong = [grid.reshape(h, n, d_k) for grid in (queries, owners)]
    across, down = CELL
    slab = d_k * across + 0.15
    columns = [0.45, 0.45 + width * across + 0.35, 0.45 + width * across + 0.65 + h * slab]
    size = (columns[2] + h * slab + 0.1, n * down + 0.13 * h + 1.0)
    with course_style():
        figure = Figure(figsize=size)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, size[0]), ylim=(size[1], 0))
        axes.axis("off")
        top = 0.95
        draw_tinted_grid(axes, (columns[0], top), queries, owners)
        for row, text in enumerate(words):
            y = top + (row + 0.5) * down
            axes.text(columns[0] - 0.08, y, text, ha="right", va="center", fontsize=8)
        names = (f"Q ({n}, {width})", "reshape, then swap", "reshape alone: words mixed")
        for left, name in zip(columns, names, strict=True):
            axes.text(left, 0.62, name, fontsize=9, fontweight="bold")
        for left, (numbers, heads) in zip(columns[1:], (right, wrong), strict=True):
            for head in range(h):
                corner = (left + head * slab, top + 0.13 * head)
                axes.text(corner[0], corner[1] - 0.05, f"head {head}", fontsize=7.5, color=QUIET)
                draw_tinted_grid(axes, corner, numbers[head], heads[head])
        add_title(
            figure, "A head is a block of columns: cut, then swap, and each slab has one colour"
        )
    return figure


def draw_tinted_grid(
    axes: Axes, corner: tuple[float, float], numbers: np.ndarray, heads: np.ndarray
) -> None:
    """Draw a small matrix whose numbers stand on a tint of their head's colour."""
    across, down = CELL
    for (row, column), number in np.ndenumerate(numbers):
        tint = 0.45 * np.array(to_rgb(HEADS[heads[row, column]])) + 0.55
        at = (corner[0] + column * across, corner[1] + row * down)
        axes.add_patch(Rectangle(at, across, down, facecolor=tint, edgecolor=PAPER, linewidth=1))
        middle = (at[0] + across / 2, at[1] + down / 2)
        axes.text(*middle, f"{number:.1f}", ha="center", va="center", fontsize=7, color=INK)
