"""Generate because-sentences, in which one word decides what a pronoun refers to.

`constructions` uses this module, and the lessons and studies about pronouns rely on its sentences.
The pronoun has two possible referents, and each reason fits only one of them: in this world,
streets are never tired, and animals are never wide. Four properties are chosen at random before any
word is chosen: the referent's role (subject or object), its gender, its number, and whether the
reason comes first. Therefore, none of these properties gives the answer away.
"""

from dataclasses import replace
from functools import cache
from random import Random
from typing import NamedTuple

from transformer_lab.data.world.choices import draw_time
from transformer_lab.data.world.clauses import modal_group, predicate, verb_group
from transformer_lab.data.world.lexicon import (
    ADJECTIVES,
    VERBS,
    Adjective,
    Noun,
    Verb,
    can_describe,
    find_nouns,
    has_any_tag,
    parse_rows,
    parse_tags,
)
from transformer_lab.data.world.phrases import (
    NOTHING,
    NounPhrase,
    Phrase,
    extend_noun_phrase,
    fixed_phrase,
    join_phrases,
    noun_phrase,
    referring_pronoun,
)


class Scene(NamedTuple):
    """An event with its possible reasons, each of which describes the subject or the object.

    `moods` contains "yes" (the event happened) or "not" (it did not happen). It may also contain
    "can" (the subject could not do it), "want" (the subject did not want to) and "too" (the reason
    may contain "too", as in "too tired").
    """

    verb: Verb
    subjects: frozenset[str]
    objects: frozenset[str]
    moods: frozenset[str]
    subject_reasons: tuple[Adjective | Verb, ...]
    object_reasons: tuple[Adjective | Verb, ...]


# verb | subjects > objects | moods > reasons in the subject > reasons in the object
_SCENES = """
traverser | walker person > way bridge water | not can too
    > tired sick injured young boiter > wide deep slippery flooded closed dangerous
traverser | walker person > tunnel cave forest park garden | not can too
    > nervous shy afraid > dark dangerous flooded
traverser | vehicle > bridge street road path | not can too > heavy > narrow slippery closed
entrer | vehicle > tunnel street barn garage | not can too > big > narrow flooded
entrer | walker person > barn cave tunnel forest castle garden park hotel | not want too
    > nervous shy afraid trembler > dark flooded dangerous brûler
entrer | walker person > barn cave castle house church hotel garage | yes
    > curious hungry sleepy > empty
quitter | walker person > barn forest castle tunnel cave garden park hotel | yes too
    > nervous afraid > dark flooded dangerous brûler
quitter | person > street boulevard hotel station school | yes too > tired sick nervous > noisy
quitter | indoor > sofa bed chair house blanket | not want > sick tired lazy sleepy
    > comfortable soft
escalader | climber person > height | not can too
    > tired weak sick injured young boiter > high steep slippery dangerous
manger | eater person > food | not want too > sick sad nervous sleepy > sour rotten
manger | eater person > food | yes > hungry > ripe sweet
visiter | person > museum castle church cave park forest | not can too > tired sick injured
    > closed dangerous flooded
acheter | person > garment clock car sofa | not can too > poor > expensive
lire | person > text | not can too > tired sick young sleepy > long difficult boring
ouvrir | person > door gate suitcase box chest | not can too > weak tired injured > heavy locked
porter | person > container | not can too > tired weak sick injured > heavy
effrayer | bridge river lake canal forest cave tunnel park mountain hill rock castle house hotel
    street road path > walker person | yes too
    > deep dark high dangerous slippery brûler > young nervous shy
effrayer | vehicle > walker person | yes too > noisy > young nervous shy
épuiser | way hill mountain > walker person | yes too > long steep > young weak sick injured
épuiser | container > person | yes too > heavy > weak sick injured
arrêter | water > walker | yes too > deep wide > tired weak sick injured young afraid boiter
arrêter | wall gate hedge rock hill mountain > walker | yes too > high steep
    > tired weak sick injured young boiter
arrêter | way bridge > walker | yes too > slippery closed dangerous
    > tired injured afraid boiter
arrêter | bridge street road path > vehicle | yes too > narrow slippery closed > heavy
arrêter | tunnel street road path > vehicle | yes too > narrow flooded > big
attirer | food > eater person | yes > ripe sweet > hungry curious
attirer | food > eater person | not too > sour rotten > sick sad nervous sleepy
attirer | sofa bed chair house blanket > indoor | yes > comfortable soft > tired sleepy lazy
attirer | barn castle house garage > walker | yes > empty > curious sleepy
attirer | garment > person | not too > expensive > poor
réveiller | bell clock truck bus > walker person | yes too > noisy > nervous
ennuyer | text > person | yes too > long difficult > young tired sleepy
"""


