"""Lesson 14's fourth study: which depths and peak rates do post-norm and pre-norm tolerate?

    python -m transformer_lab.studies.depth_and_rate.stability

The runs are short and use the bilingual world. They combine 1, 3 or 6 layers on each side with
three peak rates, and with or without warm-up. Lesson 09's `training_variants` has longer runs of a
wider model at fewer rates. The study does not ask whether the runs that learn slowly here would
catch up with longer training.
"""

from dataclasses import replace
from typing import Any

from transformer_lab.runs.building import make_trainer
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.step_record import StepRecord
from transformer_lab.studies.table_3 import ablations
from transformer_lab.training.trainer import LossIsNaNError

NAME = "stability"
STEPS = 400
EVERY = 20
"""The number of steps that each stored loss is averaged over."""
DEPTHS = (1, 3, 6)
RATES = (5e-4, 2e-3, 8e-3)
WARM_UPS = (100, 1)
"""The number of steps until the peak rate is reached; 1 means no warm-up."""

# A run sees most sentences only twice, so there is nothing to regularise yet.
SHAPE = ablations.dropout_setting()
GRID: list[Setting] = [
    {"norm": norm, "num_layers": layers, "peak_rate": rate, "warmup": warmup}
    | {"steps": STEPS, "pairs": 4_000, "seed": seed}
    for seed in (0, 1, 2)
    for layers in DEPTHS
    for norm in ("post", "pre")
    for rate in RATES
    for warmup in WARM_UPS
]
SMALL: list[Setting] = [
    {"norm": "pre", "num_layers": 1, "peak_rate": 2e-3, "warmup": 10}
    | {"steps": 40, "pairs": 1_000, "seed": seed}
    for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one model and return its losses and scores.

    Returns:
        "losses": the mean label-smoothed loss of each group of `EVERY` steps, in nats.
        "largest_gradient_norms": the largest gradient norm of each group.
        "test_loss": the next-word cross-entropy on the test sentences, in nats.
        "next_word": the next-word accuracy on the test sentences.
        "stopped": the number of steps completed when the trainer noticed that the loss was NaN or
            infinite. It replaces "test_loss" and "next_word".
    """
    whole = {**ablations.BASE, **SHAPE, **setting}
    splits = ablations.draw_splits(whole)
    translator = ablations.build(whole, splits)
    splits = replace(splits, train=splits.train[: setting["pairs"]])
    training = replace(ablations.make_training_config(whole), warmup_steps=setting["warmup"])
    record = StepRecord()
    trainer = make_trainer(translator, splits, training, on_step=record, show_progress=False)
    found: dict[str, Any] = {}
    try:
        trainer.train()
        found["test_loss"], found["next_word"] = ablations.score_next_words(translator, splits.test)
    except LossIsNaNError:
        found["stopped"] = len(record.losses)
    return found | record.summarize(EVERY)


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
