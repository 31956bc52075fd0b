"""Lesson 12's study: where in a translator is the noun behind a pronoun found, and by which head?

    python -m transformer_lab.studies.finding_the_noun.coreference

Translators with 1 to 4 encoder layers and 1 to 4 decoder layers are trained on the bilingual world.
Then all their heads are examined on sentences with word combinations that never occur in training.
"""

from typing import Any

from transformer_lab.data.pair import Splits
from transformer_lab.data.world.grammar import WorldPair, world
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.studies.common.first_recipe import FIRST
from transformer_lab.studies.common.grid import Setting, make_study_config, run_study_command
from transformer_lab.studies.common.probe import probe_accuracy
from transformer_lab.studies.common.untrained import untrained_translator
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    are_pronouns_right,
    predict_pronouns,
    pronoun_accuracy_without_head,
    pronouns_changed_by_pointing,
)
from transformer_lab.studies.finding_the_noun.pronoun_heads import (
    attention_distances,
    cross_weights,
    permutation_threshold,
    referent_differences,
    rollout_differences,
)
from transformer_lab.studies.finding_the_noun.pronoun_sentences import (
    draw_pronoun_pairs,
    mean_by_order,
)
from transformer_lab.translator import Translator

NAME = "coreference"
SENTENCES = 100  # in each clause order

DEPTHS = (1, 2, 3, 4)
# Pre-norm, since all depths have to learn: post-norm with four encoder layers did not at this rate
# (seven runs of 2,400 steps: 0 to 38% exact match).
SHAPE = {"norm": "pre", "steps": 3_200, "pairs": 60_000}
GRID: list[Setting] = [
    {"encoder_layers": e, "decoder_layers": d, **SHAPE, "seed": seed}
    for seed in (0, 1)
    for e in DEPTHS
    for d in DEPTHS
]
SMALL: list[Setting] = [
    {"encoder_layers": 1, "decoder_layers": 1, **SHAPE, "steps": 150, "pairs": 3_000, "seed": seed}
    for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and measure all its heads on sentences with a pronoun.

    Returns:
        "exact_match": the share of validation sentences translated exactly.
        "pronouns": the pronoun accuracy, by clause order.
        "differences": the means of `referent_differences`, by row.
        "chance": the `permutation_threshold` of each row.
        "cross_weight": the result of `cross_weights`.
        "without": the result of `pronoun_accuracy_without_head`.
        "pointed": the result of `pronouns_changed_by_pointing` for each row.
        "rollout": the result of `rollout_differences`.
        "distance": the result of `attention_distances`.
        "distance_untrained": the same for an untrained model.
        "probe": the result of `probe_accuracy`.
    """
    translator, exact_match = train_translator(setting)
    pairs = draw_pronoun_pairs(SENTENCES)
    capture, written = predict_pronouns(translator, pairs)
    differences = referent_differences(capture, pairs)
    return {
        "exact_match": exact_match,
        "pronouns": mean_by_order(are_pronouns_right(written, pairs)),
        "differences": {row: mean_by_order(d) for row, d in differences.items()},
        "chance": {
            row: permutation_threshold(d, setting["seed"]) for row, d in differences.items()
        },
        "cross_weight": cross_weights(capture, pairs),
        "without": pronoun_accuracy_without_head(translator, pairs),
        "pointed": {
            row: pronouns_changed_by_pointing(translator, pairs, row) for row in ("it", "decider")
        },
        "rollout": rollout_differences(capture, pairs),
        "distance": attention_distances(capture, pairs),
        "distance_untrained": attention_distances(
            predict_pronouns(untrained_translator(translator, setting["seed"]), pairs)[0], pairs
        ),
        "probe": probe_accuracy(translator, pairs),
    }


def train_translator(setting: Setting) -> tuple[Translator, float]:
    """Train a translator; return it with its greedy exact match on 300 validation sentences."""
    seed = setting["seed"]
    splits: Splits[WorldPair] = world(train=setting["pairs"], seed=seed)
    layers = {f"num_{side}_layers": setting[f"{side}_layers"] for side in ("encoder", "decoder")}
    translator = build_translator(splits, "world", FIRST, seed, norm=setting["norm"], **layers)
    training = make_study_config(FIRST.training, setting["steps"], seed)
    trainer = make_trainer(translator, splits, training, show_progress=False, watch_exact_match=300)
    trainer.train()
    return translator, trainer.progress.history[-1]["exact_match"]


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
