"""Hold out combinations of a noun and an adjective or verb, to test whether rules are learnt.

`grammar` reserves sentences with these combinations for the test split. One combination in ten is
held out, provided that enough remains to learn from. Every adjective or verb keeps at least two
nouns of each gender (or all that it has). The same applies to every reason, separately for each
main verb that it explains. Every noun keeps at least two adjectives or verbs. For example, "wide"
is held out for streets, but a model can learn from roads and rivers that were too wide to cross.
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
    """Return the held-out combinations: a tenth of all pairs of a noun and an adjective or verb.

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
    """Return whether this noun and this word may be combined only in the test split.

    The word is an adjective or a verb. The noun and the word are given as English lemmas.
    """
    return (noun, word) in held_out_combinations()


def lemma(word: Adjective | Verb) -> str:
    """Return the English lemma of an adjective or verb."""
    return word.base if isinstance(word, Verb) else word.english


def _groups() -> list[set[Combination]]:
    """Return the groups of combinations that must each keep enough members for training.

    A group holds all combinations with the same adjective or verb, with the same noun, or with the
    same reason, main verb and role.
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
