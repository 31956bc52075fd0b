"""The sentences that the three translators read, and functions that merge subwords into words.

The studies of production translators use them; `emergence` uses the sentences' links.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import WorldPair, join_tokens, world
from transformer_lab.data.world.relations import CLAUSES, find_relations
from transformer_lab.evaluation.alignments import split_words
from transformer_lab.studies.production_translators.models import TOY

WORDS = range(6, 15)
"""The word counts allowed for a real sentence."""


class MarkedSentence(NamedTuple):
    """A sentence, its words, and the (dependent, head) positions of each grammatical relation."""

    text: str
    words: tuple[str, ...]
    links: dict[str, tuple[tuple[int, int], ...]]


@cache
def load_grammatical_sentences(name: str, count: int) -> list[MarkedSentence]:
    """Return unseen one-clause sentences of the bilingual world, each with its relations.

    They are spelt as the model expects.
    """
    plain = [pair for pair in world(20_000, seed=0).test if pair.construction in CLAUSES]
    return [mark_world_sentence(name, pair) for pair in plain[:count]]


def mark_world_sentence(name: str, pair: WorldPair) -> MarkedSentence:
    """Return a sentence of the bilingual world with its relations.

    For models other than the toy, it begins with a capital letter and ends in a full stop.
    """
    links, words = find_relations(pair), pair.source_tokens
    if name != TOY:
        words = (words[0].capitalize(), *words[1:], ".")
    text = join_tokens(words).replace(" .", ".")
    return MarkedSentence(text, words, links)


@cache
def load_real_sentences(name: str, count: int) -> list[str]:
    """Return `count` sentences that the model never saw in training.

    The toy model gets sentences of the bilingual world; the others get Debian's sentences with 6 to
    14 words.
    """
    if name == TOY:
        return [pair.source for pair in world(20_000, seed=0).test[:count]]
    splits = find_corpus("debian:fr").splits()
    unseen = [pair.source for pair in (*splits.test, *splits.validation)]
    return [text for text in unseen if len(text.split()) in WORDS][:count]


def shuffle_words(text: str, seed: int) -> str:
    """Shuffle the words of a sentence, except for the last word or punctuation mark."""
    *words, last = split_words(text)
    return " ".join([*np.random.default_rng(seed).permutation(words), last])


def find_word_numbers(pieces: Sequence[str], words: Sequence[str]) -> np.ndarray | None:
    """Return the index of each subword's word, or −1 for special tokens such as eos.

    The result is None if the subwords do not spell the words, for example if a tokenizer normalises
    a character.
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
    """Merge attention weights between subwords into weights between words.

    The weights are summed over the subwords of a key and averaged over those of a query.

    Args:
        weights: The weights between subwords.
        queries: The result of `find_word_numbers` for the rows, and the number of words.
        keys: The same for the columns.

    Returns:
        The weights between words, with eos in the last row and column. A word that begins inside a
        subword of the previous word, such as a full stop, gets zeros.
    """
    rows, columns = (
        (places == np.array([*range(words), -1])[:, None]).astype(float)
        for places, words in (queries, keys)
    )
    return (rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)) @ weights @ columns.T
