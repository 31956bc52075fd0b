"""Align words without gold links, using two statistical models that must agree.

Each model is an IBM Model 1 (Brown et al. 1993) with a fixed preference for the diagonal (Dyer et
al. 2013). One model aligns source to target, the other target to source, and a link is kept if both
find it. The models are trained by expectation maximisation on the texts to be aligned. If there are
no gold links, the lab uses these links to name a translator's heads.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np

Words = Sequence[str]
Link = tuple[int, int]
ROUNDS = 6
DIAGONAL = 4.0
"""How strongly a word prefers a partner at the same relative position; 0 gives IBM Model 1."""
NULL_PROBABILITY = 0.08
"""The prior probability that a target word translates no source word."""


def split_words(text: str) -> list[str]:
    """Split a string into words and single punctuation marks; words may contain apostrophes."""
    return re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text)


def align_words(pairs: Sequence[tuple[Words, Words]], alike: float = 1.0) -> list[tuple[Link, ...]]:
    """Return the links that both directions find, for each pair of word lists.

    A link is (source position, target position). Words that are spelled the same on both sides,
    such as 2018, are given a prior probability `alike` times as high.
    """
    forward = align_one_way(pairs, alike)
    backward = align_one_way([(target, source) for source, target in pairs], alike)
    return [
        tuple(sorted({*there} & {(s, t) for t, s in back}))
        for there, back in zip(forward, backward, strict=True)
    ]


def align_one_way(pairs: Sequence[tuple[Words, Words]], alike: float = 1.0) -> list[list[Link]]:
    """Link each target word to its likeliest source word, if any, in each pair of word lists.

    A link is (source position, target position); see `align_words` for `alike`.
    """
    source_ids, target_ids = number_words(p[0] for p in pairs), number_words(p[1] for p in pairs)
    keys, prior, group = [], [], []
    words = 0
    for pair, source, target in zip(pairs, source_ids, target_ids, strict=True):
        n, m = len(source), len(target)
        # Source word 0 stands for "no word", so the real words are shifted by one.
        near = -DIAGONAL * abs((np.arange(n) + 0.5)[None] / n - (np.arange(m) + 0.5)[:, None] / m)
        if alike != 1:
            same = np.array([[a == b for a in pair[0]] for b in pair[1]]).reshape(m, n)
            near = near + np.log(alike) * same
        likely = np.exp(near) / np.exp(near).sum(axis=1, keepdims=True) * (1 - NULL_PROBABILITY)
        prior.append(np.hstack([np.full((m, 1), NULL_PROBABILITY), likely]).ravel())
        columns = np.concatenate([[0], source + 1])
        keys.append((columns[None].astype(np.int64) << 32 | target[:, None]).ravel())
        group.append(np.repeat(np.arange(words, words + m), n + 1))
        words += m
    pair_of, place = np.unique(np.concatenate(keys), return_inverse=True)
    prior_of, group_of = np.concatenate(prior), np.concatenate(group)
    source_of = pair_of >> 32
    table = np.ones(len(pair_of))
    share = prior_of
    for _ in range(ROUNDS):
        share = table[place] * prior_of
        share /= np.bincount(group_of, share, words)[group_of]
        counts = np.bincount(place, share, len(pair_of))
        table = counts / np.bincount(source_of, counts)[source_of]
    return likeliest_links(source_ids, target_ids, share)


def likeliest_links(
    source_ids: Sequence[np.ndarray], target_ids: Sequence[np.ndarray], share: np.ndarray
) -> list[list[Link]]:
    """Link each target word to its likeliest source word, unless "no word" is likelier.

    `share` holds a matrix of probabilities (target words, 1 + source words) for each pair, all
    flattened into one array. Column 0 of each matrix stands for "no word".
    """
    links: list[list[Link]] = []
    start = 0
    for source, target in zip(source_ids, target_ids, strict=True):
        size = (len(source) + 1) * len(target)
        best = share[start : start + size].reshape(len(target), -1).argmax(axis=1) - 1
        links.append([(int(s), t) for t, s in enumerate(best) if s >= 0])
        start += size
    return links


def number_words(texts: Iterable[Words]) -> list[np.ndarray]:
    """Return an array of ids for each list of words; words that differ only in case share an id."""
    known: dict[str, int] = {}
    return [
        np.array([known.setdefault(word.lower(), len(known)) for word in text]) for text in texts
    ]
