"""A drawing of the residual stream: a vector's path through a post-norm and a pre-norm layer."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import layer_norm

Sublayer = Callable[[np.ndarray], np.ndarray]

EPSILON = 1e-5
NAMES = ("attention", "feed-forward")


class Part(NamedTuple):
    """The vectors of one sub-layer.

    `normed` is the normalised input, or None with post-norm. `said` is the sub-layer's output,
    `total` is the residual sum, and `out` is the vector that is passed on.
    """

    normed: np.ndarray | None
    said: np.ndarray
    total: np.ndarray
    out: np.ndarray

    def data(self) -> dict[str, list[float] | None]:
        """Return the vectors by name, as lists for JSON."""
        return {name: None if v is None else v.tolist() for name, v in self._asdict().items()}


def residual_stream(
    x: Float[np.ndarray, " d_model"], attention: Sublayer, feed_forward: Sublayer
) -> Drawing:
    """Draw the path of one word's vector through a layer (§3.1), with post-norm and with pre-norm.

        residual_stream(x, lambda v: (v + neighbour) / 2, lambda v: np.maximum(0, v @ W_1) @ W_2)

    LayerNorm has gain 1 and bias 0, as it does before training. A button silences both sub-layers,
    and the last step works out LayerNorm line by line.

    Args:
        x: The vector, of 2 to 6 numbers.
        attention: A function that maps a vector to attention's output for it, of the same shape.
        feed_forward: The same for the feed-forward network.

    Raises:
        ValueError: If the vector is too short or too long, or a sub-layer changes its shape.
    """
    check("length of x", len(x), "2 to 6, so that the numbers fit in the drawing", 2 <= len(x) <= 6)
    speaking = (attention, feed_forward)
    for name, sublayer in zip(("attention", "feed_forward"), speaking, strict=True):
        shape = np.shape(sublayer(x))
        check(f"shape of {name}(x)", shape, f"{x.shape}, as for x", shape == x.shape)
    silent = (np.zeros_like, np.zeros_like)
    flows = {
        name: {order: run_sublayers(x, sublayers, order == "pre") for order in ("post", "pre")}
        for name, sublayers in (("speaking", speaking), ("silent", silent))
    }
    data = {
        "x": x.tolist(),
        "names": NAMES,
        "epsilon": EPSILON,
        **{
            name: {order: [part.data() for part in parts] for order, parts in flow.items()}
            for name, flow in flows.items()
        },
    }
    ends = {order: parts[-1].out for order, parts in flows["speaking"].items()}
    alt = (
        f"One word on its way through a layer, drawn twice: {format_vector(x)} flows down a stream, "
        f"and attention and the feed-forward network each add to it. With post-norm, LayerNorm sits "
        f"on the stream and rescales it, so the word ends as {format_vector(ends['post'])}. With "
        f"pre-norm it sits on the side branches, where it leaves the stream alone, and the word "
        f"ends as {format_vector(ends['pre'])}."
    )
    return Drawing("stream", data, alt, step=6)


def run_sublayers(x: np.ndarray, sublayers: tuple[Sublayer, Sublayer], pre: bool) -> list[Part]:
    """Return the vectors of each sub-layer, with pre-norm if `pre` is set, else with post-norm."""
    parts: list[Part] = []
    for sublayer in sublayers:
        normed = normalise(x) if pre else None
        said = np.asarray(sublayer(x if normed is None else normed), dtype=float)
        total = x + said
        x = total if pre else normalise(total)
        parts.append(Part(normed, said, total, x))
    return parts


def normalise(x: np.ndarray) -> np.ndarray:
    """Apply LayerNorm with gain 1 and bias 0."""
    return layer_norm(x, np.ones(len(x)), np.zeros(len(x)), epsilon=EPSILON)


def format_vector(vector: np.ndarray) -> str:
    """Format a vector the way people write it, such as (0, 1.5, −2)."""
    return f"({', '.join(f'{number:.2f}'.rstrip('0').rstrip('.') for number in vector)})".replace(
        "-", "−"
    )
