"""Lessons 11 and 12: when in training does the pronoun's circuit appear, and how do heads change?

    python -m transformer_lab.studies.when_heads_appear.emergence

Six training runs with the default settings, one of them with the seed of the package's translator,
are scored every 50 steps. Before the first step and at the end, the encoder's heads are compared
with grammatical relations, and their subspaces with each other. A run takes about five minutes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.data.world.relations import (
    CLAUSES,
    RELATIVE_CLAUSES,
    find_relations,
    find_relations_over_clause,
)
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.grid import Setting, make_study_config, run_study_command
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    are_pronouns_right,
    predict_pronouns,
    pronoun_accuracy_without_head,
    pronouns_changed_by_pointing,
)
from transformer_lab.studies.finding_the_noun.pronoun_heads import referent_differences
from transformer_lab.studies.finding_the_noun.pronoun_sentences import draw_pronoun_pairs
from transformer_lab.studies.finding_the_noun.relation_scores import score_relations
from transformer_lab.studies.finding_the_noun.subspaces import head_overlaps
from transformer_lab.studies.learning_sooner.sooner import judge_pairs
from transformer_lab.studies.production_translators.texts import MarkedSentence
from transformer_lab.training.trainer import StepReport
from transformer_lab.translator import Translator

NAME = "emergence"
SAMPLE_SIZES = {"asked": 60, "validation": 600, "unseen": 2_000}
"""The numbers of sentences: with a pronoun (per clause order), for validation, for relations."""
STEPS = PRESETS["tiny"].training.max_steps
GRID: list[Setting] = [
    {"seed": seed, "steps": STEPS, "every": 50, **SAMPLE_SIZES} for seed in (7, 0, 1, 2, 3, 4)
]
SMALL: Setting = {"seed": 0, "steps": 2, "every": 1, "asked": 3, "validation": 30, "unseen": 200}
"""A run of a few seconds, for the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and score it during training.

    Returns:
        "looks": the results of `score_model` at step 0 and then after every `every` steps.
        "relations": the result of `score_relations` for the finished model.
        "subspaces": the result of `head_overlaps` for the finished model.
        "untrained relations" and "untrained subspaces": the same at step 0.
    """
    preset, splits = PRESETS["tiny"], find_corpus("world").splits()
    translator = build_translator(splits, "world", preset, setting["seed"])
    pairs = draw_pronoun_pairs(setting["asked"])
    validation = sorted(
        splits.validation[: setting["validation"]], key=lambda pair: len(pair.source_tokens)
    )
    unseen = [*splits.test, *splits.validation][: setting["unseen"]]
    before = score_heads(translator, unseen)
    looks = [{"step": 0, **score_model(translator, pairs, validation)}]

    def note(report: StepReport) -> None:
        if report.step % setting["every"] == 0:
            with trainer.ema_weights():
                looks.append({"step": report.step, **score_model(translator, pairs, validation)})

    training = make_study_config(preset.training, setting["steps"], setting["seed"])
    trainer = make_trainer(
        translator, replace(splits, validation=[]), training, on_step=note, show_progress=False
    )
    trainer.train()
    after = score_heads(translator, unseen)
    return {"looks": looks, **after, **{f"untrained {k}": v for k, v in before.items()}}


def score_model(
    translator: Translator, pairs: Sequence[WorldPair], validation: Sequence[WorldPair]
) -> dict[str, Any]:
    """Score a model at one step of training, and measure how much it needs each head.

    Returns:
        "exact": the exact match on the validation sentences.
        "plain": the exact match on those without a pronoun that refers to a noun.
        "pronouns": the pronoun accuracy on `pairs`, which have unseen combinations.
        "without": the pronoun accuracy with each head muted.
        "pointed": the result of `pronouns_changed_by_pointing` for the rows "it" and "decider".
        "prefers": the means of `referent_differences`: for each row, a nested list indexed by layer
            and head.
    """
    exact, _ = judge_pairs(translator, validation)
    plain = [right for right, p in zip(exact, validation, strict=True) if p.coreference is None]
    capture, written = predict_pronouns(translator, pairs)
    differences = referent_differences(capture, pairs)
    return {
        "plain": round(float(np.mean(plain)), 4),
        "exact": round(float(np.mean(exact)), 4),
        "pronouns": round(float(are_pronouns_right(written, pairs).mean()), 4),
        "without": pronoun_accuracy_without_head(translator, pairs),
        "pointed": {
            row: pronouns_changed_by_pointing(translator, pairs, row) for row in ("it", "decider")
        },
        "prefers": {
            row: np.round(difference.mean(axis=0), 3).tolist()
            for row, difference in differences.items()
        },
    }


def score_heads(translator: Translator, unseen: Sequence[WorldPair]) -> dict[str, Any]:
    """Measure how well the encoder's heads follow grammatical relations, and how much they overlap.

    Returns:
        "relations": the result of `score_relations` for sentences with one clause and with relative
            clauses.
        "subspaces": the result of `head_overlaps`.
    """
    one_clause = [mark_sentence(p, find_relations(p)) for p in unseen if p.construction in CLAUSES]
    over = [
        mark_sentence(p, find_relations_over_clause(p))
        for p in unseen
        if p.construction in RELATIVE_CLAUSES
    ]
    return {
        "relations": score_relations(translator, one_clause) | score_relations(translator, over),
        "subspaces": head_overlaps(translator.model),
    }


def mark_sentence(pair: WorldPair, links: dict[str, tuple[tuple[int, int], ...]]) -> MarkedSentence:
    """Return the English side of a pair as a `MarkedSentence` with these links.

    `links` holds the (dependent, head) positions of each relation, as returned by `find_relations`.
    """
    return MarkedSentence(pair.source, pair.source_tokens, links)


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
