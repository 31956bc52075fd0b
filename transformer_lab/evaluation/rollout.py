"""Attention rollout (Abnar and Zuidema 2020), which follows attention through several layers.

Lesson 11 and the studies of heads use it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def attention_rollout(
    layers: Sequence[Float[np.ndarray, "*batch heads n n"]],
) -> Float[np.ndarray, "*batch n n"]:
    """Return attention rollout: how much of each input token (column) reaches each output (row).

    This is an estimate from the attention weights alone; values, projections and feed-forward
    networks are ignored. Each layer is represented by the matrix ½ (mean over its heads) + ½
    identity, where the identity stands for the residual connection. These matrices are multiplied,
    with the first layer on the right. Rows sum to 1.
    """
    n = layers[0].shape[-1]
    rolled = np.eye(n)
    for weights in layers:
        rolled = (0.5 * weights.mean(axis=-3) + 0.5 * np.eye(n)) @ rolled
    return rolled
