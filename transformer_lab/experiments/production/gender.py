"""Lesson 18's study of gender: does a translator know what "it" is, and where is a gender decided?

    python -m transformer_lab.experiments.production.gender

Three translators (see `models`) and the same untrained. What is asked is in `gender_sentences`, how
a gender is read in `gender_reading`, what is changed inside in `gender_causes`.
"""

from functools import cache
from typing import Any

import numpy as np

from transformer_lab.experiments.production.gender_causes import Asked
from transformer_lab.experiments.production.gender_heads import heads, pointing
from transformer_lab.experiments.production.gender_patching import patching
from transformer_lab.experiments.production.gender_probes import probes
from transformer_lab.experiments.production.gender_reading import Reading, read, text_odds
from transformer_lab.experiments.production.gender_scores import effects, interval, written
from transformer_lab.experiments.production.gender_sentences import (
    FRAMES,
    FRENCH,
    PORTUGUESE,
    Pair,
    agreement,
    pairs,
)
from transformer_lab.experiments.production.gender_world import world_pairs
from transformer_lab.experiments.production.models import (
    DEBIAN,
    PRODUCTION,
    TOY,
    translator,
    untrained,
)
from transformer_lab.experiments.study import Setting, command
from transformer_lab.translator import Translator

NAME = "production.gender"
WORLD_PAIRS = 112
UNTRAINED_SEEDS = (0, 1, 2)
PARTS = ("pairs", "agreement", "patching", "heads", "pointing", "probes")
GRID: list[Setting] = [
    *({"part": part, "model": PRODUCTION} for part in PARTS),
    *({"part": part, "model": TOY} for part in ("pairs", "agreement", "patching", "pointing")),
    *({"part": part, "model": DEBIAN} for part in ("pairs", "agreement", "patching")),
]


def run(setting: Setting) -> dict[str, Any]:
    """One part of the study with one translator; see the functions for the numbers."""
    model, part = setting["model"], setting["part"]
    asked, language = model_of(model), language_of(model)
    bare = [untrained(asked, seed) for seed in UNTRAINED_SEEDS]
    match part:
        case "pairs":
            return pairs_of(model, bare)
        case "agreement":
            return agreements(asked, language)
        case "patching":
            return patching(asked, language, bare)
        case "heads":
            return heads(asked, language)
        case "pointing":
            return pointing(asked, usable_pairs(model))
    return probes(asked, language, usable_pairs(model), bare)


@cache
def model_of(name: str) -> Translator:
    """One of MODELS; a worker reads it once."""
    return translator(name)


def language_of(model: str) -> str:
    """The language that one of MODELS writes."""
    return PORTUGUESE if model == PRODUCTION else FRENCH


def questions(model: str) -> list[Pair]:
    """The pairs that one of MODELS is asked."""
    return world_pairs(WORLD_PAIRS) if model == TOY else pairs(language_of(model))


@cache
def read_pairs(model: str) -> list[tuple[Reading, Reading]]:
    """Both sentences of each pair whose words are known, translated."""
    asked = questions(model)
    readings = read(model_of(model), [q for pair in asked for q in pair], language_of(model))
    by_source = {reading.question: reading for reading in readings}
    return [(by_source[a], by_source[b]) for a, b in asked if a in by_source and b in by_source]


def usable_pairs(model: str) -> list[tuple[Reading, Reading]]:
    """Those in which both sentences can be asked for log-odds (see `Asked`)."""
    couples = read_pairs(model)
    kept = set(Asked(model_of(model), [one for couple in couples for one in couple]).readings)
    return [(a, b) for a, b in couples if a in kept and b in kept]


def pairs_of(model: str, bare: list[Translator]) -> dict[str, Any]:
    """What is written for the pairs, and what moves the log-odds, beside the same untrained.

    A row of `rows` has both nouns, their genders, both adjectives, the genders written, and the
    log-odds of both sentences.
    """
    all_pairs = read_pairs(model)
    couples = [(a, b) for a, b in all_pairs if a.usable and b.usable]
    result: dict[str, Any] = {
        "asked": len(questions(model)),
        "known": len(all_pairs),
        "no_gender": sum(a.shown is None or b.shown is None for a, b in all_pairs),
        "nouns_otherwise": sum(
            not (a.nouns_as_expected and b.nouns_as_expected) for a, b in all_pairs
        ),
        "usable": len(couples),
        "written": written(couples),
        "examples": [
            [a.question.source, a.text, b.question.source, b.text] for a, b in couples[::12]
        ],
    }
    if not couples:
        return result
    readings = [one for couple in couples for one in couple]
    table = text_odds(model_of(model), readings).reshape(-1, 2)  # (pairs, sentence of the pair)
    masculine = np.array([a.question.genders[0] == "m" for a, _ in couples])
    result["effects"] = effects(table, masculine)
    right = np.where(masculine, 1, -1) * (table[:, 0] - table[:, 1])
    result["moves_rightly"] = interval(right > 0)
    result["untrained"] = [
        effects(text_odds(other, readings).reshape(-1, 2), masculine) for other in bare
    ]
    result["rows"] = [
        [
            *a.question.nouns,
            "".join(a.question.genders),
            a.question.adjective,
            b.question.adjective,
            "".join(r.shown.gender for r in (a, b) if r.shown),
            *np.round(two, 2).tolist(),
        ]
        for (a, b), two in zip(couples, table, strict=True)
    ]
    return result


def agreements(asked: Translator, language: str) -> dict[str, Any]:
    """For each gender and frame: asked, known words, usable, and the share right with its interval."""
    readings = read(asked, agreement(language), language)
    result: dict[str, Any] = {"known": len(readings), "frames": {}}
    for gender in "mf":
        of_gender = [r for r in readings if r.question.gender == gender]
        result[gender] = share_right(of_gender)
        result["frames"][gender] = {
            frame: share_right([r for r in of_gender if r.question.frame == frame])
            for frame in FRAMES
        }
    result["wrong"] = [r.text for r in readings if r.usable and not r.right][::20]
    return result


def share_right(readings: list[Reading]) -> dict[str, Any]:
    """How many were asked, how many are usable, and the share of these that is right."""
    usable = [r for r in readings if r.usable]
    return {
        "asked": len(readings),
        "usable": len(usable),
        "right": interval([r.right for r in usable]),
    }


if __name__ == "__main__":
    command(NAME, run, GRID)
