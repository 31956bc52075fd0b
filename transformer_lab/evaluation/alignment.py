"""What a head does, in numbers: alignment error rate, coreference, and the shape of its map."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from transformer_lab.attention_record import Alignment, AttentionRecord, Head, Kind


def alignment_error_rate(found: Alignment, gold: Alignment) -> float:
    """1 − 2 |found ∩ gold| / (|found| + |gold|), with all gold links sure (Och and Ney 2003)."""
    if not gold:
        raise ValueError("gold is empty; expected at least one link")
    common = len(set(found) & set(gold))
    return 1 - 2 * common / (len(set(found)) + len(set(gold)))


def strongest_links(weights: np.ndarray, steps: Iterable[int]) -> Alignment:
    """For each of these rows, (key with the largest weight, row)."""
    return tuple((int(weights[step].argmax()), step) for step in steps)


def head_alignment_error_rate(record: AttentionRecord, head: Head) -> float:
    """The error rate of a cross-attention head, when each aligned word is linked to its strongest key.

    Steps without a gold link, such as the one that writes eos, are left out.
    """
    if head.kind != "cross" or record.alignment is None:
        raise ValueError(f"head is {head}; expected a cross-attention head and a gold alignment")
    steps = sorted({step for _, step in record.alignment})
    return alignment_error_rate(strongest_links(record.weights(head), steps), record.alignment)


def entropy(weights: np.ndarray) -> float:
    """Mean entropy of the rows in nats: 0 when each row has one key, log(keys) when all are equal."""
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return float(-(weights * logarithms).sum(axis=-1).mean())


def mean_distance(weights: np.ndarray) -> float:
    """Mean |query − key| under the weights, in tokens; for self-attention."""
    query, key = np.indices(weights.shape)
    return float((weights * abs(query - key)).sum(axis=-1).mean())


def previous_token(weights: np.ndarray) -> float:
    """Mean weight on the key just before the query; the first row has none and is left out."""
    return float(np.diagonal(weights, offset=-1).mean())


def first_token(weights: np.ndarray) -> float:
    """Mean weight on the first key; the first row of a causal map has no choice and is left out."""
    return float(weights[1:, 0].mean())


def referent_score(record: AttentionRecord, head: Head) -> float:
    """Weight on the true referent minus weight on the other noun, from −1 to 1.

    The row is the pronoun's in the encoder, and in cross-attention that of
    the step that writes its translation.
    """
    if head.kind == "decoder" or record.referent is None:
        raise ValueError(f"head is {head}; expected encoder or cross, and a gold referent")
    row = record.referent.pronoun if head.kind == "encoder" else record.referent.step
    weights = record.weights(head)[row]
    return float(weights[record.referent.referent] - weights[record.referent.other])


def mean_over_records(
    score: Callable[[AttentionRecord, Head], float], records: Sequence[AttentionRecord], kind: Kind
) -> dict[Head, float]:
    """The mean of a score over records of one model, for each head of a kind."""
    if not records:
        raise ValueError("records is empty; expected at least one")
    heads = records[0].heads(kind)
    return {head: float(np.mean([score(record, head) for record in records])) for head in heads}
