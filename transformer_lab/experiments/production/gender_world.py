"""Pairs of the bilingual world for the shipped translator, which knows no other words.

Its because-sentences say a reason of the subject or of the object; here both are said of one event.
"""

from random import Random

from transformer_lab.data.world.because import SCENES, Cast, Scene, because, in_role
from transformer_lab.data.world.clauses import verb_group
from transformer_lab.data.world.grammar import join_tokens
from transformer_lab.data.world.lexicon import Adjective, Noun, all_named, suits
from transformer_lab.data.world.phrases import noun_phrase
from transformer_lab.experiments.production.gender_sentences import Pair, Question

Both = tuple[Scene, Noun, Noun, Adjective, Adjective]  # the subject's reason, then the object's


def events() -> list[Both]:
    """Each event whose nouns differ in gender, and of whose reasons each fits one noun alone."""
    found = []
    for scene in SCENES:
        things = [
            (subject, thing)
            for subject in all_named(scene.subjects)
            for thing in all_named(scene.objects)
            if subject.gender != thing.gender
            and not {"person", "family"} & {subject.kind, thing.kind}
        ]
        firsts, seconds = (
            [word for word in reasons if isinstance(word, Adjective) and word.sort != "having"]
            for reasons in (scene.subject_reasons, scene.object_reasons)
        )
        found += [
            (scene, subject, thing, first, second)
            for subject, thing in things
            for first in firsts
            for second in seconds
            if suits(first, subject) and not suits(first, thing)
            if suits(second, thing) and not suits(second, subject)
        ]
    return found


def world_pairs(number: int, seed: int = 18) -> list[Pair]:
    """Half of them with a masculine subject."""
    drawn = Random(seed).sample(events(), len(events()))
    chosen = [
        event
        for gender in "mf"
        for event in [e for e in drawn if e[1].gender == gender][: number // 2]
    ]
    return [(asked(event, 0), asked(event, 1)) for event in chosen]


def asked(event: Both, right: int) -> Question:
    """The event with the reason that fits its subject (0) or its object (1)."""
    scene, subject, thing, *reasons = event
    cast: Cast = (subject, thing, reasons[right])
    nouns = [
        in_role(noun_phrase("the", noun), "referent" if i == right else "other")
        for i, noun in enumerate(cast[:2])
    ]
    group = verb_group(nouns[0], scene.verb, "past", negated="not" in scene.moods)
    phrase = because(nouns[0], group, nouns[1], cast[2])
    return Question(
        join_tokens(phrase.source),
        (cast[0].english, cast[1].english),
        (cast[0].gender, cast[1].gender),
        phrase.source[-1],
        right,
        scene.verb.infinitive,
    )
