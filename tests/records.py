"""Records made by hand for tests: random weights at sizes that are different primes."""

import time
from collections.abc import Sequence

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Head

SOURCE = ("the", "cat", "sees", "a", "dog", ".", "<eos>")
TARGET = ("<bos>", "le", "chat", "voit", "chien")
WRITTEN = ("le", "chat", "voit", "chien", "<eos>")


def random_maps(
    rng: np.random.Generator,
    heads: Sequence[int],
    queries: int,
    keys: int,
    *,
    causal: bool = False,
    sharp: float = 2.0,
) -> tuple[np.ndarray, ...]:
    """For each layer an array (heads, query, key) whose rows sum to 1."""
    layers = []
    for count in heads:
        scores = sharp * rng.standard_normal((count, queries, keys))
        if causal:
            scores[:, np.triu(np.ones((queries, keys), dtype=bool), 1)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True, initial=0))
        layers.append((weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32))
    return tuple(layers)


def make_record(
    source: Sequence[str] = SOURCE,
    target: Sequence[str] = TARGET,
    written: Sequence[str] = WRITTEN,
    *,
    encoder: Sequence[int] = (2, 3),
    decoder: Sequence[int] = (3, 3, 3),
    cross: Sequence[int] = (3, 3, 3),
    seed: int = 0,
    **facts,
) -> AttentionRecord:
    """A record of such weights; `encoder`, `decoder` and `cross` give the heads of each layer."""
    rng = np.random.default_rng(seed)
    sides = len(source), len(target)
    return AttentionRecord(
        tuple(source),
        tuple(target),
        tuple(written),
        encoder=random_maps(rng, encoder, sides[0], sides[0]),
        decoder=random_maps(rng, decoder, sides[1], sides[1], causal=True),
        cross=random_maps(rng, cross, sides[1], sides[0]),
        **facts,
    )


def probabilities(written: Sequence[str], rng: np.random.Generator) -> tuple:
    """Next tokens of each step: the written one first, then two others."""
    steps = []
    for token in written:
        first = 0.5 + 0.4 * rng.random()
        rest = 1 - first
        steps.append(((token, first), ("un", rest * 0.6), ("une", rest * 0.3)))
    return tuple(steps)


class WordByWord:
    """A translator for tests: into capitals, and backwards where a head is muted or patched.

    A sentence with "slow" in it takes two seconds, and one with "bad" fails.
    """

    def __init__(self):
        self.asked: list[str] = []

    def attend(self, source: str, *, mute=(), patch=None) -> AttentionRecord:
        self.asked.append(source)
        words = source.split()
        if "slow" in words:
            time.sleep(2)
        if "bad" in words or not words:
            raise ValueError("there is no such word: 'bad'")
        written = [word.upper() for word in words]
        if mute or patch:
            written.reverse()
        record = make_record(
            [*words, "<eos>"],
            ["<bos>", *written],
            [*written, "<eos>"],
            seed=len(source),
            next_tokens=probabilities([*written, "<eos>"], np.random.default_rng(0)),
            muted=frozenset(Head(*head) for head in mute),
        )
        for (kind, layer, head), change in (patch or {}).items():
            weights = getattr(record, kind)[layer]
            weights[head] = change(weights[[head]], 0)[0]
        return record