def _parse_scene(
    verb: str, subjects: str, objects: str, moods: str, of_subject: str, of_object: str
) -> Scene:
    def words(text: str) -> tuple[Adjective | Verb, ...]:
        return tuple(ADJECTIVES.get(name) or VERBS[name] for name in text.split())

    return Scene(
        VERBS[verb],
        parse_tags(subjects),
        parse_tags(objects),
        parse_tags(moods),
        words(of_subject),
        words(of_object),
    )


SCENES = tuple(_parse_scene(*row) for row in parse_rows(_SCENES))

Cast = tuple[Noun, Noun, Adjective | Verb]  # subject, object, reason


@cache
def _casts(
    of_subject: bool, gender: str, plural: bool, differ: bool
) -> tuple[tuple[Scene, tuple[Cast, ...]], ...]:
    """Return the scenes that meet these conditions, each with its possible casts.

    A cast is a subject, an object and a reason that fits only the referent.

    Args:
        of_subject: Whether the referent is the subject.
        gender: The referent's gender.
        plural: Whether both nouns are plural.
        differ: Whether the two nouns differ in gender.
    """
    found = []
    for scene in SCENES:
        fitting = []
        for subject in find_nouns(scene.subjects):
            for thing in find_nouns(scene.objects):
                referent, other = (subject, thing) if of_subject else (thing, subject)
                if "family" in (subject.kind, thing.kind):
                    continue
                if "person" in (subject.kind, thing.kind) and not plural:
                    continue  # one person is he or she: nothing is left to decide
                if referent.gender == gender and (other.gender != gender) == differ:
                    reasons = scene.subject_reasons if of_subject else scene.object_reasons
                    fitting += [
                        (subject, thing, word)
                        for word in reasons
                        if can_describe(word, referent) and not can_describe(word, other)
                    ]
        if fitting:
            found.append((scene, tuple(fitting)))
    return tuple(found)


def mark_role(phrase: NounPhrase, role: str) -> NounPhrase:
    """Return the phrase with its last word marked as "referent" or "other"."""
    return replace(phrase, marks=((role, len(phrase.source) - 1),))


def because_sentence(
    subject: NounPhrase,
    group: Phrase,
    thing: NounPhrase,
    word: Adjective | Verb,
    *,
    degree: str = "",
    tense: str = "background",
    time: Phrase = NOTHING,
    reason_first: bool = False,
) -> Phrase:
    """Build a because-sentence from its parts.

    For example: the animal didn't cross the street because it was too tired.

    Args:
        subject: The subject, marked by `mark_role` as "referent" or "other".
        group: The verb group, which says what the subject did or did not do.
        thing: The object, marked with the other role.
        word: The adjective or verb that describes the referent.
        degree: "too", "very", "so" or "".
        tense: The tense of the reason, "present" or "background".
        time: A phrase that says when the event happened, or `NOTHING`.
        reason_first: Whether the reason comes before the event.
    """
    referent = subject if subject.marks[0][0] == "referent" else thing
    pronoun = referring_pronoun(referent)
    said = predicate(pronoun, word, tense, degree=degree)
    said = replace(said, marks=(("decider", len(said.source) - 1),))
    reason = join_phrases(fixed_phrase("because", "parce que"), pronoun, said)
    event = join_phrases(subject, group, thing, time)
    return (
        join_phrases(reason, fixed_phrase(",", ","), event)
        if reason_first
        else join_phrases(event, reason)
    )


