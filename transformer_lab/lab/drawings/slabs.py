"""A drawing of heads as slabs: how multi-head attention rearranges the numbers, step by step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check, check_count
from transformer_lab.figures.style import HEADS, weight_colours
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import (
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)


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
    """Draw multi-head self-attention (§3.2.2) step by step for one sentence, with heads as slabs.

        heads_as_slabs(x[0], W_Q, W_K, W_V, W_O)

    Each number of Q, K and V has the colour of its head. Q, K and V are split into heads, the head
    axis is moved to the front, and the heads are merged. From the move onwards, two buttons choose
    the method: a reshape and a swap of axes, or a reshape alone, which mixes up the words.

    Args:
        x: The sentence, one row for each word.
        query: W_Q of each head.
        key: W_K of each head.
        value: W_V of each head, as wide as the other two.
        output: W_O.
        words: The words, one for each row of x; by default w0, w1 and so on.
        row: The index of the word that is highlighted at first.

    Raises:
        ValueError: If an argument has the wrong shape (the message names it), or there are more
            heads than colours.
    """
    n, d_model = x.shape
    h, _, d_k = query.shape
    words = list(words) or [f"w{i}" for i in range(n)]
    expected = f"1 to {len(HEADS)}, because there are {len(HEADS)} colours"
    check_count("query", h, "head", expected, 1 <= h <= len(HEADS))
    for name, given in (("query", query), ("key", key), ("value", value)):
        wanted = (h, d_model, d_k)
        check(f"shape of {name}", given.shape, f"{wanted}", given.shape == wanted)
    expected = f"{h * d_k}, because there are {h} heads and d_k is {d_k}"
    check_count("output", len(output), "row", expected, len(output) == h * d_k)
    check("len(words)", len(words), f"0 or {n}, as many as x has rows", len(words) == n)
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
    return Drawing("slabs", data, alt, step=6)


def multi_head_output(
    x: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    output: np.ndarray,
    swap: bool,
) -> np.ndarray:
    """Return multi-head attention's output (n, d_out); without `swap`, heads are only reshaped."""
    (h, _, d_k), n = query.shape, len(x)
    whole = [x @ np.concatenate(list(matrices), axis=1) for matrices in (query, key, value)]
    if swap:
        heads, _ = scaled_dot_product_attention(*(split_heads(matrix[None], h) for matrix in whole))
        return merge_heads(heads)[0] @ output
    heads, _ = scaled_dot_product_attention(*(matrix.reshape(h, n, d_k) for matrix in whole))
    return heads.reshape(n, h * d_k) @ output
