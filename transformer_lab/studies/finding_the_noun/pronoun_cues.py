"""Sentences with a different deciding word, to test whether translators read its meaning.

Lesson 12 uses them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.data.world.lexicon import ADJECTIVES
from transformer_lab.studies.finding_the_noun.pronoun_sentences import get_coreference


def adjectives_by_noun(pairs: Iterable[WorldPair]) -> dict[str, set[str]]:
    """Return, for each English noun, the adjectives that decide in its favour in these sentences.

    A deciding adjective shows which noun the pronoun refers to.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        who, words = get_coreference(pair), pair.source_tokens
        if words[who.decider] in ADJECTIVES:
            found[words[who.referent]].add(words[who.decider])
    return found


def replace_deciders(
    pairs: Sequence[WorldPair], said_of: Mapping[str, set[str]], *, of: str, seed: int = 0
) -> list[WorldPair | None]:
    """Replace each pair's deciding adjective with a different one, and change nothing else.

    Args:
        pairs: Sentences with a pronoun and two nouns.
        said_of: The result of `adjectives_by_noun`.
        of: Whose adjective to insert. "referent" means one that is used for the referent but never
            for the other noun, "other" means the reverse, and "neither" means one that is used for
            neither noun.
        seed: The seed for choosing an adjective if several fit.

    Returns:
        For each pair, the new pair with the French sentence unchanged. It is None if the deciding
        word is not an adjective, or if no adjective fits.
    """
    choose = Random(seed)
    every = set().union(*said_of.values())
    found: list[WorldPair | None] = []
    for pair in pairs:
        who, words = get_coreference(pair), list(pair.source_tokens)
        own, others = (said_of.get(words[at], set()) for at in (who.referent, who.other))
        of_whom = {"referent": own - others, "other": others - own, "neither": every - own - others}
        fitting = of_whom[of] - {words[who.decider]}
        if words[who.decider] not in ADJECTIVES or not fitting:
            found.append(None)
            continue
        words[who.decider] = choose.choice(sorted(fitting))
        found.append(replace(pair, source_tokens=tuple(words)))
    return found
