"""How sure a mean is: the bootstrap interval."""

import numpy as np
from jaxtyping import Float

RESAMPLES = 1_000


def mean_interval(values: Float[np.ndarray, " n"], seed: int = 0) -> tuple[float, float]:
    """Between these lie 95 % of the means when the values are drawn again, with repetition."""
    draws = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
