"""Lesson 09's study: the same training without warm-up, with ten times the rate, or with pre-norm.

    python -m transformer_lab.studies.without_warmup.training_variants

The study takes about 40 minutes on one core. A run that is already stored is not repeated.
"""

from dataclasses import asdict, dataclass
from typing import Any

from transformer_lab.config import Norm
from transformer_lab.data.corpus import find_corpus
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.studies.common import store
from transformer_lab.studies.common.first_recipe import FIRST
from transformer_lab.studies.common.grid import make_study_config
from transformer_lab.studies.common.step_record import StepRecord
from transformer_lab.training.trainer import LossIsNaNError

NAME = "training_variants"
EVERY = 20
"""The number of steps that each stored loss is averaged over."""


@dataclass(frozen=True)
class Variant:
    """One way to train; the default values are those of the first recipe."""

    name: str
    layers: int = 2
    norm: Norm = "post"
    warmup_steps: int = 200
    peak_rate: float = 2e-3
    max_steps: int = 2_400


VARIANTS = [
    Variant("the first recipe"),
    Variant("no warm-up", warmup_steps=1),
    Variant("ten times the rate", peak_rate=2e-2),
    Variant("pre-norm", norm="pre"),
    Variant("pre-norm, no warm-up", norm="pre", warmup_steps=1),
    Variant("pre-norm, ten times the rate", norm="pre", peak_rate=2e-2),
    Variant("6 + 6 layers", layers=6, max_steps=800),
    Variant("6 + 6 layers, no warm-up", layers=6, max_steps=800, warmup_steps=1),
    Variant("6 + 6 layers, pre-norm", layers=6, max_steps=800, norm="pre"),
    Variant(
        "6 + 6 layers, pre-norm, no warm-up", layers=6, max_steps=800, norm="pre", warmup_steps=1
    ),
    Variant("6 + 6 layers, a quarter of the rate", layers=6, max_steps=800, peak_rate=5e-4),
    Variant(
        "6 + 6 layers, a quarter of the rate, no warm-up",
        layers=6,
        max_steps=800,
        peak_rate=5e-4,
        warmup_steps=1,
    ),
]
SEEDS = (0, 1)
MORE_SEEDS = {"the first recipe": (2, 3), "no warm-up": (2, 3)}
"""More seeds for two variants whose difference is no larger than that between two seeds."""


def run(variant: Variant, seed: int) -> dict[str, Any]:
    """Train one translator on the bilingual world, and return its losses and scores.

    Returns:
        "variant": the variant's fields.
        "seed": the seed.
        "losses": the mean label-smoothed loss of each group of `EVERY` steps, in nats.
        "largest_gradient_norms": the largest gradient norm of each group.
        "stopped": the number of steps completed when the trainer noticed that the loss was NaN or
            infinite.

        Unless the run stopped, the last entry of the trainer's history is added: the validation
        loss, and the share of 300 validation sentences translated exactly (greedy).
    """
    splits = find_corpus("world").splits(seed)
    layers = {"num_encoder_layers": variant.layers, "num_decoder_layers": variant.layers}
    translator = build_translator(splits, "world", FIRST, seed, norm=variant.norm, **layers)
    training = make_study_config(
        FIRST.training,
        variant.max_steps,
        seed,
        warmup_steps=variant.warmup_steps,
        peak_rate=variant.peak_rate,
    )
    record = StepRecord()
    trainer = make_trainer(
        translator, splits, training, on_step=record, show_progress=False, watch_exact_match=300
    )
    found: dict[str, Any] = {"variant": asdict(variant), "seed": seed}
    try:
        trainer.train()
        found |= trainer.progress.history[-1]
    except LossIsNaNError:
        found["stopped"] = len(record.losses)
    return found | record.summarize(EVERY)


def main() -> None:
    """Do the runs that are not stored yet, and store the result after each one."""
    try:
        runs = store.load(NAME)["runs"]
    except ValueError:
        runs = []
    for variant in VARIANTS:
        for seed in (*SEEDS, *MORE_SEEDS.get(variant.name, ())):
            if any(r["variant"] == asdict(variant) and r["seed"] == seed for r in runs):
                continue
            runs.append(run(variant, seed))
            store.save(NAME, {"every": EVERY, "runs": runs})
            shown = {k: v for k, v in runs[-1].items() if isinstance(v, int | float)}
            print(variant.name, shown, flush=True)


if __name__ == "__main__":
    main()
