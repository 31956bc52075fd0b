"""Measures of where a translator's heads look when it has to find the noun behind a pronoun.

Lesson 12 and the studies of pronouns use them.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from transformer_lab.attention.capture import AttentionCapture
from transformer_lab.attention.scores import mean_distance
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.evaluation.rollout import attention_rollout
from transformer_lab.studies.finding_the_noun.pronoun_sentences import (
    get_coreference,
    mean_by_order,
)

FLIPS = 1_000  # rounds of the permutation baseline
ROWS = {"it": "pronoun", "decider": "decider", "cross": "target_pronoun"}
"""The rows in which a preference for a noun is measured, each with its field of `Coreference`."""
WORDS = {"it": "pronoun", "decider": "decider", "referent": "referent", "other": "other"}
"""The words that the pronoun's step may look at, each with its field of `Coreference`."""
Rows = dict[str, Float[np.ndarray, "sentence layer head"]]


def referent_differences(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> Rows:
    """Return the weight on the referent minus that on the other noun, for four kinds of row.

    Returns:
        Arrays (sentence, layer, head) from −1 to 1:

        "it": the encoder's row for the pronoun.
        "decider": the encoder's row for the deciding word.
        "cross": the cross-attention row for the step that writes the pronoun.
        "decoder": the decoder self-attention row for the same step. Here, the weight on a noun is
            that on its French translation (0 if the translation is not written yet).
    """
    layers = {"it": capture.encoder, "decider": capture.encoder, "cross": capture.cross}
    found: Rows = {
        name: referent_preferences(np.stack(layers[name], axis=1), pairs, row)
        for name, row in ROWS.items()
    }
    maps = np.stack(capture.decoder, axis=1)
    differences = []
    for weights, pair in zip(maps, pairs, strict=True):
        who = get_coreference(pair)
        row = weights[..., who.target_pronoun, :]
        differences.append(
            weight_on_translations(row, pair, who.referent)
            - weight_on_translations(row, pair, who.other)
        )
    found["decoder"] = np.stack(differences)
    return found


def referent_preferences(maps: np.ndarray, pairs: Sequence[WorldPair], row: str) -> np.ndarray:
    """Return the weight on the referent minus that on the other noun, in one row of each map.

    Args:
        maps: Weights, (sentence, …, query, key).
        pairs: The sentences.
        row: The field of `Coreference` that says which query row to read.

    Returns:
        The differences, (sentence, …).
    """
    found = []
    for weights, pair in zip(maps, pairs, strict=True):
        who = get_coreference(pair)
        here = weights[..., getattr(who, row), :]
        found.append(here[..., who.referent] - here[..., who.other])
    return np.stack(found)


def weight_on_translations(row: np.ndarray, pair: WorldPair, source: int) -> np.ndarray:
    """Return a decoder self-attention row's weight on the translations of one source word.

    `row` is (…, key). The decoder's inputs are shifted by one position, because bos comes first.
    """
    return row[..., [t + 1 for s, t in pair.alignment if s == source]].sum(axis=-1)


def permutation_threshold(
    differences: Float[np.ndarray, "sentence layer head"], seed: int
) -> float:
    """Return the threshold above which a head's mean preference for a noun exceeds chance (95%).

    In each of `FLIPS` rounds, the two nouns are swapped in each sentence with probability ½. The
    largest |mean| over all heads is kept, because the head with the largest value is the one that
    would be picked. The threshold is the 95th percentile of these maxima.
    """
    flat = differences.reshape(len(differences), -1)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, len(flat)))
    means = abs(signs @ flat) / len(flat)
    return round(float(np.quantile(means.max(axis=1), 0.95)), 4)


def cross_weights(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> dict[str, list]:
    """Return each cross-attention head's mean weight on each of `WORDS`.

    For each word, the result has a nested list, indexed by layer and head. Only the step that
    writes the pronoun counts.
    """
    maps = np.stack(capture.cross, axis=1)
    found = {}
    for name, word in WORDS.items():
        looks = [
            weights[..., get_coreference(pair).target_pronoun, getattr(get_coreference(pair), word)]
            for weights, pair in zip(maps, pairs, strict=True)
        ]
        found[name] = np.round(np.mean(looks, axis=0, dtype=np.float64), 4).tolist()
    return found


def rollout_differences(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> dict[str, list]:
    """Return the weight on the referent minus that on the other noun in attention rollout.

    Returns:
        The mean for each clause order:

        "it" and "decider": the difference in these rows of the encoder's rollout.
        "cross": the difference at the step that writes the pronoun. Here the last decoder layer's
            cross-attention, averaged over heads, is multiplied by the encoder's rollout.
    """
    rolled = attention_rollout(capture.encoder)
    maps = {"it": rolled, "decider": rolled, "cross": capture.cross[-1].mean(axis=1) @ rolled}
    return {
        name: mean_by_order(referent_preferences(maps[name], pairs, row))
        for name, row in ROWS.items()
    }


def attention_distances(
    capture: AttentionCapture, pairs: Sequence[WorldPair]
) -> dict[str, list[float]]:
    """Return each layer's attention distance in tokens, averaged over its heads and the sentences.

    The keys are "encoder", "encoder without eos" and "decoder". "encoder without eos" leaves out
    the weight on <eos>, which heads look at when they have nothing to fetch.
    """
    source = [len(pair.source_tokens) + 1 for pair in pairs]  # with eos
    target = [len(pair.target_tokens) + 1 for pair in pairs]  # with bos

    def mean(layers: Sequence[np.ndarray], lengths: Sequence[int], rest: bool) -> list[float]:
        found = []
        for layer in layers:
            cut = [w[:, :n, :n] for w, n in zip(layer, lengths, strict=True)]
            if not rest:
                cut = [drop_last_token(w) for w in cut]
            found.append(round(float(np.mean([mean_distance(head) for w in cut for head in w])), 4))
        return found

    return {
        "encoder": mean(capture.encoder, source, rest=True),
        "encoder without eos": mean(capture.encoder, source, rest=False),
        "decoder": mean(capture.decoder, target, rest=True),
    }


def drop_last_token(weights: Float[np.ndarray, "head n n"]) -> Float[np.ndarray, "head m m"]:
    """Return the maps without their last token, with each row rescaled to sum to 1."""
    rest = weights[:, :-1, :-1]
    return rest / np.maximum(rest.sum(axis=-1, keepdims=True), 1e-9)
