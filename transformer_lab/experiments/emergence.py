"""Lessons 11 and 12: when in training does the pronoun's circuit appear, and what do its heads become?

    python -m transformer_lab.experiments.emergence

Six trainings of the default recipe, the shipped model's seed among them, looked at every 50 steps; at
the end, and before the first step, the encoder's heads are held against relations of grammar, and
their subspaces against each other. A run takes about five minutes.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.data.world.relations import CLAUSES, RELATIVE_CLAUSES, over_a_clause, relations
from transformer_lab.experiments.production.texts import Marked
from transformer_lab.experiments.pronoun_causes import (
    are_right,
    pronouns_pointed,
    pronouns_without,
    read,
)
from transformer_lab.experiments.pronoun_heads import referent_differences
from transformer_lab.experiments.pronoun_sentences import ORDERS, asked
from transformer_lab.experiments.relation_scores import scored
from transformer_lab.experiments.sooner import judged
from transformer_lab.experiments.study import Setting, command, quiet
from transformer_lab.experiments.subspaces import overlaps
from transformer_lab.recipe import PRESETS, make_trainer, new_translator
from transformer_lab.training.trainer import StepReport
from transformer_lab.translator import Translator

NAME = "emergence"
ASKED = {"asked": 60, "validation": 600, "unseen": 2_000}
"""How many sentences: of each order with a pronoun, of the validation set, and of those for relations."""
STEPS = PRESETS["tiny"].training.max_steps
GRID: list[Setting] = [
    {"seed": seed, "steps": STEPS, "every": 50, **ASKED} for seed in (7, 0, 1, 2, 3, 4)
]
SMALL: Setting = {"seed": 0, "steps": 2, "every": 1, "asked": 3, "validation": 30, "unseen": 200}
"""A run of a few seconds, for the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train once.

    Returns:
        "looks", one for each `every` steps and one for step 0, see `look`; "relations" and
        "subspaces", of the finished model, see `scored` and `overlaps`; the same with "untrained"
        before it, of step 0.
    """
    preset, splits = PRESETS["tiny"], find_corpus("world").splits()
    translator = new_translator(splits, "world", preset, setting["seed"])
    pairs = [pair for order in ORDERS for pair in islice(asked(order), setting["asked"])]
    validation = sorted(
        splits.validation[: setting["validation"]], key=lambda pair: len(pair.source_tokens)
    )
    unseen = [*splits.test, *splits.validation][: setting["unseen"]]
    before = heads(translator, unseen)
    looks = [{"step": 0, **look(translator, pairs, validation)}]

    def note(report: StepReport) -> None:
        if report.step % setting["every"] == 0:
            with trainer.averaged():
                looks.append({"step": report.step, **look(translator, pairs, validation)})

    training = quiet(preset.training, setting["steps"], setting["seed"])
    trainer = make_trainer(
        translator, replace(splits, validation=[]), training, on_step=note, show_progress=False
    )
    trainer.train()
    after = heads(translator, unseen)
    return {"looks": looks, **after, **{f"untrained {k}": v for k, v in before.items()}}


def look(
    translator: Translator, pairs: Sequence[WorldPair], validation: Sequence[WorldPair]
) -> dict[str, Any]:
    """What a model can do, and which of its heads it needs for that.

    "plain" and "exact": shares of validation sentences that are right, of those without a pronoun
    that stands for a noun, and of all. "pronouns": the share that is right in `pairs`, unseen
    combinations. "without": that share with each head muted. "pointed": the share of pronouns that
    change when a row of an encoder head is pointed at the other noun. "prefers": weight on the
    referent minus weight on the other noun.
    """
    exact, _ = judged(translator, validation)
    plain = [right for right, p in zip(exact, validation, strict=True) if p.coreference is None]
    capture, written = read(translator, pairs)
    differences = referent_differences(capture, pairs)
    return {
        "plain": round(float(np.mean(plain)), 4),
        "exact": round(float(np.mean(exact)), 4),
        "pronouns": round(float(are_right(written, pairs).mean()), 4),
        "without": pronouns_without(translator, pairs),
        "pointed": {row: pronouns_pointed(translator, pairs, row) for row in ("it", "decider")},
        "prefers": {
            row: np.round(difference.mean(axis=0), 3).tolist()
            for row, difference in differences.items()
        },
    }


def heads(translator: Translator, unseen: Sequence[WorldPair]) -> dict[str, Any]:
    """What the encoder's heads follow, on unseen sentences, and how far their subspaces overlap."""
    one_clause = [marked(p, relations(p)) for p in unseen if p.construction in CLAUSES]
    over = [marked(p, over_a_clause(p)) for p in unseen if p.construction in RELATIVE_CLAUSES]
    return {
        "relations": scored(translator, one_clause) | scored(translator, over),
        "subspaces": overlaps(translator.model),
    }


def marked(pair: WorldPair, links: dict[str, tuple[tuple[int, int], ...]]) -> Marked:
    """A sentence of the world with its links."""
    return Marked(pair.source, pair.source_tokens, links)


if __name__ == "__main__":
    command(NAME, run, GRID)
