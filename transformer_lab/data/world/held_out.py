"""Hold out pairs of a noun and a describing word, so that the test requires rules.

`grammar` reserves sentences with these pairs for the test split. One pair in ten is held out,
unless that would leave too little to learn from. Every word keeps at least two nouns of each gender
(or all it has), and so does every reason with each verb. Every noun keeps at least two words. For
example, a model that has read that walls and rocks were too slippery to climb can understand the
same about hills.
"""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from hashlib import sha256

from transformer_lab.data.world.because import SCENES
from transformer_lab.data.world.lexicon import (
    ADJECTIVES,
    DECIDING_VERBS,
    NOUNS,
    Adjective,
    Noun,
    Verb,
    can_describe,
    find_nouns,
)

Combination = tuple[str, str]  # a noun and a word that describes it, as English lemmas

FAMOUS_COMBINATIONS = (("animal", "tired"), ("street", "wide"))


@cache
def held_out_combinations() -> frozenset[Combination]:
    """Return the held-out tenth of all (noun, describing word) pairs.

    They are chosen by a hash, so they are the same for every seed.
    """
    groups = _groups()
    everything = {combination for group in groups for combination in group}
    left = [set(group) for group in groups]
    chosen: set[Combination] = set()
    for combination in dict.fromkeys((*FAMOUS_COMBINATIONS, *sorted(everything, key=_hash))):
        gender = NOUNS[combination[0]].gender
        touched = [group for group in left if combination in group]
        remain = [sum(NOUNS[noun].gender == gender for noun, _ in group) for group in touched]
        if min(remain) > 2:
            chosen.add(combination)
            for group in touched:
                group.remove(combination)
        if len(chosen) == len(everything) // 10:
            break
    return frozenset(chosen)


def is_held_out_combination(noun: str, word: str) -> bool:
    """Return whether this noun and describing word may appear together only in the test split.

    Both are given as English lemmas.
    """
    return (noun, word) in held_out_combinations()


def lemma(word: Adjective | Verb) -> str:
    """Return the English lemma of an adjective or verb."""
    return word.base if isinstance(word, Verb) else word.english


def _groups() -> list[set[Combination]]:
    """Return the groups of combinations that must each keep enough members for training.

    A group is a word with its nouns, a noun with its words, or a reason with one verb.
    """

    def pair_with(nouns: Iterable[Noun], word: Adjective | Verb) -> set[Combination]:
        return {(noun.english, lemma(word)) for noun in nouns if can_describe(word, noun)}

    words: list[Adjective | Verb] = [*ADJECTIVES.values(), *DECIDING_VERBS]
    groups = [pair_with(NOUNS.values(), word) for word in words]
    groups += [set.union(*(pair_with([noun], word) for word in words)) for noun in NOUNS.values()]
    reasons: dict[tuple[str, str, str], set[Combination]] = defaultdict(set)
    for scene in SCENES:
        for role, nouns, of_it in (
            ("subject", scene.subjects, scene.subject_reasons),
            ("object", scene.objects, scene.object_reasons),
        ):
            for word in of_it:
                reasons[scene.verb.infinitive, role, lemma(word)] |= pair_with(
                    find_nouns(nouns), word
                )
    return groups + list(reasons.values())


def _hash(combination: Combination) -> bytes:
    return sha256(" ".join(combination).encode()).digest()
