"""The drawings of positions that turn: sinusoidal hands, rotary queries and keys, and ALiBi's biases."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_lab.config import check
from transformer_lab.figures.maps import clock_hands
from transformer_lab.figures.style import COLOURS, QUIET, WEIGHTS, course_style, weight_colours
from transformer_lab.figures.titles import add_title
from transformer_lab.lab.page.drawing import Drawing

PLACES = (0, 3, 6)
BASE = 10_000


def clock_positions(width: int, *, pairs: Sequence[int] = (0, 2, 4, 6)) -> Drawing:
    """Draw the sinusoids of §3.5 as the hands of clocks, with a position and a base to move.

        clock_positions(64)

    Args:
        width: How many numbers a position has, an even number: `width / 2` hands.
        pairs: The hands that are drawn, counted from 0.

    Raises:
        ValueError: If the width is odd or below 2, or there is no such hand.
    """
    check("width", width, "an even number above 0", width > 0 and width % 2 == 0)
    holds = len(pairs) > 0 and all(0 <= pair < width // 2 for pair in pairs)
    check("pairs", tuple(pairs), f"some of 0 to {width // 2 - 1}", holds)
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
    figure = clock_hands(
        {f"position {place}": place * speeds for place in PLACES},
        [f"pair {pair}\n{speed:.2f} rad a word" for pair, speed in zip(pairs, speeds, strict=True)],
        title="Each word turns every hand on, the first ones fast, the later ones slowly",
    )
    turns = ", ".join(f"pair {p} by {s:.3f}" for p, s in zip(pairs, speeds, strict=True))
    alt = (
        f"Hands on clocks: each word turns them on, in radians {turns}. From any word to the next the "
        "turn is the same."
    )
    return Drawing("turning", data, figure, alt)


def turning_arrows(
    query: Float[np.ndarray, " d_k"],
    key: Float[np.ndarray, " d_k"],
    *,
    words: Sequence[str],
    num_heads: int = 8,
) -> Drawing:
    """Draw rotary positions as two arrows that turn, and ALiBi's bias of each head.

        turning_arrows(q, k, words=["the", "cat", "sat"])

    Rotary (Su et al. 2021) turns each pair of neighbouring numbers of query and key by its own
    position; the angle between them knows the distance alone. ALiBi (Press et al. 2022) adds
    −slope · distance to the scores.

    Args:
        query: Of one head, before it is turned.
        key: Likewise.
        words: The sentence of ALiBi's maps.
        num_heads: How many heads ALiBi's slopes are shared by.

    Raises:
        ValueError: Naming the argument that does not fit.
    """
    d_k = len(query)
    check("len(query)", d_k, "an even number above 0", d_k > 0 and d_k % 2 == 0)
    check("len(key)", len(key), f"{d_k}, as the query's", len(key) == d_k)
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
        "Rotary: query and key of one pair of numbers are turned, each by its own position; with both "
        "one word on, the angle between them stays. ALiBi: the bias of each head is −slope · distance, "
        f"with slopes from {slopes[0]:.4g} to {slopes[-1]:.4g}."
    )
    return Drawing("turning", data, draw_still(query[:2], key[:2], slopes, len(words)), alt)


def draw_still(query: np.ndarray, key: np.ndarray, slopes: np.ndarray, length: int) -> Figure:
    """Draw query and key at two pairs of places, equally far apart, and three of ALiBi's maps."""
    shown = sorted({0, len(slopes) // 2, len(slopes) - 1})
    with course_style():
        figure = Figure(figsize=(7.6, 2.6), layout="constrained")
        panels = figure.subplots(1, 2 + len(shown))
        for axes, places in zip(panels, ((0, 2), (3, 5)), strict=False):
            draw_arrows(axes, query, key, places)
        distance = abs(np.arange(length)[:, None] - np.arange(length))
        for axes, head in zip(panels[2:], shown, strict=True):
            axes.imshow(np.exp(-slopes[head] * distance), cmap=WEIGHTS, vmin=0, vmax=1)
            title = f"ALiBi, head {head + 1}\nslope {slopes[head]:.4g}"
            axes.set_title(title, fontsize=9, fontweight="normal")
            axes.set_xticks([])
            axes.set_yticks([])
        add_title(figure, "Rotary turns both and keeps the angle; ALiBi lowers what is far")
    return figure


def draw_arrows(axes: Axes, query: np.ndarray, key: np.ndarray, places: tuple[int, int]) -> None:
    """Draw a query and a key turned by their places; the first pair turns by 1 radian a word.

    Directions alone: the arrows are equally long.
    """
    for vector, place, part in ((query, places[0], "query"), (key, places[1], "key")):
        sin, cos = np.sin(place), np.cos(place)
        tip = np.array([vector[0] * cos - vector[1] * sin, vector[0] * sin + vector[1] * cos])
        tip /= max(np.linalg.norm(tip), 1e-9)
        look = {"arrowstyle": "-|>", "color": COLOURS[part], "lw": 2, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (float(tip[0]), float(tip[1])), (0, 0), arrowprops=look)
    round_ = np.linspace(0, 2 * np.pi, 60)
    axes.plot(np.cos(round_), np.sin(round_), color=QUIET, lw=0.6)
    axes.set_aspect("equal")
    axes.axis("off")
    title = f"query at {places[0]},\nkey at {places[1]}"
    axes.set_title(title, fontsize=9, fontweight="normal")
