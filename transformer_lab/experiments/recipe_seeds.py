"""Lesson 12's second study: which heads choose the pronoun, when only the seed of `train` differs?

    python -m transformer_lab.experiments.recipe_seeds

Ten seeds with the sentences that the shipped model was trained on, and nine with sentences of their
own, as `transformer-lab train --seed N` draws them. A run takes two to five minutes.
"""

from itertools import islice
from typing import Any

from transformer_lab.data.corpus import find_corpus
from transformer_lab.experiments.pronoun_causes import (
    are_right,
    pronouns_pointed,
    pronouns_without,
    read,
)
from transformer_lab.experiments.pronoun_sentences import ORDERS, asked
from transformer_lab.experiments.study import Setting, command, quiet
from transformer_lab.recipe import PRESETS, evaluate, make_trainer, new_translator

NAME = "recipe_seeds"
SENTENCES = 100  # of each order of the clauses
STEPS = PRESETS["tiny"].training.max_steps
GRID: list[Setting] = [
    *({"seed": seed, "sentences": 0, "steps": STEPS} for seed in range(10)),
    *({"seed": seed, "sentences": seed, "steps": STEPS} for seed in range(1, 10)),
]
SMALL: Setting = {"seed": 0, "sentences": 0, "steps": 20}
"""A run of a few seconds, for the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and ask its heads about 200 sentences of unseen combinations.

    Returns:
        "exact_match" of the test set, with a beam of 4; "pronouns", the share that is right;
        "without", that share with each head muted: kind → (layer, head); and "pointed", the share of
        pronouns that change when all weight of a row, of "it" or of the "decider", goes to the other
        noun: row → (layer, head) of the encoder.
    """
    preset = PRESETS["tiny"]
    training = quiet(preset.training, setting["steps"], setting["seed"])
    splits = find_corpus("world").splits(setting["sentences"])
    translator = new_translator(splits, "world", preset, setting["seed"])
    make_trainer(translator, splits, training, show_progress=False).train()
    pairs = [pair for order in ORDERS for pair in islice(asked(order), SENTENCES)]
    _, written = read(translator, pairs)
    return {
        "exact_match": evaluate(translator, splits.test).exact_match,
        "pronouns": round(float(are_right(written, pairs).mean()), 4),
        "without": pronouns_without(translator, pairs),
        "pointed": {row: pronouns_pointed(translator, pairs, row) for row in ("it", "decider")},
    }


if __name__ == "__main__":
    command(NAME, run, GRID)
