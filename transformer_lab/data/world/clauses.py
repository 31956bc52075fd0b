"""Build verb groups, predicates, comparisons and questions in English and French.

`constructions` and `because` build sentences from them.
"""

from transformer_lab.data.world.lexicon import DECIDING_VERBS, Adjective, Verb
from transformer_lab.data.world.phrases import (
    NOTHING,
    Agreement,
    NounPhrase,
    Phrase,
    Rendered,
    fixed_phrase,
    inflect_adjective,
    join_phrases,
)

WITH_ETRE = frozenset({"entrer", "arriver", "partir", "tomber", "rester", "aller", "revenir"})
LINKS = {"entrer": "dans"}  # what French puts between a verb and its object

# English says these in the simple present, not with -ing.
STATIVE = frozenset(
    {"avoir", "voir", "entendre", "effrayer", "épuiser", "arrêter", "attirer", "ennuyer"}
)

# French auxiliaries by person: the singular and the plural.
AVOIR = {1: ("ai", "avons"), 3: ("a", "ont")}
ETRE = {3: ("est", "sont")}

ADVERBS = {
    "often": "souvent",
    "always": "toujours",
    "sometimes": "parfois",
    "rarely": "rarement",
    "never": "jamais",
}


def verb_group(
    subject: NounPhrase,
    verb: Verb,
    tense: str,
    *,
    negated: bool = False,
    asked: bool = False,
    adverb: str = "",
    preceding: Agreement | None = None,
) -> Phrase:
    """Build a verb with its auxiliaries, negation and adverb.

    Args:
        subject: The subject, which the verb agrees with.
        verb: The verb.
        tense: "present" (is eating: mange), "habit" (eats: mange), "past" (ate: a mangé) or
            "background" (was eating: mangeait).
        negated: Whether the verb is negated.
        asked: Whether the verb is part of a `question`: did eat, does eat.
        adverb: An adverb such as "often" or "never"; only with the tense "habit" and no negation.
        preceding: The agreement of an object that precedes the verb, if any. With avoir, the
            participle agrees with that object.
    """
    plural = subject.agreement.plural
    progressive = tense == "background" or (tense == "present" and verb.infinitive not in STATIVE)
    if progressive:
        english = [_be(subject, tense, negated), verb.ing]
    elif negated or asked:
        english = [_do(subject, tense, negated), verb.base]
    elif tense == "past":
        english = [verb.past]
    else:
        english = [_in_person(subject, verb.base, verb.third)]
    if adverb:
        english.insert(0, adverb)
    main = (len(english) - 1,)

    after: list[Rendered] = []
    if tense == "past":
        # With être, the participle agrees with the subject; with avoir, with an object before the verb.
        with_etre = verb.infinitive in WITH_ETRE
        auxiliary = (ETRE if with_etre else AVOIR)[subject.agreement.person][plural]
        agreement = subject.agreement if with_etre else preceding
        finite: Rendered = (auxiliary, (0,))
        after.append((_participle(verb, agreement), main))
    else:
        form = verb.plural if plural else verb.singular
        if tense == "background":
            form = _imperfect(verb.imperfect, subject)
        finite = (form, (0, 1) if progressive and not negated else main)
    if verb.infinitive in LINKS:
        after.append((LINKS[verb.infinitive], main))

    target = [finite]
    if negated or adverb == "never":
        target = _negate(target, "jamais" if adverb else "pas")
    elif adverb:
        target.append((ADVERBS[adverb], (0,)))
    return Phrase(tuple(english), (*target, *after), _combinations(subject, verb))


# French for je, il, nous and ils, and the stem of the imperfect.
MODALS = {
    "can": ("peux", "peut", "pouvons", "peuvent", "pouv"),
    "must": ("dois", "doit", "devons", "doivent", ""),
    "want": ("veux", "veut", "voulons", "veulent", "voul"),
}


def modal_group(
    subject: NounPhrase, modal: str, verb: Verb, *, past: bool = False, negated: bool = False
) -> Phrase:
    """Build a verb group with a modal ("can", "must" or "want") and an infinitive.

    In French, the past is expressed by the imperfect. "must" has no past.
    """
    *present, stem = MODALS[modal]
    at = 0  # where the English modal stands
    if modal != "want":
        form = "could" if past else modal
        english = [form.removesuffix("n") + "n't" if negated else form, verb.base]
    elif negated:
        english = [_do(subject, "past" if past else "habit", negated), "want", "to", verb.base]
        at = 1
    else:
        english = ["wanted" if past else _in_person(subject, "want", "wants"), "to", verb.base]
    _, plural, person = subject.agreement
    form = _imperfect(stem, subject) if past else present[(person == 3) + 2 * plural]
    target: list[Rendered] = [(form, (at,))]
    if negated:
        target = _negate(target)
    target.append((verb.infinitive, tuple(range(at + 1, len(english)))))
    if verb.infinitive in LINKS:
        target.append((LINKS[verb.infinitive], (len(english) - 1,)))
    return Phrase(tuple(english), tuple(target), _combinations(subject, verb))


