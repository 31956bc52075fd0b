"""Head scores, which are numbers that describe what a head does; `SCORES` lists them all.

The lab colours heads by these scores, and lessons 11 and 12 compare heads by them. The lab computes
the same formulas in JavaScript, in `transformer_lab/lab/page/lab/head_scores.js`, and a browser
test compares the results.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from transformer_lab.attention.record import KINDS, Alignment, AttentionRecord, Head, Kind


def alignment_error_rate(found: Alignment, gold: Alignment) -> float:
    """Return the alignment error rate (AER): 0 if found and gold links are equal, 1 if disjoint.

    It is 1 − 2 |found ∩ gold| / (|found| + |gold|), where all gold links are treated as sure (Och
    and Ney 2003).

    Raises:
        ValueError: If `gold` is empty.
    """
    if not gold:
        raise ValueError("gold is empty; expected at least one link")
    common = len(set(found) & set(gold))
    return 1 - 2 * common / (len(set(found)) + len(set(gold)))


def strongest_links(weights: np.ndarray, steps: Iterable[int]) -> Alignment:
    """Return a link (key, query) from each row in `steps` to the key with the largest weight."""
    return tuple((int(weights[step].argmax()), step) for step in steps)


def head_alignment_error_rate(record: AttentionRecord, head: Head) -> float:
    """Return a cross-attention head's AER when each written word is linked to its strongest key.

    Steps without a gold link, such as the one that writes eos, are left out.

    Raises:
        ValueError: If the head is not a cross-attention head, or the record has no gold alignment.
    """
    if head.kind != "cross" or record.alignment is None:
        raise ValueError(
            f"{head} has no alignment error rate; expected a cross-attention head and a "
            "record with a gold alignment"
        )
    steps = sorted({step for _, step in record.alignment})
    return alignment_error_rate(strongest_links(record.weights(head), steps), record.alignment)


def entropy(weights: np.ndarray) -> float:
    """Return the mean entropy of the rows of an attention map (query, key), in nats.

    It is 0 if each row puts all its weight on one key, and log n if each row spreads its weight
    evenly over n keys.
    """
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return float(-(weights * logarithms).sum(axis=-1).mean())


def mean_distance(weights: np.ndarray) -> float:
    """Return the mean distance |query − key| in tokens, weighted by the self-attention weights."""
    query, key = np.indices(weights.shape)
    return float((weights * abs(query - key)).sum(axis=-1).mean())


def previous_token(weights: np.ndarray) -> float:
    """Return the mean weight on the key right before the query, leaving out the first row."""
    return float(np.diagonal(weights, offset=-1).mean())


def first_token(weights: np.ndarray) -> float:
    """Return the mean weight on the first key.

    The first row is left out, because under a causal mask it can attend to nothing else.
    """
    return float(weights[1:, 0].mean())


def referent_score(record: AttentionRecord, head: Head) -> float:
    """Return the weight on the pronoun's referent minus the weight on the other noun, from −1 to 1.

    In the encoder, both weights are in the pronoun's row. In cross-attention, they are in the row
    of the step that writes the pronoun's translation.

    Raises:
        ValueError: If the head belongs to the decoder's self-attention, or the record has no
            referent.
    """
    if head.kind == "decoder" or record.referent is None:
        raise ValueError(
            f"{head} has no referent score; expected an encoder or cross-attention head "
            "and a record with a gold referent"
        )
    row = record.referent.pronoun if head.kind == "encoder" else record.referent.step
    weights = record.weights(head)[row]
    return float(weights[record.referent.referent] - weights[record.referent.other])


def mean_over_records(
    score: Callable[[AttentionRecord, Head], float], records: Sequence[AttentionRecord], kind: Kind
) -> dict[Head, float]:
    """Return the mean of a score over several records of one model, for each head of one kind.

    Raises:
        ValueError: If `records` is empty.
    """
    if not records:
        raise ValueError("`records` is empty; expected at least one record")
    heads = records[0].heads(kind)
    return {head: float(np.mean([score(record, head) for record in records])) for head in heads}


class Score(NamedTuple):
    """One head score, a row of the table `SCORES`.

    Attributes:
        name: The name used in code.
        label: The name shown on pages.
        best: The end of the scale that is of interest, "low" or "high". The lab shows scores near
            that end in dark colours.
        means: A short explanation of the score.
        compute: A function that returns a head's score in a record, or NaN if it has none.
        kinds: The kinds of attention that have this score.
        needs: The field of the record that `compute` needs in addition to the weights, if any.
    """

    name: str
    label: str
    best: str
    means: str
    compute: Callable[[AttentionRecord, Head], float]
    kinds: tuple[Kind, ...] = KINDS
    needs: str | None = None


def apply_to_weights(
    formula: Callable[[np.ndarray], float], queries: int = 1
) -> Callable[[AttentionRecord, Head], float]:
    """Turn a formula for (query, key) weights into a function of a record and a head.

    The function returns NaN for a head with fewer than `queries` rows.
    """

    def compute(record: AttentionRecord, head: Head) -> float:
        weights = record.weights(head)
        return formula(weights) if len(weights) >= queries else math.nan

    return compute


SCORES = (
    Score(
        "entropy", "entropy", "low",
        "how widely a row spreads its weight, averaged over the rows: 0 nats if all of it is on "
        "one key, log n if it is spread evenly over n keys",
        apply_to_weights(entropy),
    ),
    Score(
        "mean_distance", "distance", "high", "mean number of tokens from query to key",
        apply_to_weights(mean_distance), kinds=("encoder", "decoder"),
    ),
    Score(
        "previous_token", "previous token", "high", "mean weight on the token before the query",
        apply_to_weights(previous_token, queries=2), kinds=("encoder", "decoder"),
    ),
    Score(
        "first_token", "first token", "high", "mean weight on the first token",
        apply_to_weights(first_token, queries=2), kinds=("encoder", "decoder"),
    ),
    Score(
        "aer", "alignment error", "low",
        "AER: 0 if each aligned word attends most to its gold word, 1 if none does",
        head_alignment_error_rate, kinds=("cross",), needs="alignment",
    ),
    Score(
        "referent", "referent", "high",
        "weight on the pronoun's referent minus weight on the other noun",
        referent_score, kinds=("encoder", "cross"), needs="referent",
    ),
)  # fmt: skip
"""All head scores, in the order in which the pages show them."""


def available_scores(record: AttentionRecord, kind: Kind) -> tuple[Score, ...]:
    """Return the scores that can be computed for this kind of head in this record."""
    of_kind = (score for score in SCORES if kind in score.kinds)
    return tuple(score for score in of_kind if not score.needs or getattr(record, score.needs))


def find_sharpest_head(record: AttentionRecord, kind: Kind, among: Collection[Head] = ()) -> Head:
    """Return the head of this kind with the lowest mean entropy; if several tie, the first.

    If `among` contains heads of this kind, only those are compared.
    """
    compute = apply_to_weights(entropy)
    heads = record.heads(kind)
    heads = [head for head in heads if head in among] or heads
    values = {head: compute(record, head) for head in heads}
    return min(values, key=lambda head: (math.isnan(values[head]), values[head]))


def head_scores(record: AttentionRecord, kind: Kind) -> list[dict[str, Any]]:
    """Return each available score with its values for all heads, layer by layer, ready for JSON.

    A value is None if the head has no such score. In a map of one token, for instance, there is no
    previous token.
    """
    found = []
    for score in available_scores(record, kind):
        values = [score.compute(record, head) for head in record.heads(kind)]
        known = [None if math.isnan(value) else value for value in values]
        described = {"name": score.name, "label": score.label, "best": score.best}
        found.append({**described, "means": score.means, "values": known})
    return found


def score_table() -> list[dict[str, Any]]:
    """Return the rows of `SCORES` without their formulas, ready for JSON."""
    return [
        {name: value for name, value in score._asdict().items() if name != "compute"}
        for score in SCORES
    ]
