"""Lesson 12's second study: which heads choose the pronoun, if only the seed of `train` differs?

    python -m transformer_lab.studies.other_seeds.recipe_seeds

Ten runs train on the same sentences as the translator that comes with the package, and nine on
sentences that depend on their seed, as in `transformer-lab train --seed N`. A run takes two to five
minutes.
"""

from typing import Any

from transformer_lab.data.corpus import find_corpus
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.evaluation import evaluate
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.grid import Setting, make_study_config, run_study_command
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    are_pronouns_right,
    predict_pronouns,
    pronoun_accuracy_without_head,
    pronouns_changed_by_pointing,
)
from transformer_lab.studies.finding_the_noun.pronoun_sentences import draw_pronoun_pairs

NAME = "recipe_seeds"
SENTENCES = 100  # in each clause order
STEPS = PRESETS["tiny"].training.max_steps
GRID: list[Setting] = [
    *({"seed": seed, "sentences": 0, "steps": STEPS} for seed in range(10)),
    *({"seed": seed, "sentences": seed, "steps": STEPS} for seed in range(1, 10)),
]
SMALL: Setting = {"seed": 0, "sentences": 0, "steps": 20}
"""A run of a few seconds, for the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and examine its heads on 200 sentences with unseen combinations.

    Returns:
        "exact_match": the share of test sentences translated exactly, with a beam of 4.
        "pronouns": the pronoun accuracy.
        "without": the result of `pronoun_accuracy_without_head`.
        "pointed": the result of `pronouns_changed_by_pointing` for the rows "it" and "decider".
    """
    preset = PRESETS["tiny"]
    training = make_study_config(preset.training, setting["steps"], setting["seed"])
    splits = find_corpus("world").splits(setting["sentences"])
    translator = build_translator(splits, "world", preset, setting["seed"])
    make_trainer(translator, splits, training, show_progress=False).train()
    pairs = draw_pronoun_pairs(SENTENCES)
    _, written = predict_pronouns(translator, pairs)
    return {
        "exact_match": evaluate(translator, splits.test).exact_match,
        "pronouns": round(float(are_pronouns_right(written, pairs).mean()), 4),
        "without": pronoun_accuracy_without_head(translator, pairs),
        "pointed": {
            row: pronouns_changed_by_pointing(translator, pairs, row) for row in ("it", "decider")
        },
    }


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
