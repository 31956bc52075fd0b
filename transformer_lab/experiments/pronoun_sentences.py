"""The sentences that lesson 12 asks a translator: each has a pronoun and two nouns it may stand for."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.data.batching import Batch, collate, encode_pairs
from transformer_lab.data.world.grammar import Coreference, WorldPair, held_out, sentences
from transformer_lab.translator import Translator

ORDERS = ("because_last", "because_first")
"""The clause with the pronoun stands behind the nouns, or before them."""


def asked(order: str, unseen: bool = True, seed: int = 12) -> Iterator[WorldPair]:
    """Sentences of one clause order with a pronoun; `unseen` are those of held-out combinations."""
    for pair in sentences(seed=seed):
        if pair.construction == order and pair.coreference and held_out(pair) == unseen:
            yield pair


def place(pair: WorldPair) -> Coreference:
    """What the pronoun of a pair stands for; every pair of this study has one."""
    assert pair.coreference is not None
    return pair.coreference


def batch_of(translator: Translator, pairs: Sequence[WorldPair]) -> Batch:
    """All pairs in one batch."""
    return collate(encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer))


def by_order(values: np.ndarray) -> list[Any]:
    """The mean over the sentences of each order; the first axis is the sentences."""
    return [
        np.round(part.mean(axis=0, dtype=np.float64), 4).tolist()
        for part in np.split(values, len(ORDERS))
    ]


def feminine(pairs: Sequence[WorldPair]) -> Tensor:
    """Whether each pronoun is elle or elles, as 0.0 and 1.0."""
    return torch.tensor(
        [float(p.target_tokens[place(p).target_pronoun].startswith("elle")) for p in pairs]
    )