def copula(
    subject: NounPhrase, tense: str, *, negated: bool = False, having: bool = False
) -> Phrase:
    """Build a form of the verb "be": is, weren't; est, n'étaient pas.

    With `having`, French uses avoir: a, n'avaient pas. The tense is "present" or "background",
    because French uses the imperfect to describe a past state.
    """
    form = (AVOIR if having else ETRE)[3][subject.agreement.plural]
    if tense == "background":
        form = _imperfect("av" if having else "ét", subject)
    target: list[Rendered] = [(form, (0,))]
    return Phrase((_be(subject, tense, negated),), tuple(_negate(target) if negated else target))


DEGREES = {
    "": NOTHING,
    "too": fixed_phrase("too", "trop"),
    "very": fixed_phrase("very", "très"),
    "so": fixed_phrase("so", "si"),
}


def predicate(
    subject: NounPhrase,
    word: Adjective | Verb,
    tense: str,
    *,
    negated: bool = False,
    degree: str = "",
) -> Phrase:
    """Build a predicate: is red, was too tired, wasn't hungry, is sleeping."""
    if isinstance(word, Verb):
        return verb_group(subject, word, tense, negated=negated)
    linking = copula(subject, tense, negated=negated, having=word.sort == "having")
    said = tuple((noun, word.english) for noun in subject.nouns)
    adjective = Phrase((word.english,), ((inflect_adjective(word, subject.agreement), (0,)),), said)
    return join_phrases(linking, DEGREES[degree], adjective)


COMPARISONS = {"more": "plus", "less": "moins", "as": "aussi"}


def comparison_predicate(
    subject: NounPhrase, word: Adjective, comparison: str, tense: str, other: NounPhrase
) -> Phrase:
    """Build a comparison with `other`: is older than, is as old as, is less expensive than.

    `comparison` is "more", "less" or "as". In French, these are plus, moins and aussi, followed by
    que.
    """
    one_word = comparison == "more" and word.comparative != "more"
    english = (word.comparative,) if one_word else (comparison, word.english)
    french = (
        (COMPARISONS[comparison], (0,)),
        (inflect_adjective(word, subject.agreement), (len(english) - 1,)),
    )
    said = tuple((noun, word.english) for noun in subject.nouns + other.nouns)
    than = fixed_phrase("as" if comparison == "as" else "than", "que")
    return join_phrases(copula(subject, tense), Phrase(english, french, said), than, other)


def question(subject: NounPhrase, group: Phrase, word: Phrase = NOTHING) -> Phrase:
    """Build a question from the subject and the verb group of a statement.

    In English, the first word of the group moves before the subject. The French question begins
    with "est-ce que", which is aligned with the word that moved.

    Args:
        subject: The subject.
        group: The verb group, made with `asked=True` where English needs "do".
        word: A question word to put in front; by default, there is none.
    """
    helper = Phrase(group.source[:1], (("est-ce", (0,)), ("que", (0,))))
    english = join_phrases(helper, subject, Phrase(group.source[1:]))
    shift = len(subject.source)
    moved = tuple(
        (french, tuple(at + shift if at else 0 for at in positions))
        for french, positions in group.target
    )
    said = subject.combinations + group.combinations
    return join_phrases(word, Phrase(english.source, english.target + moved, said))


def _negate(finite: list[Rendered], by: str = "pas") -> list[Rendered]:
    """Put ne … pas (or another word, `by`) around the French verb.

    Both words are aligned with the first word of the English group.
    """
    return [("ne", (0,)), *finite, (by, (0,))]


def _participle(verb: Verb, agreement: Agreement | None) -> str:
    if agreement is None:
        return verb.participle
    return verb.participle + "e" * (agreement.gender == "f") + "s" * agreement.plural


def _imperfect(stem: str, subject: NounPhrase) -> str:
    return stem + ("aient" if subject.agreement.plural else "ait")


def _be(subject: NounPhrase, tense: str, negated: bool) -> str:
    singular, plural = ("was", "were") if tense == "background" else ("is", "are")
    return (plural if subject.agreement.plural else singular) + "n't" * negated


def _do(subject: NounPhrase, tense: str, negated: bool) -> str:
    return ("did" if tense == "past" else _in_person(subject, "do", "does")) + "n't" * negated


def _in_person(subject: NounPhrase, base: str, third: str) -> str:
    _, plural, person = subject.agreement
    return third if person == 3 and not plural else base


def _combinations(subject: NounPhrase, verb: Verb) -> tuple[tuple[str, str], ...]:
    if verb not in DECIDING_VERBS:
        return ()
    return tuple((noun, verb.base) for noun in subject.nouns)
