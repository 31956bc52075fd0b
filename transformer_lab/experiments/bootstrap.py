"""How sure a mean is, and how sure a difference of two BLEU scores: bootstrap intervals."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from sacrebleu.metrics import BLEU

RESAMPLES = 1_000


def mean_interval(values: Float[np.ndarray, " n"], seed: int = 0) -> tuple[float, float]:
    """Between these lie 95 % of the means when the values are drawn again, with repetition."""
    draws = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def bleu_gain_interval(
    base: Sequence[str], other: Sequence[str], references: Sequence[str], seed: int = 0
) -> tuple[float, float]:
    """Between these lie 95 % of the differences of two systems' corpus BLEU, `other` less `base`.

    The sentences are drawn again, with repetition, the same ones for both systems (Koehn 2004).
    """
    counts = [bleu_counts(system, references) for system in (base, other)]
    random = np.random.default_rng(seed)
    gains = []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(references), len(references))
        low, high = (bleu_of_counts(rows[drawn]) for rows in counts)
        gains.append(high - low)
    low, high = np.percentile(gains, (2.5, 97.5))
    return float(low), float(high)


def bleu_counts(
    hypotheses: Sequence[str], references: Sequence[str]
) -> Float[np.ndarray, "n counts"]:
    """What BLEU is made of, for each sentence: right 1- to 4-grams, all of them, both lengths."""
    metric = BLEU(effective_order=True)
    pairs = zip(hypotheses, references, strict=True)
    scores = [metric.sentence_score(one, [reference]) for one, reference in pairs]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], dtype=float)


def bleu_of_counts(rows: Float[np.ndarray, "n counts"]) -> float:
    """The corpus BLEU of sentences whose counts these are, from 0 to 100."""
    total = rows.sum(axis=0).astype(int).tolist()
    score: float = BLEU.compute_bleu(
        total[:4], total[4:8], total[8], total[9], smooth_method="exp"
    ).score
    return score
