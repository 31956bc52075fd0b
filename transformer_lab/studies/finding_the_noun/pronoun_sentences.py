"""Sentences whose pronoun could refer to either of two nouns, to test a translator (lesson 12).

The studies of pronouns and the linear probe also use them.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.data.batching import Batch, collate, encode_pairs
from transformer_lab.data.world.grammar import Coreference, WorldPair, is_held_out, sentences
from transformer_lab.translator import Translator

ORDERS = ("because_last", "because_first")
"""The two clause orders: the clause with the pronoun comes after the nouns, or before them."""


def iterate_pronoun_pairs(order: str, unseen: bool = True, seed: int = 12) -> Iterator[WorldPair]:
    """Yield sentences with a pronoun, in one clause order.

    If `unseen` is set, every sentence contains a word combination that is held out from training;
    otherwise, no sentence does.
    """
    for pair in sentences(seed=seed):
        if pair.construction == order and pair.coreference and is_held_out(pair) == unseen:
            yield pair


def draw_pronoun_pairs(each: int, unseen: bool = True, seed: int = 12) -> list[WorldPair]:
    """Return the first `each` sentences of each clause order, in the order of `ORDERS`."""
    return [
        pair
        for order in ORDERS
        for pair in islice(iterate_pronoun_pairs(order, unseen, seed), each)
    ]


def get_coreference(pair: WorldPair) -> Coreference:
    """Return a pair's coreference: the positions of its pronoun, nouns and deciding word."""
    assert pair.coreference is not None
    return pair.coreference


def make_batch(translator: Translator, pairs: Sequence[WorldPair]) -> Batch:
    """Encode all pairs into one padded batch."""
    return collate(encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer))


def mean_by_order(values: np.ndarray) -> list[Any]:
    """Return the mean over the sentences of each clause order.

    Along axis 0 of `values` are the sentences, grouped by clause order as in `ORDERS`. Both groups
    have the same size.
    """
    return [
        np.round(part.mean(axis=0, dtype=np.float64), 4).tolist()
        for part in np.split(values, len(ORDERS))
    ]


def is_feminine(pairs: Sequence[WorldPair]) -> Tensor:
    """Return 1.0 for each pair whose pronoun is elle or elles and 0.0 for the rest, (sentence,)."""
    return torch.tensor(
        [
            float(p.target_tokens[get_coreference(p).target_pronoun].startswith("elle"))
            for p in pairs
        ]
    )
