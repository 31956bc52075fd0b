"""What each head does, in numbers, for sorting heads and for the line above the open one."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from transformer_lab.attention_record import KINDS, AttentionRecord, Head, Kind
from transformer_lab.evaluation.alignment import (
    entropy,
    first_token,
    head_alignment_error_rate,
    mean_distance,
    previous_token,
    referent_score,
)


class Score(NamedTuple):
    """A number for each head: how it is called, which end is worth a look first, what it means.

    It is given for heads of these `kinds`, by a record that has the field `needs`.
    """

    name: str
    label: str
    best: str
    means: str
    of: Callable[[AttentionRecord, Head], float]
    kinds: tuple[Kind, ...] = KINDS
    needs: str | None = None


def of_map(
    score: Callable[[np.ndarray], float], queries: int = 1
) -> Callable[[AttentionRecord, Head], float]:
    """A score of a map alone, as a score of a record's head; NaN for a map of fewer queries."""

    def of(record: AttentionRecord, head: Head) -> float:
        weights = record.weights(head)
        return score(weights) if len(weights) >= queries else math.nan

    return of


SCORES = (
    Score(
        "entropy", "entropy", "low",
        "how far a row spreads its weight, mean over the rows: 0 nats if all is on one key, "
        "log n if it is even over n keys",
        of_map(entropy),
    ),
    Score(
        "mean_distance", "distance", "high", "mean tokens from query to key",
        of_map(mean_distance), kinds=("encoder", "decoder"),
    ),
    Score(
        "previous_token", "previous token", "high", "mean weight on the token before the query",
        of_map(previous_token, queries=2), kinds=("encoder", "decoder"),
    ),
    Score(
        "first_token", "first token", "high", "mean weight on the first token",
        of_map(first_token, queries=2), kinds=("encoder", "decoder"),
    ),
    Score(
        "aer", "alignment error", "low",
        "AER: 0 where each aligned word looks most at its gold word, 1 where none does",
        head_alignment_error_rate, kinds=("cross",), needs="alignment",
    ),
    Score(
        "referent", "referent", "high",
        "weight on the pronoun's referent minus weight on the other noun",
        referent_score, kinds=("encoder", "cross"), needs="referent",
    ),
)  # fmt: skip
"""All there are, in the order in which they are shown."""


def scores_for(record: AttentionRecord, kind: Kind) -> tuple[Score, ...]:
    """The scores that this record can give for heads of this kind."""
    of_kind = (score for score in SCORES if kind in score.kinds)
    return tuple(score for score in of_kind if not score.needs or getattr(record, score.needs))


def sharpest(record: AttentionRecord, kind: Kind) -> Head:
    """The head whose rows have the least entropy in the mean; the first of equals."""
    of = of_map(entropy)
    values = {head: of(record, head) for head in record.heads(kind)}
    return min(values, key=lambda head: (math.isnan(values[head]), values[head]))


def head_scores(record: AttentionRecord, kind: Kind) -> list[dict[str, Any]]:
    """Each score with its value for every head, layer by layer; None where it has none.

    A map of one token, for instance, has no previous token.
    """
    found = []
    for name, label, best, means, of, _, _ in scores_for(record, kind):
        values = [of(record, head) for head in record.heads(kind)]
        known = [None if math.isnan(value) else value for value in values]
        found.append({"name": name, "label": label, "best": best, "means": means, "values": known})
    return found
