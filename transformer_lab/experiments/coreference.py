"""Lesson 12's study: where in a translator is the noun behind a pronoun found, and by which head?

    python -m transformer_lab.experiments.coreference

Translators with 1 to 4 encoder layers and 1 to 4 decoder layers, trained on the bilingual world;
then all heads of each are asked on sentences with combinations that training never showed.
"""

from itertools import islice
from typing import Any

import torch

from transformer_lab.data.pair import Splits
from transformer_lab.data.world.grammar import WorldPair, world
from transformer_lab.experiments.first_recipe import FIRST
from transformer_lab.experiments.probe import probe_accuracy
from transformer_lab.experiments.pronoun_causes import (
    are_right,
    pronouns_pointed,
    pronouns_without,
    read,
)
from transformer_lab.experiments.pronoun_heads import (
    cross_weights,
    distances,
    largest_by_chance,
    referent_differences,
    rollout_differences,
)
from transformer_lab.experiments.pronoun_sentences import ORDERS, asked, by_order
from transformer_lab.experiments.study import Setting, command, quiet
from transformer_lab.model import Transformer
from transformer_lab.recipe import make_trainer, new_translator
from transformer_lab.translator import Translator

NAME = "coreference"
SENTENCES = 100  # of each order

DEPTHS = (1, 2, 3, 4)
# Pre-norm, since all depths have to learn: post-norm with four encoder layers did not at this rate
# (seven runs of 2,400 steps: 0 to 38 % exact match).
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
"""Runs of a few seconds, of which one is repeated by the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and ask all its heads; see the functions below for the numbers."""
    translator, exact_match = trained(setting)
    pairs = [p for order in ORDERS for p in islice(asked(order), SENTENCES)]
    capture, written = read(translator, pairs)
    differences = referent_differences(capture, pairs)
    return {
        "exact_match": exact_match,
        "pronouns": by_order(are_right(written, pairs)),
        "differences": {row: by_order(d) for row, d in differences.items()},
        "chance": {row: largest_by_chance(d, setting["seed"]) for row, d in differences.items()},
        "cross_weight": cross_weights(capture, pairs),
        "without": pronouns_without(translator, pairs),
        "pointed": {row: pronouns_pointed(translator, pairs, row) for row in ("it", "decider")},
        "rollout": rollout_differences(capture, pairs),
        "distance": distances(capture, pairs),
        "distance_untrained": distances(read(untrained(translator, setting), pairs)[0], pairs),
        "probe": probe_accuracy(translator, pairs),
    }


def trained(setting: Setting) -> tuple[Translator, float]:
    """A translator of this setting, and its exact match on 300 validation sentences (greedy)."""
    seed = setting["seed"]
    splits: Splits[WorldPair] = world(train=setting["pairs"], seed=seed)
    layers = {f"num_{side}_layers": setting[f"{side}_layers"] for side in ("encoder", "decoder")}
    preset = FIRST
    translator = new_translator(splits, "world", preset, seed, norm=setting["norm"], **layers)
    training = quiet(preset.training, setting["steps"], seed)
    trainer = make_trainer(translator, splits, training, show_progress=False, watch_exact_match=300)
    trainer.train()
    return translator, trainer.progress.history[-1]["exact_match"]


def untrained(translator: Translator, setting: Setting) -> Translator:
    """A translator of the same shape and words, as it was before any step."""
    torch.manual_seed(setting["seed"])
    model = Transformer(translator.model.config)
    return Translator(model, translator.source_tokenizer, translator.target_tokenizer)


if __name__ == "__main__":
    command(NAME, run, [*SMALL, *GRID])
