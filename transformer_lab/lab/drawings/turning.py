"""Drawings of positional encodings: sinusoids as clock hands, rotary positions, and ALiBi."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page.drawing import Drawing

BASE = 10_000


def clock_positions(width: int, *, pairs: Sequence[int] = (0, 2, 4, 6)) -> Drawing:
    """Draw the sinusoids of §3.5 as clock hands, with controls for the position and the base.

        clock_positions(64)

    Args:
        width: The number of features that encode a position; each hand takes two, so it must be
            even.
        pairs: The indices of the hands to draw, counted from 0.

    Raises:
        ValueError: If the width is odd or below 2, or `pairs` is empty or has an invalid index.
    """
    check("width", width, "an even number above 0", width > 0 and width % 2 == 0)
    check("len(pairs)", len(pairs), "at least 1", len(pairs) > 0)
    for index, pair in enumerate(pairs):
        check(f"pairs[{index}]", pair, f"0 to {width // 2 - 1}", 0 <= pair < width // 2)
    speeds = BASE ** (-np.array(pairs) / (width // 2))
    data = {
        "views": ["hands", "step"],
        "pairs": width // 2,
        "clocks": list(pairs),
        "query": [0.0, 0.0],
        "key": [0.0, 0.0],
        "words": [],
        "heads": 1,
        "colours": weight_colours(),
    }
    turns = ", ".join(f"pair {p} by {s:.3f}" for p, s in zip(pairs, speeds, strict=True))
    alt = (
        f"Hands on clocks: from any word to the next, each hand turns by the same angle. In radians: "
        f"{turns}."
    )
    return Drawing("turning", data, alt, step=0)


def turning_arrows(
    query: Float[np.ndarray, " d_k"],
    key: Float[np.ndarray, " d_k"],
    *,
    words: Sequence[str],
    num_heads: int = 8,
) -> Drawing:
    """Draw rotary positions as two rotating arrows, and ALiBi's bias for each head.

        turning_arrows(q, k, words=["the", "cat", "sat"])

    Rotary positions (Su et al. 2021) rotate each pair of neighbouring numbers in the query and the
    key by an angle proportional to the position. The angle between query and key therefore changes
    only with their distance. ALiBi (Press et al. 2022) adds −slope · distance to the scores.

    Args:
        query: The query of one head, before the rotation.
        key: The key of that head, before the rotation.
        words: The words of the sentence shown in ALiBi's maps.
        num_heads: The number of heads, which determines ALiBi's slopes.

    Raises:
        ValueError: If an argument is invalid; the message names it.
    """
    d_k = len(query)
    check("len(query)", d_k, "an even number above 0", d_k > 0 and d_k % 2 == 0)
    check("len(key)", len(key), f"{d_k}, the same as len(query)", len(key) == d_k)
    check("len(words)", len(words), "2 to 12", 2 <= len(words) <= 12)
    check("num_heads", num_heads, "1 to 16", 1 <= num_heads <= 16)
    data = {
        "views": ["rotary", "alibi"],
        "pairs": d_k // 2,
        "clocks": [0],
        "query": np.round(query, 5).tolist(),
        "key": np.round(key, 5).tolist(),
        "words": list(words),
        "heads": num_heads,
        "colours": weight_colours(),
    }
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    alt = (
        "Rotary: query and key of one pair of numbers are turned, each by its own position; if both "
        "move one word on, the angle between them stays the same. ALiBi: the bias of each head is "
        f"−slope · distance, with slopes from {slopes[0]:.4g} to {slopes[-1]:.4g}."
    )
    return Drawing("turning", data, alt, step=0)
