"""The sentences that the three translators read, and how subword pieces are merged to words."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import WorldPair, join_tokens, world
from transformer_lab.data.world.relations import CLAUSES, find_relations
from transformer_lab.studies.production_translators.alignments import split_words
from transformer_lab.studies.production_translators.models import TOY

WORDS = range(6, 15)
"""How long the real sentences are."""


class MarkedSentence(NamedTuple):
    """A sentence: its text, its words, and the (dependent, head) places of each relation."""

    text: str
    words: tuple[str, ...]
    links: dict[str, tuple[tuple[int, int], ...]]


@cache
def load_grammatical_sentences(name: str, count: int) -> list[MarkedSentence]:
    """Unseen sentences of the world with one plain clause, as the model is used to read them."""
    plain = [pair for pair in world(20_000, seed=0).test if pair.construction in CLAUSES]
    return [mark_world_sentence(name, pair) for pair in plain[:count]]


def mark_world_sentence(name: str, pair: WorldPair) -> MarkedSentence:
    """A sentence of the world; other models than the toy read it with a capital and a full stop."""
    links, words = find_relations(pair), pair.source_tokens
    if name != TOY:
        words = (words[0].capitalize(), *words[1:], ".")
    text = join_tokens(words).replace(" .", ".")
    return MarkedSentence(text, words, links)


@cache
def load_real_sentences(name: str, count: int) -> list[str]:
    """Sentences that the model never saw: Debian's of 6 to 14 words, or the world's for the toy model."""
    if name == TOY:
        return [pair.source for pair in world(20_000, seed=0).test[:count]]
    splits = find_corpus("debian:fr").splits()
    unseen = [pair.source for pair in (*splits.test, *splits.validation)]
    return [text for text in unseen if len(text.split()) in WORDS][:count]


def shuffle_words(text: str, seed: int) -> str:
    """The words of a text in a random order; its last word or sign stays last."""
    *words, last = split_words(text)
    return " ".join([*np.random.default_rng(seed).permutation(words), last])


def find_word_numbers(pieces: Sequence[str], words: Sequence[str]) -> np.ndarray | None:
    """For each piece the number of its word, from 0, and −1 for the end of the sentence.

    None if the pieces do not spell the words, as where a tokenizer has written a sign otherwise.
    """
    owner = [number for number, word in enumerate(words) for _ in word]
    spelled, found = "", []
    for piece in pieces:
        letters = piece.replace(" ", "").replace("▁", "")
        special = letters.startswith("<") and letters.endswith(">") and len(letters) > 2
        if special or not letters:
            found.append(-1 if special else min(len(spelled), len(owner) - 1))
            continue
        if len(spelled) >= len(owner):
            return None
        found.append(owner[len(spelled)])
        spelled += letters
    return np.array(found) if spelled == "".join(words) else None


def merge_pieces(
    weights: Float[np.ndarray, "head query key"],
    queries: tuple[np.ndarray, int],
    keys: tuple[np.ndarray, int],
) -> Float[np.ndarray, "head row column"]:
    """Weights between words: added over a word's pieces as keys, averaged over them as queries.

    `queries` and `keys` are what `find_word_numbers` gives and how many words there are. The last row and
    column are those of the sentence's end. A word that begins inside a piece of the word before it,
    as a full stop may, has zeros.
    """
    rows, columns = (
        (places == np.array([*range(words), -1])[:, None]).astype(float)
        for places, words in (queries, keys)
    )
    return (rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)) @ weights @ columns.T
