"""The sentence constructions of the bilingual world: functions that generate random sentences.

`grammar` samples from `CONSTRUCTIONS`. Each function takes a random generator and returns a
`Phrase`, and its docstring gives an example. The rules of English and French are in `phrases` and
`clauses`; `lexicon` says which words go together.
"""

from collections.abc import Callable
from functools import cache
from random import Random

from transformer_lab.data.world.because import draw_because
from transformer_lab.data.world.choices import (
    DEFINITE,
    PERSON,
    SPOTS,
    draw_noun,
    draw_phrase,
    draw_place,
    draw_time,
    find_adjectives,
    possessive_determiner,
)
from transformer_lab.data.world.clauses import (
    ADVERBS,
    comparison_predicate,
    copula,
    modal_group,
    predicate,
    question,
    verb_group,
)
from transformer_lab.data.world.lexicon import (
    ADJECTIVES,
    DECIDING_VERBS,
    NOUNS,
    VERBS,
    Adjective,
    Noun,
    Verb,
    find_nouns,
    parse_tags,
)
from transformer_lab.data.world.phrases import (
    NOTHING,
    NounPhrase,
    Phrase,
    coordinate,
    extend_noun_phrase,
    fixed_phrase,
    join_phrases,
    personal_pronoun,
)

EVERY = (
    fixed_phrase("every day", "tous:0 les:0 jours:1"),
    fixed_phrase("every evening", "tous:0 les:0 soirs:1"),
)
_ASK = fixed_phrase("?", "?")
BEING = ("present", "background")  # the tenses of being

# ---------------------------------------------------------------- somebody does something


def _find_verbs(infinitives: str) -> tuple[Verb, ...]:
    return tuple(VERBS[name] for name in infinitives.split())


PUNCTUAL = _find_verbs("trouver perdre casser réveiller")  # never in progress
INTO = _find_verbs("entrer quitter")  # one place at a time, and a known one
ACTIVITIES = _find_verbs("dormir chanter courir jouer")
GIVING = _find_verbs("donner montrer")
EVENTS = tuple(
    verb
    for verb in VERBS.values()
    if verb.objects and verb not in _find_verbs("avoir donner montrer")
)
# Without entrer: it takes être, so the participle in "i entered" depends on who is speaking.
HUMAN_EVENTS = tuple(
    verb for verb in EVENTS if "person" in verb.subjects and verb is not VERBS["entrer"]
)
INTENTIONS = tuple(verb for verb in HUMAN_EVENTS if verb not in _find_verbs("perdre casser"))


def _object(
    rng: Random, subject: NounPhrase, verb: Verb, *, negated: bool = False, habit: bool = False
) -> NounPhrase:
    """Generate a verb's object, which may have a possessive if the subject is a person."""
    determiners = [] if habit else ["the", "the", "this"]
    if "person" in verb.subjects and verb not in INTO:
        determiners += ["any" if negated else "a"] * 2
        if not subject.nouns or "person" in NOUNS[subject.nouns[0]].tags:
            determiners += [possessive_determiner(subject)] * 2
    while (noun := draw_noun(rng, verb.objects)).english in subject.nouns:
        pass
    return draw_phrase(rng, noun, determiners, plural=False if verb in INTO else None)


def _event(
    rng: Random, tense: str, *, negated: bool = False, subject: NounPhrase | None = None
) -> Phrase:
    """Generate a sentence about an event, such as: the cat ate the cake."""
    choice = HUMAN_EVENTS if subject else EVENTS
    while (verb := rng.choice(choice)) in PUNCTUAL and tense == "present":
        pass
    subject = subject or draw_phrase(rng, draw_noun(rng, verb.subjects))
    group = verb_group(subject, verb, tense, negated=negated)
    thing = _object(rng, subject, verb, negated=negated)
    return join_phrases(subject, group, thing, draw_time(rng, 0.3 * (tense == "past")))


JOURNEYS = tuple(
    (VERBS[verb], fixed_phrase(english, french), parse_tags(nouns))
    for verb, english, french, nouns in (
        ("arriver", "at", "à", "station hotel school museum castle"),
        ("aller", "to", "à", "station hotel school museum castle church"),
        ("revenir", "from", "de", "station hotel school museum castle church garden"),
        ("rester", "in", "dans", "garden house forest castle barn"),
        ("tomber", "in", "dans", "street garden forest"),
        ("partir", "with", "avec", "family"),
    )
)


