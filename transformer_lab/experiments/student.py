"""Intervals of a mean over a few seeds, by Student's t."""

from collections.abc import Sequence

import numpy as np

from transformer_lab.config import check

T = {3: 4.303, 4: 3.182, 5: 2.776}
"""Student's t, two-sided at 95 %, by the number of values: one less is free."""


def over_seeds(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean of three to five values, one of each seed."""
    check("number of values", len(values), f"one of {[*T]}", len(values) in T)
    mean = np.mean(values)
    half = T[len(values)] * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(mean - half), float(mean + half)


def mean_difference(
    ones: Sequence[float], others: Sequence[float]
) -> tuple[float, tuple[float, float]]:
    """The mean of `ones` less `others`, of pairs of equal seeds, and its 95 % interval."""
    differences = np.array(ones) - np.array(others)
    return float(differences.mean()), over_seeds(differences.tolist())