# ---------------------------------------------------------------- drawing one

# Adjectives for the two nouns that can neither be a reason nor contradict one.
FOR_THE_LIVING = parse_tags("small big beautiful white black gray")
FOR_THINGS = parse_tags("old new beautiful white black gray red blue green")

# Nouns that a landmark can single out, and the landmarks.
FIRM = parse_tags("way bridge water area hole building height hedge vehicle person animal")
LANDMARKS = (
    (fixed_phrase("near", "près de"), parse_tags("church station hotel school")),
    (fixed_phrase("behind", "derrière"), parse_tags("church castle barn")),
    (fixed_phrase("in front of", "devant"), parse_tags("school museum house hotel")),
)


@cache
def _epithets(noun: Noun) -> tuple[Adjective, ...]:
    words = FOR_THE_LIVING if has_any_tag(parse_tags("person animal"), noun) else FOR_THINGS
    return tuple(ADJECTIVES[word] for word in sorted(words) if can_describe(ADJECTIVES[word], noun))


def _actor(rng: Random, noun: Noun, plural: bool, role: str) -> NounPhrase:
    choice = _epithets(noun)
    adjectives = [rng.choice(choice)] if choice and rng.random() < 0.25 else []
    determiner = rng.choice(("the", "the", "the", "this", "that"))
    number = rng.choice(("two", "three", "four")) if plural and rng.random() < 0.1 else ""
    return mark_role(
        noun_phrase(determiner, noun, plural=plural, number=number, adjectives=adjectives), role
    )


def _landmark(rng: Random, cast: Cast) -> Phrase:
    """Generate a landmark, such as "near the church", that the reason cannot describe.

    If the sampled noun is not suitable, the phrase is empty.
    """
    subject, thing, word = cast
    where, nouns = rng.choice(LANDMARKS)
    noun = rng.choice(find_nouns(nouns))
    if noun in (subject, thing) or can_describe(word, noun) or "seat" in subject.tags | thing.tags:
        return NOTHING
    return join_phrases(where, noun_phrase("the", noun))


def draw_because(rng: Random, *, reason_first: bool) -> Phrase:
    """Generate a because-sentence; `reason_first` puts the reason before the event."""
    of_subject, gender = rng.random() < 0.5, rng.choice("mf")
    plural, differ = rng.random() < 0.35, rng.random() < 0.9
    scene, fitting = rng.choice(_casts(of_subject, gender, plural, differ))
    cast = rng.choice(fitting)
    subject_noun, thing_noun, word = cast
    subject = _actor(rng, subject_noun, plural, "referent" if of_subject else "other")
    thing = _actor(rng, thing_noun, plural, "other" if of_subject else "referent")
    if rng.random() < 0.2:
        # Somebody in front of a hotel cannot leave a castle.
        if (
            rng.random() < 0.5
            and has_any_tag(FIRM, subject_noun)
            and scene.verb is not VERBS["quitter"]
        ):
            subject = extend_noun_phrase(subject, _landmark(rng, cast))
        elif has_any_tag(FIRM, thing_noun):
            thing = extend_noun_phrase(thing, _landmark(rng, cast))

    past = rng.random() < 0.65
    mood = rng.choice(["plain", *sorted(scene.moods & {"can", "want"})])
    if mood == "plain":
        negated = "not" in scene.moods
        group = verb_group(subject, scene.verb, "past" if past else "present", negated=negated)
    else:
        group = modal_group(subject, mood, scene.verb, past=past, negated=True)
    degrees = ("too", "too", "so", "very") if "too" in scene.moods else ("so", "very", "")
    gradable = isinstance(word, Adjective) and word.sort != "fixed"
    return because_sentence(
        subject,
        group,
        thing,
        word,
        degree=rng.choice(degrees) if gradable else "",
        tense="background" if past else "present",
        time=draw_time(rng, 0.2 * past),
        reason_first=reason_first,
    )