def _motion(rng: Random, subject: NounPhrase | None = None) -> Phrase:
    """Generate a sentence with a verb of motion, such as: the girls arrived at the station.

    In French, these verbs take être, so the participle agrees with the subject.
    """
    subject = subject or draw_phrase(rng, draw_noun(rng, PERSON))
    tense = rng.choice(("past", "past", "present"))
    verb, link, nouns = rng.choice(JOURNEYS[:4] if tense == "present" else JOURNEYS)
    while (where := draw_noun(rng, nouns)).english in subject.nouns:
        pass
    place = join_phrases(
        link, draw_phrase(rng, where, ("the", possessive_determiner(subject)), plural=False)
    )
    group = verb_group(subject, verb, tense, negated=rng.random() < 0.25)
    return join_phrases(subject, group, place, draw_time(rng, 0.4 * (tense == "past")))


def _possession(rng: Random) -> Phrase:
    """Generate a sentence about possession, such as: my brother has two black cats."""
    have = VERBS["avoir"]
    subject = draw_phrase(rng, draw_noun(rng, PERSON))
    negated = rng.random() < 0.35
    what = draw_phrase(rng, draw_noun(rng, have.objects), ("any" if negated else "a",))
    return join_phrases(subject, verb_group(subject, have, "present", negated=negated), what)


def _modal(rng: Random, subject: NounPhrase | None = None) -> Phrase:
    """Generate a sentence with a modal verb, such as: the children want to visit the museum."""
    verb = rng.choice(INTENTIONS)
    subject = subject or draw_phrase(rng, draw_noun(rng, PERSON))
    modal = rng.choice(("can", "can", "want", "want", "must"))
    past = modal != "must" and subject.agreement.person == 3 and rng.random() < 0.4
    # "She could" may also mean "elle pourrait", so only "couldn't" is used.
    negated = (modal == "can" and past) or rng.random() < 0.4
    group = modal_group(subject, modal, verb, past=past, negated=negated)
    return join_phrases(subject, group, _object(rng, subject, verb, negated=negated))


def _indirect_object(rng: Random) -> Phrase:
    """Generate a sentence with an indirect object, such as: the queen gave a book to the boy."""
    verb = rng.choice(GIVING)
    giver = draw_noun(rng, PERSON)
    subject = draw_phrase(rng, giver)
    group = verb_group(subject, verb, rng.choice(("past", "past", "present")))
    determiners = ("the", "the", "a", "this", possessive_determiner(subject))
    receiver = draw_phrase(rng, draw_noun(rng, PERSON, but=giver), determiners, plain=True)
    return join_phrases(
        subject, group, _object(rng, subject, verb), fixed_phrase("to", "à"), receiver
    )


HABITS = _find_verbs("manger lire visiter laver ouvrir fermer entendre") + ACTIVITIES


def _habit(rng: Random) -> Phrase:
    """Generate a sentence about a habit, such as: the cow often sleeps in the garden."""
    verb = rng.choice(HABITS)
    noun = draw_noun(rng, verb.subjects)
    subject = draw_phrase(rng, noun)
    adverb = rng.choice((*ADVERBS, ""))
    group = verb_group(subject, verb, "habit", adverb=adverb)
    if verb.objects:
        rest: Phrase = _object(rng, subject, verb, negated=adverb == "never", habit=True)
    else:
        rest = draw_place(rng, noun)
    return join_phrases(subject, group, rest, NOTHING if adverb else rng.choice(EVERY))


def _pronoun(rng: Random) -> Phrase:
    """Generate a sentence with a pronoun as subject, such as: I lost my key; she left the hotel."""
    subject = personal_pronoun(rng.choice(("i", "we", "he", "she")))
    kind = rng.randrange(4)
    if kind == 0 and subject.agreement.person == 3:
        return _motion(rng, subject)
    if kind == 1 and subject.agreement.person == 3:
        return join_phrases(
            subject, _predicate(rng, subject, rng.choice(find_adjectives(NOUNS["king"], *SAID)))
        )
    if kind == 2:
        return _modal(rng, subject)
    return _event(rng, "past", negated=rng.random() < 0.4, subject=subject)


# ---------------------------------------------------------------- something is so, or is there

SAID = ("quality", "state", "fixed", "colour", "having")


def _predicate(rng: Random, subject: NounPhrase, word: Adjective | Verb) -> Phrase:
    """Generate a predicate for the subject, such as: is red; wasn't very tired; isn't sleeping."""
    gradable = isinstance(word, Adjective) and word.sort not in ("fixed", "colour")
    degree = "very" if gradable and rng.random() < 0.3 else ""
    negated = rng.random() < 0.25
    return predicate(subject, word, rng.choice(BEING), negated=negated, degree=degree)


