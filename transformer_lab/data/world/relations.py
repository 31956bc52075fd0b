"""Find determiners, adjectives, subjects and objects in the bilingual world's English sentences.

Studies and lessons compare attention heads with these grammatical relations.
"""

from collections.abc import Sequence

from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.data.world.lexicon import ADJECTIVES, NOUNS, VERBS
from transformer_lab.data.world.phrases import NUMBERS

RELATIONS = ("determiner", "adjective", "subject", "object")
CLAUSES = {
    "present",
    "past",
    "present_negation",
    "past_negation",
    "habit",
    "possession",
    "indirect_object",
    "because_first",
    "because_last",
}
"""The constructions in which the subject and the object can be found.

Each of them has a main clause with one main verb.
"""
RELATIVE_CLAUSES = {"subject_relative", "object_relative"}
"""The constructions with a relative clause between a noun and its verb."""
BEING = ("is", "are", "was", "were")
DETERMINERS = set("the a an some any this these that those my his her our their".split())
PRONOUNS = set("i you he she it we they".split())
NOUN_FORMS = {form for noun in NOUNS.values() for form in (noun.english, noun.english_plural)}
ADJECTIVE_FORMS = {adjective.english for adjective in ADJECTIVES.values()}
VERB_FORMS = {
    form for verb in VERBS.values() for form in (verb.base, verb.third, verb.past, verb.ing)
}

Links = tuple[tuple[int, int], ...]


def find_relations(pair: WorldPair) -> dict[str, Links]:
    """Return the (dependent, head) positions in the English sentence for each of `RELATIONS`.

    Determiners and adjectives depend on their noun; they are found in all sentences. The subject
    and the object depend on the verb of the main clause; they are found only if the construction is
    one of `CLAUSES`.
    """
    words = pair.source_tokens
    nouns = find_noun_phrases(words)
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in RELATIONS}
    for start, noun in nouns.items():
        for place in range(start, noun):
            if words[place] in DETERMINERS:
                found["determiner"].append((place, noun))
            elif words[place] in ADJECTIVE_FORMS:
                found["adjective"].append((place, noun))
    if pair.construction in CLAUSES:
        clause = find_main_clause(words)
        inside = {place for start, noun in nouns.items() for place in range(start, noun + 1)}
        verbs = [i for i in clause if words[i] in VERB_FORMS and i not in inside]
        subjects = [i for i in clause if words[i] in PRONOUNS or i in nouns.values()]
        if verbs and subjects and subjects[0] < verbs[0]:
            found["subject"].append((subjects[0], verbs[0]))
            if verbs[0] + 1 in nouns:
                found["object"].append((nouns[verbs[0] + 1], verbs[0]))
    return {name: tuple(links) for name, links in found.items()}


def find_relations_over_clause(pair: WorldPair) -> dict[str, Links]:
    """Return the (dependent, head) positions around a relative clause.

    The sentence must belong to `RELATIVE_CLAUSES`. In *the dog that is sleeping is black*,
    "relative pronoun" links *that* to *dog*, and "subject over a clause" links *dog* to the second
    *is*.
    """
    words = pair.source_tokens
    noun = min(find_noun_phrases(words).values())
    verb = max(place for place, word in enumerate(words) if word in BEING)
    return {"relative pronoun": ((noun + 1, noun),), "subject over a clause": ((noun, verb),)}


def find_noun_phrases(words: Sequence[str]) -> dict[int, int]:
    """Return a dict that maps the start of each noun phrase to the position of its noun."""
    found = {}
    for start, word in enumerate(words):
        begins = word in DETERMINERS or word in NUMBERS
        if not begins or (start and (words[start - 1] in DETERMINERS and word in NUMBERS)):
            continue
        noun = start + 1
        while noun < len(words) and (words[noun] in NUMBERS or words[noun] in ADJECTIVE_FORMS):
            noun += 1
        if noun < len(words) and words[noun] in NOUN_FORMS:
            found[start] = noun
    return found


def find_main_clause(words: Sequence[str]) -> range:
    """Return the positions of the main clause, leaving out the clause after "because"."""
    if "because" not in words:
        return range(len(words))
    if words[0] == "because":
        return range(words.index(",") + 1, len(words))
    return range(words.index("because"))
