"""Generate random noun phrases, places and times for sentences.

`constructions` and `because` use these functions.
"""

from collections.abc import Sequence
from functools import cache
from random import Random

from transformer_lab.data.world.lexicon import (
    ADJECTIVES,
    Adjective,
    Noun,
    can_describe,
    find_nouns,
    has_any_tag,
    parse_rows,
    parse_tags,
)
from transformer_lab.data.world.phrases import (
    NOTHING,
    NUMBERS,
    NounPhrase,
    Phrase,
    fixed_phrase,
    join_phrases,
    noun_phrase,
)

PERSON = parse_tags("person")
ANIMATE = parse_tags("person animal")
OWNABLE = parse_tags(
    "dog cat horse mule car truck house garden furniture thing container text garment"
)
NUMEROUS = parse_tags("animal thing text food garment container")  # of which there may be ten
POSSESSIVES = ("my", "my", "his", "her", "our", "their")

# Determiners to draw from, the frequent ones more than once.
SUBJECT = ("the", "the", "the", "this", "that", "my")
DEFINITE = ("the", "the", "the", "this", "my")
PLACE = ("the", "the", "the", "a", "this")


def draw_noun(rng: Random, wanted: frozenset[str], *, but: Noun | None = None) -> Noun:
    """Sample a noun that `wanted` lists by name or by tag, excluding the noun `but`."""
    return rng.choice([noun for noun in find_nouns(wanted) if noun is not but])


@cache
def find_adjectives(noun: Noun, *sorts: str) -> tuple[Adjective, ...]:
    """Return the adjectives of these sorts (see `Adjective.sort`) that make sense with the noun."""
    return tuple(
        word for word in ADJECTIVES.values() if word.sort in sorts and can_describe(word, noun)
    )


def _adjectives(rng: Random, noun: Noun) -> tuple[Adjective, ...]:
    """Sample up to two adjectives that suit the noun and cannot contradict the sentence."""
    animate = has_any_tag(ANIMATE, noun)
    choice = find_adjectives(
        noun, "quality", "colour", "attribute", *([] if animate else ["state"])
    )
    if not choice or rng.random() < (0.8 if animate else 0.6):
        return ()
    first, second = rng.choice(choice), rng.choice(choice)
    if first.place == "before" and second.sort == "colour":
        return first, second
    return (first,)


def draw_phrase(
    rng: Random,
    noun: Noun,
    determiners: Sequence[str] = SUBJECT,
    *,
    plural: bool | None = None,
    plain: bool = False,
) -> NounPhrase:
    """Generate a noun phrase: the noun, a determiner, and perhaps a number and adjectives.

    Nouns for family members always get a possessive, and nouns for things nobody owns never do.

    Args:
        rng: The source of randomness.
        noun: The noun.
        determiners: The determiners to choose from; "my" stands for any possessive.
        plural: Whether the noun is plural; None means that this is chosen at random.
        plain: Whether to leave out the number and the adjectives.
    """
    if plural is None:
        plural = rng.random() < 0.3
    determiner = rng.choice(determiners)
    if noun.kind == "family":
        determiner = determiner if determiner in POSSESSIVES[2:] else rng.choice(POSSESSIVES)
    elif determiner in POSSESSIVES and not has_any_tag(OWNABLE, noun):
        determiner = "the"
    if plain:
        return noun_phrase(determiner, noun, plural=plural)
    number = ""
    if plural and determiner != "any" and rng.random() < 0.3:
        number = rng.choice(tuple(NUMBERS)[: None if has_any_tag(NUMEROUS, noun) else 3])
        determiner = "" if determiner == "a" else determiner
    adjectives = _adjectives(rng, noun)
    return noun_phrase(determiner, noun, plural=plural, number=number, adjectives=adjectives)


def possessive_determiner(subject: NounPhrase) -> str:
    """Return the English possessive that refers to the subject: my, our, his, her or their."""
    gender, plural, person = subject.agreement
    if person == 1:
        return "our" if plural else "my"
    return "their" if plural else "her" if gender == "f" else "his"


# preposition | in French | who or what may be there > where
_SPOTS = """
in | dans | person animal > garden forest house barn street
near | près de | person animal > church station hotel river bridge hedge tree
behind | derrière | person animal > house church school hedge wall tree
in front of | devant | person animal > house church school museum gate castle
next to | à:0 côté:0 de:1 | person animal > road path hedge canal gate wall tree
on | sur | person animal > bridge path hill
under | sous | indoor > table bed chair tree
on | sur | thing book letter newspaper garment bag suitcase food > table chair bed
in | dans | thing book letter newspaper garment food > box bag suitcase
under | sous | thing book letter newspaper garment box > table chair bed sofa
in front of | devant | vehicle > house church station hotel castle
near | près de | vehicle > bridge river barn gate wall tree
near | près de | building plant > river forest bridge hill road canal
behind | derrière | building plant > hill wall hedge
"""
SPOTS = tuple(
    (fixed_phrase(english, french), parse_tags(who), parse_tags(where))
    for english, french, who, where in parse_rows(_SPOTS)
)
"""The prepositions of place.

Each one comes with two sets of tags and nouns. In "the book on the table", the first set is for
"book", and the second is for "table".
"""


@cache
def _spots(noun: Noun) -> tuple[tuple[Phrase, frozenset[str]], ...]:
    return tuple((spot, where) for spot, who, where in SPOTS if has_any_tag(who, noun))


def draw_place(rng: Random, noun: Noun) -> Phrase:
    """Generate a phrase for a place where the noun can be, such as "under the table"."""
    spot, where = rng.choice(_spots(noun))
    place = draw_phrase(rng, draw_noun(rng, where, but=noun), PLACE, plural=False)
    return join_phrases(spot, place)


TIMES = (
    fixed_phrase("yesterday", "hier"),
    fixed_phrase("this morning", "ce:0 matin:1"),
    fixed_phrase("last week", "la:1 semaine:1 dernière:0"),
)


def draw_time(rng: Random, chance: float) -> Phrase:
    """Sample a time in the past with probability `chance`; otherwise return an empty phrase."""
    return rng.choice(TIMES) if rng.random() < chance else NOTHING
