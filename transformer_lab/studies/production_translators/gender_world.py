"""Pairs from the bilingual world for the package's own translator, which knows no other words.

In that world, a because-clause gives a reason for either the subject or the object; here, each
event gets one clause of each kind. The study `gender` asks a translator these questions.
"""

from random import Random

from transformer_lab.data.world.because import SCENES, Cast, Scene, because_sentence, mark_role
from transformer_lab.data.world.clauses import verb_group
from transformer_lab.data.world.grammar import join_tokens
from transformer_lab.data.world.lexicon import Adjective, Noun, can_describe, find_nouns
from transformer_lab.data.world.phrases import noun_phrase
from transformer_lab.studies.production_translators.gender_sentences import Pair, Question

Event = tuple[Scene, Noun, Noun, Adjective, Adjective]  # the subject's reason, then the object's


def list_events() -> list[Event]:
    """Return the events whose two nouns differ in gender, each with one reason for each noun."""
    found = []
    for scene in SCENES:
        things = [
            (subject, thing)
            for subject in find_nouns(scene.subjects)
            for thing in find_nouns(scene.objects)
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
            if can_describe(first, subject) and not can_describe(first, thing)
            if can_describe(second, thing) and not can_describe(second, subject)
        ]
    return found


def draw_world_pairs(number: int, seed: int = 18) -> list[Pair]:
    """Sample `number` pairs of questions, half of them with a masculine subject."""
    drawn = Random(seed).sample(list_events(), len(list_events()))
    chosen = [
        event
        for gender in "mf"
        for event in [e for e in drawn if e[1].gender == gender][: number // 2]
    ]
    return [(make_question(event, 0), make_question(event, 1)) for event in chosen]


def make_question(event: Event, right: int) -> Question:
    """Return the question about an event, with the reason for its subject (0) or its object (1)."""
    scene, subject, thing, *reasons = event
    cast: Cast = (subject, thing, reasons[right])
    nouns = [
        mark_role(noun_phrase("the", noun), "referent" if i == right else "other")
        for i, noun in enumerate(cast[:2])
    ]
    group = verb_group(nouns[0], scene.verb, "past", negated="not" in scene.moods)
    phrase = because_sentence(nouns[0], group, nouns[1], cast[2])
    return Question(
        join_tokens(phrase.source),
        (cast[0].english, cast[1].english),
        (cast[0].gender, cast[1].gender),
        phrase.source[-1],
        right,
        scene.verb.infinitive,
    )
