"""Lesson 09's second study: what makes the translator learn the pronoun sooner?

    python -m transformer_lab.studies.learning_sooner.sooner

The study makes one change at a time to a set of training settings, on the bilingual world, with one
thread. The pronoun is learnt last, so a run that ends too early does not learn it at all. Runs are
repeated with different seeds and different processor instructions, because rounding acts like a
seed too:

    ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 python -m …

A run takes one to four minutes. The command does only the runs for the processor instructions in
use. The machine was busy with other work, so the stored seconds are too high to serve as timings.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from transformer_lab.data.batching import PAD_ID, collate, encode_pairs
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.model import Transformer
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.grid import (
    Setting,
    hash_setting,
    load_runs,
    make_study_config,
    run_study_command,
)
from transformer_lab.studies.learning_sooner import sooner_changes
from transformer_lab.training.trainer import StepReport
from transformer_lab.translator import Translator

NAME = "sooner"
SENTENCES = 1_000
"""The number of validation sentences that are scored during training."""
BATCH_SIZE = 125
BASE: Setting = {
    "model": {},
    "training": {},
    "steps": 1_000,
    "every": 100,
    "instructions": "AVX512",
    "seed": 0,
}
CHANGES: dict[str, Setting] = {
    "as it is": {},
    "twice the feed-forward": {"model": {"d_ff": 512}},
    "half the width": {"model": {"d_model": 64}},
    "twice the heads": {"model": {"num_heads": 8}},
    "the norm first": {"model": {"norm": "pre"}},
    "positions × 0.3": {"start": {"sinusoids": 0.3}},
    "Muon between the layers": {"optimizer": "muon"},
    "embeddings' rate × 3": {"embedding_rate": 3.0},
    "short, then one gender": {"order": "taught"},
    "the last two together": {"order": "taught", "embedding_rate": 3.0},
}
"""The changes to try, one at a time; the last one combines the two before it.

All of them train for 1,000 steps, by which time the unchanged model has half learnt the pronoun.
"""
TWICE = ("as it is", "embeddings' rate × 3", "short, then one gender", "the last two together")
"""The changes that are run with a second seed."""
WITHOUT_DECAY = {"weight_decay": 0.0, "beta2": 0.98}
DECAY = {"weight_decay": 0.3, "beta2": 0.95}
HIGHER = {**DECAY, "peak_rate": 5e-3}
RECIPES: dict[str, Setting] = {
    "without decay": {},
    "with decay": {"training": DECAY},
    "a higher rate": {"training": HIGHER},
    "short first": {"training": HIGHER, "order": "taught"},
}
"""The recipes of the repeated runs, each with its differences from `BASE`.

The models in `CHANGES` are trained without weight decay, although `train` now uses it. The last two
recipes test how short a run can be: their peak rate is 5e-3 instead of 3e-3, and *short first* also
trains in the order of `CurriculumBatches`.
"""
REPEATED: dict[tuple[str, int, str], int] = {
    ("without decay", 1_500, "AVX512"): 2,
    ("without decay", 1_500, "AVX2"): 3,
    ("without decay", 2_000, "AVX512"): 9,
    ("without decay", 2_000, "AVX2"): 8,
    ("without decay", 2_500, "AVX512"): 10,
    ("without decay", 2_500, "AVX2"): 10,
    ("with decay", 1_500, "AVX512"): 5,
    ("with decay", 1_500, "AVX2"): 5,
    ("with decay", 2_500, "AVX512"): 10,
    ("with decay", 2_500, "AVX2"): 10,
}
"""The number of seeds for each (recipe, steps, instructions), in the order tried.

The runs of 2,000 steps without decay were abandoned when two of seventeen runs ended below 98%.
"""
HURRIED: dict[tuple[str, int, str], int] = {
    ("short first", 1_060, "AVX512"): 10,
    ("a higher rate", 1_060, "AVX512"): 10,
    ("a higher rate", 1_300, "AVX512"): 10,
    ("a higher rate", 1_500, "AVX512"): 10,
}
"""The same as `REPEATED`, for the recipes that test how short a run can be."""
LOOKS = {
    ("without decay", 1_500, "AVX512"): 100,
    ("short first", 1_060, "AVX512"): 265,
    ("a higher rate", 1_060, "AVX512"): 265,
    ("a higher rate", 1_300, "AVX512"): 260,
}
"""The number of steps between two scores, for the repeated runs in which it is not 250."""
GRID: list[Setting] = [
    *(
        {**BASE, **change, "seed": seed}
        for name, change in CHANGES.items()
        for seed in range(2 if name in TWICE else 1)
    ),
    *(
        {
            **BASE,
            **RECIPES[recipe],
            "steps": steps,
            "instructions": instructions,
            "every": LOOKS.get((recipe, steps, instructions), 250),
            "seed": seed,
        }
        for (recipe, steps, instructions), seeds in (REPEATED | HURRIED).items()
        for seed in range(seeds)
    ),
]


def get_run_key(setting: Setting) -> tuple[str, int, str]:
    """Return a run's recipe, steps and processor instructions, which are its key in `REPEATED`."""
    changed = {name: setting[name] for name in ("training", "order") if setting.get(name)}
    recipe = next((name for name, recipe in RECIPES.items() if recipe == changed), "one change")
    return recipe, setting["steps"], setting["instructions"]


