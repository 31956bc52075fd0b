"""What each head does, in numbers, for sorting heads and for the line above the open one."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from transformer_lab.attention_record import AttentionRecord, Head, Kind
from transformer_lab.evaluation.alignment import (
    SHAPE_SCORES,
    head_alignment_error_rate,
    referent_score,
)


class Score(NamedTuple):
    """A number for each head: how it is called, which end is worth a look first, what it means."""

    name: str
    label: str
    best: str
    means: str
    of: Callable[[AttentionRecord, Head], float]


def shape(name: str, queries: int = 1) -> Callable[[AttentionRecord, Head], float]:
    """A score of a map alone, as a score of a record's head; NaN for one of fewer queries."""

    def score(record: AttentionRecord, head: Head) -> float:
        weights = record.weights(head)
        return SHAPE_SCORES[name](weights) if len(weights) >= queries else math.nan

    return score


ENTROPY = Score(
    "entropy", "entropy", "low",
    "how far a row spreads its weight, mean over the rows: 0 nats if all is on one key, "
    "log n if it is even over n keys",
    shape("entropy"),
)  # fmt: skip
SELF = (
    ENTROPY,
    Score("mean_distance", "distance", "high", "mean tokens from query to key",
          shape("mean_distance")),
    Score("previous_token", "previous token", "high", "mean weight on the token before the query",
          shape("previous_token", queries=2)),
    Score("first_token", "first token", "high", "mean weight on the first token",
          shape("first_token", queries=2)),
)  # fmt: skip
ALIGNMENT = Score(
    "aer", "alignment error", "low",
    "AER: 0 where each aligned word looks most at its gold word, 1 where none does",
    head_alignment_error_rate,
)  # fmt: skip
REFERENT = Score(
    "referent", "referent", "high",
    "weight on the pronoun's referent minus weight on the other noun", referent_score,
)  # fmt: skip


def scores_for(record: AttentionRecord, kind: Kind) -> tuple[Score, ...]:
    """The scores that this record can give for heads of this kind."""
    chosen: tuple[Score, ...] = (ENTROPY,) if kind == "cross" else SELF
    if kind == "cross" and record.alignment:
        chosen += (ALIGNMENT,)
    if kind != "decoder" and record.referent is not None:
        chosen += (REFERENT,)
    return chosen


def sharpest(record: AttentionRecord, kind: Kind) -> Head:
    """The head whose rows have the least entropy in the mean; the first of equals."""
    values = {head: ENTROPY.of(record, head) for head in record.heads(kind)}
    return min(values, key=lambda head: (math.isnan(values[head]), values[head]))


def head_scores(record: AttentionRecord, kind: Kind) -> list[dict[str, Any]]:
    """Each score with its value for every head, layer by layer; None where it has none.

    A map of one token, for instance, has no previous token.
    """
    found = []
    for name, label, best, means, score in scores_for(record, kind):
        values = [score(record, head) for head in record.heads(kind)]
        known = [None if math.isnan(value) else value for value in values]
        found.append({"name": name, "label": label, "best": best, "means": means, "values": known})
    return found