@cache
def _adjectives_of(*sorts: str) -> tuple[Adjective, ...]:
    return tuple(word for word in ADJECTIVES.values() if word.sort in sorts)


def _description(rng: Random) -> Phrase:
    """Generate a description, such as: the house is old; the dog was limping."""
    word = rng.choice(_adjectives_of(*SAID) + DECIDING_VERBS)
    suited = word.subjects if isinstance(word, Verb) else word.suits
    subject = draw_phrase(rng, draw_noun(rng, suited), plain=True)
    return join_phrases(subject, _predicate(rng, subject, word))


def _unowned(rng: Random, wanted: frozenset[str]) -> Noun:
    """Sample a noun that needs no possessive.

    This avoids sentences such as "there is his brother" and "my sister that i saw was sad".
    """
    while (noun := draw_noun(rng, wanted)).kind == "family":
        pass
    return noun


def _located(rng: Random) -> Noun:
    """Sample a noun for something that can have a location."""
    _, who, _ = rng.choice(SPOTS)
    return _unowned(rng, who)


def _location(rng: Random) -> Phrase:
    """Generate a sentence about a location, such as: the key is under the table."""
    noun = _located(rng)
    subject = draw_phrase(rng, noun)
    there = copula(subject, rng.choice(BEING), negated=rng.random() < 0.2)
    return join_phrases(subject, there, draw_place(rng, noun))


def _existence(rng: Random) -> Phrase:
    """Generate a sentence with "there is", such as: there is a cat in the garden.

    The French is "il y a" or, when negated, "il n'y a pas de".
    """
    noun = _located(rng)
    negated = rng.random() < 0.3
    what = draw_phrase(rng, noun, ("any" if negated else "a",), plain=negated)
    tense = rng.choice(BEING)
    (english,) = copula(what, tense, negated=negated).source
    has = "a" if tense == "present" else "avait"
    french = f"il:0 ne:1 y:0 {has}:1 pas:1" if negated else f"il:0 y:0 {has}:1"
    return join_phrases(fixed_phrase(f"there {english}", french), what, draw_place(rng, noun))


@cache
def _pairs(word: Adjective) -> tuple[tuple[Noun, Noun], ...]:
    """Return all pairs of nouns that are of the same kind and both fit the adjective."""
    suited = find_nouns(word.suits)
    return tuple((a, b) for a in suited for b in suited if a.kind == b.kind and a is not b)


def _comparison(rng: Random) -> Phrase:
    """Generate a comparison, such as: the house is older than the church."""
    word = rng.choice([word for word in ADJECTIVES.values() if word.comparative and _pairs(word)])
    one, other = rng.choice(_pairs(word))
    subject = draw_phrase(rng, one, plain=True)
    than = draw_phrase(rng, other, DEFINITE, plain=True)
    # Nobody says "less old": an adjective with its own comparative never takes "less".
    ways = ("more", "less", "as") if word.comparative == "more" else ("more", "more", "as")
    return join_phrases(
        subject, comparison_predicate(subject, word, rng.choice(ways), rng.choice(BEING), than)
    )


def _coordination(rng: Random) -> Phrase:
    """Generate a sentence with two nouns joined by "and", such as: the boy and the girl are tired.

    In French, the predicate is masculine if either noun is masculine.
    """
    passing = _adjectives_of("state", "fixed", "having")
    word = rng.choice([word for word in passing if _pairs(word)])
    both = coordinate(
        *(draw_phrase(rng, noun, DEFINITE, plain=True) for noun in rng.choice(_pairs(word)))
    )
    if "person" in NOUNS[both.nouns[0]].tags and rng.random() < 0.6:
        return _motion(rng, both)
    return join_phrases(both, _predicate(rng, both, word))


def _subject_relative(rng: Random) -> Phrase:
    """Generate a sentence with a subject relative clause.

    For example: the dog that is sleeping on the bed is black.
    """
    verb = rng.choice(ACTIVITIES)
    noun = _unowned(rng, verb.subjects)
    head = draw_phrase(rng, noun, DEFINITE, plain=True)
    who = fixed_phrase("who" if "person" in noun.tags else "that", "qui")
    head = extend_noun_phrase(head, who, verb_group(head, verb, "present"), draw_place(rng, noun))
    word = rng.choice(find_adjectives(noun, "quality", "colour"))
    return join_phrases(head, predicate(head, word, "present"))


