"""A drawing of the KV cache: what is computed for each word, with and without a cache."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check, check_count
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import check_attention

TABLES = 3
"""The number of tables: queries, keys and values. Each word adds a row to every table."""


def kv_cache(
    words: Sequence[str],
    query: Float[np.ndarray, "n d_k"],
    key: Float[np.ndarray, "n d_k"],
    value: Float[np.ndarray, "n d_v"],
) -> Drawing:
    """Draw how decoder self-attention (§3.2.3) reads word by word, with and without a cache.

        kv_cache(["<bos>", "l'", "animal"], Q, K, V)

    Each step reads one more word. With a cache, the step computes one new row of each table;
    without one, it recomputes all earlier rows too. The output is the same.

    Args:
        words: The words in the order in which they are read, one for each row.
        query: The query of each word: what it looks for.
        key: The key of each word: what it offers. Later words do not change it.
        value: The value of each word: what it gives.

    Raises:
        ValueError: If there are fewer than 2 words, or an argument has the wrong shape; the message
            names it.
    """
    n = len(words)
    check("len(words)", n, "at least 2", n >= 2)
    check_attention(query, key, value, None)
    for name, given in (("query", query), ("key", key)):
        check_count(name, len(given), "row", f"{n}, one for each word", len(given) == n)
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
        f"keys and values: {cached} rows in all. Without one, step t computes t rows of each: {plain}."
    )
    return Drawing("cache", data, alt)
