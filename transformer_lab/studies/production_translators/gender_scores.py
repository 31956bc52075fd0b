"""Scores for translations in the study of gender: which genders they show, and which are right.

The study `gender` and its parts use them.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.studies.common.intervals import RESAMPLES, mean_interval
from transformer_lab.studies.production_translators.gender_detection import Reading


def mean_and_interval(values: Sequence[float | int] | np.ndarray) -> list[float]:
    """Return [mean, low, high] with the 95% bootstrap interval, or [] if there are no values."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values):
        return []
    return [round(float(number), 4) for number in (values.mean(), *mean_interval(values, seed=18))]


def mean_per_pair(values: np.ndarray) -> np.ndarray:
    """Return the mean of each pair of neighbouring values.

    The two sentences of a pair are a single observation.
    """
    return np.asarray(values, dtype=np.float64).reshape(-1, 2).mean(axis=1)


def score_written_genders(pairs: Sequence[tuple[Reading, Reading]]) -> dict[str, list[float]]:
    """Measure which genders are written for pairs of usable sentences.

    A translator that always writes the masculine, or the gender of the first noun, is right in half
    of the sentences and switches in no pair. One that picks a random gender for each sentence
    switches correctly in a quarter of the pairs, and so does one that picks a random gender for
    each adjective.

    Returns:
        Shares as [mean, low, high], with intervals over the pairs:

        "masculine": the share of sentences in which the masculine is written.
        "right": the share of sentences with the right gender.
        "gender of the first noun": the share of sentences with the first noun's gender.
        "switches": the share of pairs whose two sentences have different genders.
        "switches rightly" and "switches wrongly": the shares of pairs that switch and are right, or
            wrong, in both sentences.
    """

    def share(of: str) -> list[float]:
        def value(reading: Reading) -> bool:
            assert reading.shown is not None
            gender = reading.shown.gender
            return {
                "masculine": gender == "m",
                "right": reading.right,
                "gender of the first noun": gender == reading.question.genders[0],
            }[of]

        return mean_and_interval([(value(a) + value(b)) / 2 for a, b in pairs])

    shares = {of: share(of) for of in ("masculine", "right", "gender of the first noun")}
    rights = [a.right + b.right for a, b in pairs]
    # The right genders differ, so a pair that switches is right in both sentences or in neither.
    shares["switches"] = mean_and_interval([right != 1 for right in rights])
    shares["switches rightly"] = mean_and_interval([right == 2 for right in rights])
    shares["switches wrongly"] = mean_and_interval([right == 0 for right in rights])
    return shares


def estimate_effects(
    odds: Float[np.ndarray, "pairs 2"], first_is_masculine: np.ndarray
) -> dict[str, list[float]]:
    """Estimate how the first noun's gender and the adjective move the log-odds, in nats.

    Let s be 1 for a masculine first noun and −1 for a feminine one, and let r be 1 if the adjective
    describes the first noun and −1 otherwise. Then odds = masculine + noun·s + adjective·r +
    referent·s·r. `referent` is the effect that understanding would have; `adjective` is an
    adjective's preference for a gender, whichever noun it describes. Pairs with a masculine first
    noun and pairs with a feminine one have the same total weight.

    Args:
        odds: For each pair, the log-odds of the sentence about the first noun and of the one about
            the second.
        first_is_masculine: Whether the first noun of each pair is masculine, (pairs,).

    Returns:
        [mean, low, high] for "masculine", "first noun", "adjective" and "referent"; the result is
        empty if one of the two groups has no pairs.
    """
    sums, differences = odds.mean(axis=1), (odds[:, 0] - odds[:, 1]) / 2
    rng = np.random.default_rng(18)
    groups = [np.flatnonzero(first_is_masculine == value) for value in (True, False)]
    if not all(len(group) for group in groups):
        return {}

    def contrast(rows: list[np.ndarray]) -> tuple[float, ...]:
        m, f = rows
        return (
            (sums[m].mean() + sums[f].mean()) / 2,
            (sums[m].mean() - sums[f].mean()) / 2,
            (differences[m].mean() + differences[f].mean()) / 2,
            (differences[m].mean() - differences[f].mean()) / 2,
        )

    resampled = np.array(
        [contrast([rng.choice(group, len(group)) for group in groups]) for _ in range(RESAMPLES)]
    )
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0)
    names = ("masculine", "first noun", "adjective", "referent")
    return {
        name: [round(float(x), 4) for x in numbers]
        for name, *numbers in zip(names, contrast(groups), low, high, strict=True)
    }