def get_change_name(setting: Setting) -> str:
    """Return the key in `CHANGES` that describes how this setting differs from `BASE`.

    The fields "training", "steps", "every", "instructions" and "seed" are not compared.
    """
    own = ("training", "steps", "every", "instructions", "seed")
    changed = {key: value for key, value in setting.items() if key not in own and value}
    return next(name for name, change in CHANGES.items() if change == changed)


def run(setting: Setting) -> dict[str, Any]:
    """Train one model, score it during training, and test it.

    Returns:
        "rows": a tuple for each scored step: the step, the exact match (greedy) and the pronoun
            accuracy. Both scores are measured with the averaged weights on 1,000 validation
            sentences.
        "test": the same two scores for the finished model on the test set, where half of the
            sentences combine words in ways that never occur in training.
    """
    splits = find_corpus("world").splits()
    preset = PRESETS["tiny"]
    translator = build_translator(splits, "world", preset, setting["seed"], **setting["model"])
    pairs = sorted(splits.validation[:SENTENCES], key=lambda pair: len(pair.source_tokens))
    changes = {**WITHOUT_DECAY, **setting["training"]}
    training = make_study_config(preset.training, setting["steps"], setting["seed"], **changes)
    rows: list[tuple[int, float, float]] = []

    def look(report: StepReport) -> None:
        if report.step % setting["every"] == 0 or report.step == setting["steps"]:
            with trainer.ema_weights():
                exact, pronouns = score_accuracy(translator, pairs)
            rows.append((report.step, round(exact, 4), round(pronouns, 4)))

    sooner_changes.rescale_parameters(translator.model, setting.get("start", {}))
    trainer = make_trainer(
        translator, replace(splits, validation=[]), training, on_step=look, show_progress=False
    )
    if setting.get("optimizer") == "muon":
        trainer.optimizer = sooner_changes.make_muon_and_adam(trainer)
    if "embedding_rate" in setting:
        trainer.optimizer = sooner_changes.make_adam_with_embedding_rate(
            trainer, setting["embedding_rate"]
        )
    if setting.get("order") == "taught":
        trainer.batches = sooner_changes.CurriculumBatches(trainer.batches, splits.train)
    trainer.train()
    return {
        "rows": rows,
        "test": [round(share, 4) for share in score_accuracy(translator, splits.test)],
    }


def score_accuracy(translator: Translator, pairs: Sequence[WorldPair]) -> tuple[float, float]:
    """Return the exact match and the pronoun accuracy, from 0 to 1."""
    exact, pronouns = judge_pairs(translator, pairs)
    return sum(exact) / len(exact), sum(pronouns) / len(pronouns)


@torch.no_grad()
def judge_pairs(
    translator: Translator, pairs: Sequence[WorldPair]
) -> tuple[list[bool], list[bool]]:
    """Return, for each sentence and for each pronoun, whether the translator gets it right.

    A single pass with teacher forcing is enough. Greedy decoding writes the reference exactly if
    each of its words is the most probable one given those before it, so nothing has to be
    generated. A pronoun is judged after the reference's words, and the second list leaves out pairs
    without a pronoun.
    """
    model: Transformer = translator.model.eval()
    exact, pronouns = [], []
    examples = encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer)
    for start in range(0, len(pairs), BATCH_SIZE):
        batch = collate(examples[start : start + BATCH_SIZE])
        right = model(batch.source, batch.target_input).argmax(dim=-1) == batch.target_output
        exact += (right | (batch.target_output == PAD_ID)).all(dim=1).tolist()
        for row, pair in zip(right.tolist(), pairs[start : start + BATCH_SIZE], strict=True):
            if pair.coreference is not None:
                pronouns.append(row[pair.coreference.target_pronoun])
    return exact, pronouns


if __name__ == "__main__":
    here = torch.backends.cpu.get_cpu_capability()
    stored = {entry["hash"] for entry in load_runs(NAME)}
    run_study_command(
        NAME, run, [s for s in GRID if s["instructions"] == here or hash_setting(s) in stored]
    )