RELATED = _find_verbs("voir trouver acheter perdre écrire ouvrir fermer visiter")


def _object_relative(rng: Random) -> Phrase:
    """Generate a sentence with an object relative clause.

    For example: the house that the cat saw was old. In French, the participle agrees with the noun
    that the clause describes.
    """
    verb = rng.choice(RELATED)
    noun = _unowned(rng, verb.objects)
    head = draw_phrase(rng, noun, ("the", "the", "this"), plain=True)
    if rng.random() < 0.3:
        subject = personal_pronoun(rng.choice(("i", "we", "he", "she")))
    else:
        subject = draw_phrase(rng, draw_noun(rng, verb.subjects, but=noun), DEFINITE, plain=True)
    group = verb_group(subject, verb, "past", preceding=head.agreement)
    head = extend_noun_phrase(head, fixed_phrase("that", "que"), subject, group)
    word = rng.choice(find_adjectives(noun, "quality", "colour"))
    return join_phrases(head, predicate(head, word, "background"))


def _question(rng: Random) -> Phrase:
    """Generate a yes-or-no question, such as "did the girl open the box?"."""
    verb = rng.choice(HUMAN_EVENTS + ACTIVITIES)
    noun = draw_noun(rng, verb.subjects)
    subject = draw_phrase(rng, noun)
    words = find_adjectives(noun, "state", "fixed", "having")
    if words and rng.random() < 0.3:
        word = rng.choice(words)
        return join_phrases(question(subject, predicate(subject, word, rng.choice(BEING))), _ASK)
    tense = "past" if verb in PUNCTUAL else rng.choice(("present", "past"))
    group = verb_group(subject, verb, tense, asked=True)
    rest: Phrase = _object(rng, subject, verb) if verb.objects else draw_place(rng, noun)
    return join_phrases(question(subject, group), rest, _ASK)


WHERE = fixed_phrase("where", "où")
WHEN_OR_WHY = (fixed_phrase("when", "quand"), fixed_phrase("why", "pourquoi"))
SOMEWHERE = _find_verbs("manger acheter lire écrire laver voir entendre trouver perdre")


def _wh_question(rng: Random) -> Phrase:
    """Generate a question with a question word, such as "where did the boy buy a book?"."""
    if rng.random() < 0.3:
        subject = draw_phrase(rng, _located(rng))
        return join_phrases(WHERE, copula(subject, rng.choice(BEING)), subject, _ASK)
    verb = rng.choice(HUMAN_EVENTS)
    subject = draw_phrase(rng, draw_noun(rng, verb.subjects))
    group = verb_group(subject, verb, "past", asked=True)
    if rng.random() < 0.3 and verb is not VERBS["quitter"]:  # "what did she leave" may mean laissé
        return join_phrases(question(subject, group, fixed_phrase("what", "que")), _ASK)
    words = (*WHEN_OR_WHY, WHERE) if verb in SOMEWHERE else WHEN_OR_WHY
    asked = question(subject, group, rng.choice(words))
    return join_phrases(asked, _object(rng, subject, verb), _ASK)


CONSTRUCTIONS: dict[str, tuple[int, Callable[[Random], Phrase]]] = {
    "present": (4, lambda rng: _event(rng, "present")),
    "past": (4, lambda rng: _event(rng, "past")),
    "present_negation": (4, lambda rng: _event(rng, "present", negated=True)),
    "past_negation": (4, lambda rng: _event(rng, "past", negated=True)),
    "motion": (7, _motion),
    "possession": (3, _possession),
    "modal": (4, _modal),
    "indirect_object": (3, _indirect_object),
    "habit": (4, _habit),
    "pronoun": (4, _pronoun),
    "description": (7, _description),
    "location": (3, _location),
    "existence": (3, _existence),
    "comparison": (4, _comparison),
    "coordination": (4, _coordination),
    "subject_relative": (4, _subject_relative),
    "object_relative": (7, _object_relative),
    "question": (4, _question),
    "wh_question": (4, _wh_question),
    "because_last": (32, lambda rng: draw_because(rng, reason_first=False)),
    "because_first": (32, lambda rng: draw_because(rng, reason_first=True)),
}
"""The sampling weight of each construction, and the function that generates its sentences.

Nearly half of the sentences are because-sentences. With fewer of them, a small model would learn
everything else long before it learnt what a pronoun refers to.
"""
