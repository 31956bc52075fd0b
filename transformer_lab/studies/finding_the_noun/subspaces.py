"""Overlaps of heads: do the heads of a layer read from and write to separate subspaces?

The study `emergence` uses them.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from jaxtyping import Float

from transformer_lab.model import Transformer

PROJECTIONS = ("query", "key", "value", "output")


def subspace_overlap(a: Float[np.ndarray, "d_model m"], b: Float[np.ndarray, "d_model n"]) -> float:
    """Return the mean squared cosine of the principal angles between two matrices' column spaces.

    It is 1 if the smaller space lies inside the other, 0 if they are orthogonal, and about max(m,
    n) / d_model for random spaces.
    """
    (q_a, _), (q_b, _) = np.linalg.qr(a), np.linalg.qr(b)
    cosines = np.linalg.svd(q_a.T @ q_b, compute_uv=False)
    return float(np.mean(cosines**2))


def head_overlaps(model: Transformer) -> dict[str, list[float]]:
    """Measure how much the subspaces of each encoder layer's heads overlap, for each projection.

    For each of "query", "key", "value" and "output", the list has one number per layer: the mean of
    `subspace_overlap` over all pairs of that layer's heads. The first three concern the subspaces
    that a head reads from, and "output" concerns the subspace that it writes to.
    """
    found: dict[str, list[float]] = {name: [] for name in PROJECTIONS}
    heads = model.config.num_heads
    for layer in model.encoder.layers:
        attention = layer.self_attention
        weights = (attention.w_q, attention.w_k, attention.w_v)
        matrices = [w.weight.detach().double().numpy().T for w in weights]
        matrices.append(attention.w_o.weight.detach().double().numpy())
        for name, matrix in zip(PROJECTIONS, matrices, strict=True):
            parts: Sequence[np.ndarray] = np.split(matrix, heads, axis=1)
            pairs = [subspace_overlap(a, b) for a, b in combinations(parts, 2)]
            found[name].append(round(float(np.mean(pairs)), 4))
    return found
