"""Confidence intervals at 95%: bootstrap intervals over sentences, Student's t over seeds.

The studies store an interval with each mean; lessons 09 and 16 compute intervals from stored runs.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from sacrebleu.metrics import BLEU

from transformer_lab.config import check, check_count

RESAMPLES = 1_000
"""The number of bootstrap samples behind each interval."""
T = dict(
    enumerate(
        (
            *(4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160),
            *(2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060),
            *(2.056, 2.052, 2.048, 2.045),
        ),
        start=3,
    )
)
"""The two-sided 95% critical values of Student's t, by sample size (degrees of freedom + 1)."""
NORMAL = 1.96
"""The two-sided 95% critical value of the normal distribution, used for proportions."""


def mean_interval(values: Float[np.ndarray, " n"], seed: int = 0) -> tuple[float, float]:
    """Return the 95% bootstrap interval (low, high) of the mean of these values.

    The values are resampled with replacement `RESAMPLES` times, using a generator with this seed.
    """
    draws = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def clustered_mean_interval(
    values: Float[np.ndarray, " n"], cluster: np.ndarray
) -> tuple[float, float]:
    """Return the 95% bootstrap interval (low, high) of the mean of clustered values.

    `cluster` holds the index of each value's cluster, such as its sentence. Whole clusters are
    resampled, because values from the same cluster depend on each other.
    """
    names, places = np.unique(cluster, return_inverse=True)
    sums, counts = np.bincount(places, values), np.bincount(places)
    draws = np.random.default_rng(0).integers(0, len(names), (RESAMPLES, len(names)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def round_interval(interval: tuple[float, float], digits: int) -> list[float]:
    """Round both ends of an interval to this many decimals, and return them as a list for JSON."""
    return [round(end, digits) for end in interval]


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% Student's t interval (low, high) of the mean of a few values, one per seed.

    Raises:
        ValueError: If there are fewer than 3 values, or more than 30.
    """
    check_count("the sample", len(values), "value", f"{min(T)} to {max(T)}", len(values) in T)
    mean = np.mean(values)
    half = T[len(values)] * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(mean - half), float(mean + half)


def wilson_interval(hits: int, runs: int) -> tuple[float, float]:
    """Return Wilson's 95% interval (low, high) for the proportion `hits` / `runs`.

    Source: Wilson 1927. Unlike the estimate plus or minus its standard error, this interval never
    extends below 0 or above 1.

    Raises:
        ValueError: If `hits` is not between 0 and `runs`, or if there are no runs.
    """
    check("runs", runs, "an integer of at least 1", runs >= 1)
    check("hits", hits, f"an integer from 0 to runs={runs}", 0 <= hits <= runs)
    share, z2 = hits / runs, NORMAL**2
    middle = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = NORMAL * np.sqrt(share * (1 - share) / runs + z2 / (4 * runs**2)) / (1 + z2 / runs)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def mean_difference(
    ones: Sequence[float], others: Sequence[float]
) -> tuple[float, tuple[float, float]]:
    """Return the mean paired difference `ones` − `others`, and its 95% Student's t interval.

    The values are paired by position, so both lists must have the same seeds in the same order.

    Raises:
        ValueError: If there are fewer than 3 pairs, or more than 30.
    """
    differences = np.array(ones) - np.array(others)
    return float(differences.mean()), t_interval(differences.tolist())


def bleu_gain_interval(
    base: Sequence[str], other: Sequence[str], references: Sequence[str], seed: int = 0
) -> tuple[float, float]:
    """Return the 95% paired bootstrap interval (low, high) of the BLEU gain of `other` over `base`.

    Each resample uses the same sentences for both systems (Koehn 2004). BLEU is computed on the
    corpus and ranges from 0 to 100.
    """
    counts = [bleu_counts(system, references) for system in (base, other)]
    random = np.random.default_rng(seed)
    gains = []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(references), len(references))
        low, high = (bleu_from_counts(rows[drawn]) for rows in counts)
        gains.append(high - low)
    low, high = np.percentile(gains, (2.5, 97.5))
    return float(low), float(high)


def bleu_counts(
    hypotheses: Sequence[str], references: Sequence[str]
) -> Float[np.ndarray, "n counts"]:
    """Return the counts from which BLEU is computed, one row for each sentence.

    There are ten columns: the matching n-grams for n = 1 to 4, all n-grams in the hypothesis for n
    = 1 to 4, and then the number of words in the hypothesis and in the reference.
    """
    metric = BLEU(effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    scores = [metric.sentence_score(one, [reference]) for one, reference in pairs]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=float)


def bleu_from_counts(rows: Float[np.ndarray, "n counts"]) -> float:
    """Return the corpus BLEU, from 0 to 100, computed from the `bleu_counts` of its sentences."""
    total = rows.sum(axis=0).astype(int).tolist()
    score: float = BLEU.compute_bleu(
        total[:4], total[4:8], total[8], total[9], smooth_method="exp"
    ).score
    return score
