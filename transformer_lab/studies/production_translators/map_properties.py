"""Properties of attention maps, such as entropy and distance, and rank correlations.

The study `muting` measures the properties; lesson 18 correlates them with the damage done by
muting.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transformer_lab.attention.record import KINDS, Head
from transformer_lab.attention.scores import entropy, mean_distance
from transformer_lab.translator import Translator

PROPERTIES: dict[str, Callable[[np.ndarray, str], float]] = {
    "largest": lambda weights, kind: float(weights.max(axis=-1).mean()),
    "entropy": lambda weights, kind: entropy(weights) / np.log(max(2, weights.shape[1])),
    "rest": lambda weights, kind: float(weights[:, 0 if kind == "decoder" else -1].mean()),
    "distance": lambda weights, kind: mean_distance(weights),
}
"""The properties of an attention map, each averaged over its rows.

"largest": the largest weight in a row.
"entropy": the entropy of a row, as a share of its maximum.
"rest": the weight on eos, or on bos in the decoder.
"distance": the mean distance in tokens.
"""


def measure_maps(translator: Translator, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the mean of each of `PROPERTIES` for every head, over the model's own translations.

    Each entry has "head", as [kind, layer, head], and the properties by name.
    """
    found: dict[Head, list[list[float]]] = {}
    for text in texts:
        record = translator.attend(text)
        for kind in KINDS:
            for head in record.heads(kind):
                weights = record.weights(head).astype(np.float64)
                row = [see(weights, kind) for see in PROPERTIES.values()]
                found.setdefault(head, []).append(row)
    return [
        {"head": list(head)}
        | {
            name: round(float(mean), 3)
            for name, mean in zip(PROPERTIES, np.mean(rows, axis=0), strict=True)
        }
        for head, rows in found.items()
    ]


def rank_correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Return Spearman's rank correlation.

    This is Pearson's correlation of the ranks, where ties share their mean rank.
    """

    def ranks(values: Sequence[float]) -> np.ndarray:
        _, place, times = np.unique(values, return_inverse=True, return_counts=True)
        last = np.cumsum(times)
        return (last - (times - 1) / 2)[place]

    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def rank_interval(correlation: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of Spearman's correlation for `count` pairs (Bonett and Wright 2000).

    It uses Fisher's z with a standard error of √((1 + r²/2) / (count − 3)).
    """
    error = np.sqrt((1 + correlation**2 / 2) / (count - 3))
    low, high = np.tanh(np.arctanh(correlation) + 1.96 * error * np.array([-1, 1]))
    return float(low), float(high)
