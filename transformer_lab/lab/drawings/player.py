"""The attention player: one head, step by step, from the words' vectors to its output."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check, check_count
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import check_attention, scaled_dot_product_attention


def attention_player(
    words: Sequence[str],
    query: Float[np.ndarray, "n d_k"],
    key: Float[np.ndarray, "n d_k"],
    value: Float[np.ndarray, "n d_v"],
    *,
    inputs: Float[np.ndarray, "n d_model"] | None = None,
    features: Sequence[str] = (),
    gives: Sequence[str] = (),
    row: int = 0,
) -> Drawing:
    """Draw, step by step, how equation 1 (§3.2.1) uses queries, keys and values.

        attention_player(["the", "cat", "sat"], Q, K, V)

    A click on a word highlights its row in every matrix and shows how the numbers in that row are
    computed.

    Args:
        words: The words, one for each row.
        query: The query of each word: what it looks for.
        key: The key of each word: what it offers.
        value: The value of each word: what it gives.
        inputs: The vectors X from which the other three are computed; shown as an earlier step.
        features: A name for each feature of the queries and keys.
        gives: A name for each feature of the values.
        row: The index of the word that is highlighted at first.

    Raises:
        ValueError: If an argument has the wrong shape; the message names it.
    """
    n = len(words)
    check_attention(query, key, value, None)
    for name, given in (("query", query), ("key", key), ("inputs", inputs)):
        if given is not None:
            check_count(name, len(given), "row", f"{n}, one for each word", len(given) == n)
    for name, names, rows, of in (
        ("features", features, query, "query"),
        ("gives", gives, value, "value"),
    ):
        width = rows.shape[1]
        expected = f"either none or {width}, one for each column of {of}"
        check_count(f"`{name}`", len(names), "name", expected, len(names) in (0, width))
    check("row", row, f"0 to {n - 1}", 0 <= row < n)
    _, weights = scaled_dot_product_attention(query, key, value)
    data = {
        "words": list(words),
        "query": query.tolist(),
        "key": key.tolist(),
        "value": value.tolist(),
        "inputs": None if inputs is None else inputs.tolist(),
        "features": list(features),
        "gives": list(gives),
        "row": row,
        "colours": weight_colours(),
    }
    strongest = words[int(weights[row].argmax())]
    alt = (
        f"One head of attention, in steps: queries times keys give the scores; divided by "
        f"√{query.shape[1]} and put through a softmax, these become the weights, which mix the values. "
        f"{words[row]} looks most at {strongest}, with {weights[row].max():.2f}."
    )
    return Drawing("player", data, alt)
