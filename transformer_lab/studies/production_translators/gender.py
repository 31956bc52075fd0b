"""Lesson 18's study of gender: does a translator know what "it" is, and where is a gender decided?

    python -m transformer_lab.studies.production_translators.gender

The study examines three translators (see `models`) and untrained copies of them. The questions are
in `gender_sentences`; `gender_detection` reads a gender from a translation, and
`gender_interventions` changes states or attention inside the model.
"""

from functools import cache
from typing import Any

import numpy as np

from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.untrained import untrained_translator
from transformer_lab.studies.production_translators.gender_detection import (
    Reading,
    text_log_odds,
    translate_questions,
)
from transformer_lab.studies.production_translators.gender_heads import (
    score_muted_heads,
    score_pointed_rows,
)
from transformer_lab.studies.production_translators.gender_interventions import GenderBatch
from transformer_lab.studies.production_translators.gender_patching import score_patching
from transformer_lab.studies.production_translators.gender_probes import score_probes
from transformer_lab.studies.production_translators.gender_scores import (
    estimate_effects,
    mean_and_interval,
    score_written_genders,
)
from transformer_lab.studies.production_translators.gender_sentences import (
    FRAMES,
    FRENCH,
    PORTUGUESE,
    Pair,
    make_agreement_questions,
    make_pairs,
)
from transformer_lab.studies.production_translators.gender_world import draw_world_pairs
from transformer_lab.studies.production_translators.models import (
    DEBIAN,
    PRODUCTION,
    TOY,
    load_translator,
)
from transformer_lab.translator import Translator

NAME = "gender"
WORLD_PAIRS = 112
UNTRAINED_SEEDS = (0, 1, 2)
PARTS = ("pairs", "agreement", "patching", "heads", "pointing", "probes")
GRID: list[Setting] = [
    *({"part": part, "model": PRODUCTION} for part in PARTS),
    *({"part": part, "model": TOY} for part in ("pairs", "agreement", "patching", "pointing")),
    *({"part": part, "model": DEBIAN} for part in ("pairs", "agreement", "patching")),
]


def run(setting: Setting) -> dict[str, Any]:
    """Do one part of the study with one translator, both named in the setting.

    The part is "pairs" (`score_pairs`), "agreement" (`score_agreement`), "patching"
    (`score_patching`), "heads" (`score_muted_heads`), "pointing" (`score_pointed_rows`) or "probes"
    (`score_probes`). The result of that function is returned.
    """
    model, part = setting["model"], setting["part"]
    translator, language = load_translator(model), get_language(model)
    bare = [untrained_translator(translator, seed) for seed in UNTRAINED_SEEDS]
    match part:
        case "pairs":
            return score_pairs(model, bare)
        case "agreement":
            return score_agreement(translator, language)
        case "patching":
            return score_patching(translator, language, bare)
        case "heads":
            return score_muted_heads(translator, language)
        case "pointing":
            return score_pointed_rows(translator, filter_usable_pairs(model))
    return score_probes(translator, language, filter_usable_pairs(model), bare)


def get_language(model: str) -> str:
    """Return the target language of one of `MODELS`."""
    return PORTUGUESE if model == PRODUCTION else FRENCH


def make_questions(model: str) -> list[Pair]:
    """Return the pairs of questions for one of `MODELS`."""
    return draw_world_pairs(WORLD_PAIRS) if model == TOY else make_pairs(get_language(model))


@cache
def translate_pairs(model: str) -> list[tuple[Reading, Reading]]:
    """Translate each pair of questions whose words the model knows, and return the readings."""
    couples = make_questions(model)
    readings = translate_questions(
        load_translator(model), [q for pair in couples for q in pair], get_language(model)
    )
    by_source = {reading.question: reading for reading in readings}
    return [(by_source[a], by_source[b]) for a, b in couples if a in by_source and b in by_source]


def filter_usable_pairs(model: str) -> list[tuple[Reading, Reading]]:
    """Return the translated pairs in which `GenderBatch` keeps both sentences."""
    couples = translate_pairs(model)
    kept = set(
        GenderBatch(load_translator(model), [one for couple in couples for one in couple]).readings
    )
    return [(a, b) for a, b in couples if a in kept and b in kept]


def score_pairs(model: str, bare: list[Translator]) -> dict[str, Any]:
    """Measure which genders are written for the pairs of questions, and what moves the log-odds.

    Returns:
        "asked": the number of pairs.
        "known": the number of pairs with only known words.
        "usable": the number of pairs in which both sentences are usable.
        "no_gender": the number of pairs in which a translation shows no gender.
        "nouns_otherwise": the number of pairs in which a noun does not have the expected gender.
        "written": the result of `score_written_genders`.
        "effects": the result of `estimate_effects`.
        "untrained": the same for each untrained model in `bare`.
        "moves_rightly": the share of pairs in which a change of adjective moves the log-odds
            towards the right gender, as [mean, low, high].
        "rows": for each usable pair, both nouns, their genders, both adjectives, the genders
            written, and both log-odds.
        "examples": some sources and translations.
    """
    all_pairs = translate_pairs(model)
    couples = [(a, b) for a, b in all_pairs if a.usable and b.usable]
    result: dict[str, Any] = {
        "asked": len(make_questions(model)),
        "known": len(all_pairs),
        "no_gender": sum(a.shown is None or b.shown is None for a, b in all_pairs),
        "nouns_otherwise": sum(
            not (a.nouns_as_expected and b.nouns_as_expected) for a, b in all_pairs
        ),
        "usable": len(couples),
        "written": score_written_genders(couples),
        "examples": [
            [a.question.source, a.text, b.question.source, b.text] for a, b in couples[::12]
        ],
    }
    if not couples:
        return result
    readings = [one for couple in couples for one in couple]
    table = text_log_odds(load_translator(model), readings).reshape(
        -1, 2
    )  # (pairs, sentence of the pair)
    masculine = np.array([a.question.genders[0] == "m" for a, _ in couples])
    result["effects"] = estimate_effects(table, masculine)
    right = np.where(masculine, 1, -1) * (table[:, 0] - table[:, 1])
    result["moves_rightly"] = mean_and_interval(right > 0)
    result["untrained"] = [
        estimate_effects(text_log_odds(other, readings).reshape(-1, 2), masculine) for other in bare
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


def score_agreement(translator: Translator, language: str) -> dict[str, Any]:
    """Measure how often a translator gives an adjective the gender of its noun.

    Returns:
        "m" and "f": the result of `summarize_readings` for masculine and for feminine nouns.
        "frames": the same by gender and frame.
        "known": the number of questions with only known words.
        "wrong": every twentieth translation with the wrong gender.
    """
    readings = translate_questions(translator, make_agreement_questions(language), language)
    result: dict[str, Any] = {"known": len(readings), "frames": {}}
    for gender in "mf":
        of_gender = [r for r in readings if r.question.gender == gender]
        result[gender] = summarize_readings(of_gender)
        result["frames"][gender] = {
            frame: summarize_readings([r for r in of_gender if r.question.frame == frame])
            for frame in FRAMES
        }
    result["wrong"] = [r.text for r in readings if r.usable and not r.right][::20]
    return result


def summarize_readings(readings: list[Reading]) -> dict[str, Any]:
    """Count questions, and measure how often their translations show the right gender.

    Returns:
        "asked": the number of readings.
        "usable": the number of usable readings.
        "right": the share of usable readings that show the right gender, as [mean, low, high].
    """
    usable = [r for r in readings if r.usable]
    return {
        "asked": len(readings),
        "usable": len(usable),
        "right": mean_and_interval([r.right for r in usable]),
    }


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
