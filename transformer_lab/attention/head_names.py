"""Names for attention heads, based on what the heads were observed to do.

A code such as "e2.3" says where a head is. A name such as "finds the noun" says what the head did
in the sentences that were measured. The lab shows both, so nobody has to learn the codes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from transformer_lab.attention.record import KINDS, AttentionRecord, Head, Kind
from transformer_lab.attention.scores import (
    apply_to_weights,
    entropy,
    find_sharpest_head,
    first_token,
    previous_token,
)


class Behaviour(NamedTuple):
    """A behaviour that a head may show, and the conditions for naming the head after it.

    Attributes:
        name: The name that the head gets.
        least: The minimum mean of `measure` over the records for a head to get the name.
        measure: A function that returns how strongly a head shows the behaviour in one record.
        kinds: The kinds of attention whose heads can get the name.
        needs: The field of the record that `measure` reads in addition to the weights, if any.
    """

    name: str
    least: float
    measure: Callable[[AttentionRecord, Head], float]
    kinds: tuple[Kind, ...] = KINDS
    needs: str | None = None


def noun_of_the_decider(record: AttentionRecord, head: Head) -> float:
    """Return the weight on the pronoun's referent in the row of the deciding word."""
    assert record.referent is not None  # `needs` says so
    return float(record.weights(head)[record.referent.decider, record.referent.referent])


def decider_of_the_pronoun(record: AttentionRecord, head: Head) -> float:
    """Return the weight on the deciding word at the step that writes the pronoun."""
    assert record.referent is not None
    return float(record.weights(head)[record.referent.step, record.referent.decider])


def pronoun_of_the_pronoun(record: AttentionRecord, head: Head) -> float:
    """Return the weight on the source pronoun at the step that writes its translation."""
    assert record.referent is not None
    return float(record.weights(head)[record.referent.step, record.referent.pronoun])


def gold_weight(record: AttentionRecord, head: Head) -> float:
    """Return the total weight on a step's aligned source words, averaged over the aligned steps."""
    assert record.alignment is not None
    weights = record.weights(head)
    steps = {step for _, step in record.alignment}
    return float(sum(weights[step, source] for source, step in record.alignment) / len(steps))


def own_token(weights: np.ndarray) -> float:
    """Return the mean weight on the key at the query's own position."""
    return float(np.diagonal(weights).mean())


def next_token(weights: np.ndarray) -> float:
    """Return the mean weight on the key right after the query, or 0 if there is only one key."""
    return float(np.diagonal(weights, offset=1).mean()) if weights.shape[1] > 1 else 0.0


def last_token(weights: np.ndarray) -> float:
    """Return the mean weight on the last key, leaving out the last row."""
    return float(weights[:-1, -1].mean()) if len(weights) > 1 else 0.0


def spread(weights: np.ndarray) -> float:
    """Return how widely the rows spread their weight, from 0 (one key) to 1 (all keys evenly)."""
    return float((np.exp(entropy(weights)) - 1) / (weights.shape[1] - 1))


BEHAVIOURS = (
    Behaviour("finds the noun", 0.6, noun_of_the_decider, ("encoder",), "referent"),
    Behaviour("sometimes finds the noun", 0.3, noun_of_the_decider, ("encoder",), "referent"),
    Behaviour("reads the deciding word", 0.6, decider_of_the_pronoun, ("cross",), "referent"),
    Behaviour("translates word for word", 0.6, gold_weight, ("cross",), "alignment"),
    Behaviour("reads the pronoun", 0.6, pronoun_of_the_pronoun, ("cross",), "referent"),
    Behaviour("looks one word back", 0.5, apply_to_weights(previous_token), ("encoder", "decoder")),
    Behaviour("looks one word on", 0.5, apply_to_weights(next_token), ("encoder",)),
    Behaviour("looks at itself", 0.4, apply_to_weights(own_token), ("encoder", "decoder")),
    Behaviour("looks at the first word", 0.5, apply_to_weights(first_token)),
    Behaviour("looks at the end", 0.5, apply_to_weights(last_token), ("encoder", "cross")),
    Behaviour("looks all around", 0.5, apply_to_weights(spread), ("encoder", "cross")),
)  # fmt: skip
"""The behaviours that heads are named after.

A head gets the first name that fits, so the most informative names come first.
"""
LEAST_WORDS = 4
"""The minimum number of words in a map; with only two, every row has a weight of at least 0.5."""
MIXED = "mixed"
"""The name of a head that shows none of these behaviours."""


def name_heads(records: Sequence[AttentionRecord]) -> dict[Head, str]:
    """Return a name for each head of a model, based on records of some sentences.

    A head shows a behaviour if the mean of the behaviour's `measure` over the records reaches
    `least`. Records that are too short, or lack the field that the behaviour needs, are left out of
    the mean. A name says what a head did in these sentences, not what the head is for.

    Raises:
        ValueError: If `records` is empty.
    """
    if not records:
        raise ValueError("`records` is empty; expected at least one record")
    return {head: name_head(records, head) for head in records[0].heads()}


def name_head(records: Sequence[AttentionRecord], head: Head) -> str:
    """Return the name of the first behaviour that the head shows in the records, or "mixed"."""
    for behaviour in BEHAVIOURS:
        if head.kind not in behaviour.kinds:
            continue
        fit = [record for record in records if has_what_it_needs(record, head, behaviour)]
        measured = [behaviour.measure(record, head) for record in fit]
        if measured and np.mean(measured) >= behaviour.least:
            return behaviour.name
    return MIXED


def find_telling_head(record: AttentionRecord, kind: Kind, names: Mapping[Head, str]) -> Head:
    """Return the head of this kind to show first: the sharpest named one, else the sharpest of all.

    The sharpest head is the one with the lowest mean entropy. "mixed" does not count as a name,
    because it says that nothing was found.
    """
    return find_sharpest_head(record, kind, [h for h, name in names.items() if name != MIXED])


def has_what_it_needs(record: AttentionRecord, head: Head, behaviour: Behaviour) -> bool:
    """Return whether a record has the field that a behaviour needs, and a large enough map."""
    known = behaviour.needs is None or getattr(record, behaviour.needs) is not None
    return known and min(record.weights(head).shape) >= LEAST_WORDS
