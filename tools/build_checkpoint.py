"""Train the translator that comes with the package, and keep a few snapshots of its training.

It writes transformer_lab/pretrained/tiny: half-precision weights of the finished
model (under 2 MB) and of the steps in SNAPSHOTS, to show how heads form.

The website's lab compares it with a second training run on the same sentences with another seed:

    python tools/build_checkpoint.py --seed 8 --out docs/models/seed_8

That folder has no snapshots.

The recipe is that of `transformer-lab train`. With any seed, it translates (lesson 09), but the
seeds differ in how many heads share the work of choosing a pronoun. SEED is one in which a single
encoder head does most of it, so that a beginner has one head to find. Lesson 12 says what the
others look like.
"""

import argparse
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from transformer_lab.data.corpus import find_corpus, fingerprint
from transformer_lab.model.weights import save_weights
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.card import CARD, model_card
from transformer_lab.runs.evaluation import Evaluation, evaluate
from transformer_lab.runs.presets import PRESETS
from transformer_lab.storage.folder import holds_translator
from transformer_lab.training.trainer import StepReport
from transformer_lab.translator import PRETRAINED, Translator

WANTED = 0.98
SEED = 7
SNAPSHOTS = (200, 500, 1_000, 1_500)
CHOSEN = """
## How it was chosen

Ten seeds of this recipe were trained, and this is seed 7. It was chosen because one of its heads alone
finds the noun that a pronoun stands for, which makes it easy to study. In many of the others, two heads
share that work. So it is not evidence of how often such a head forms. For that, see the other seeds in
lesson 12.
"""
"""What the shipped model's card says about SEED."""
ANOTHER = """
## What it is for

It shows which heads form again in another training run, and which do not. It learnt from the same
sentences as the translator that comes with the package. Only the numbers it began with and the order
of the batches differ. It was not chosen for its heads.
"""
"""What the card of a model with another seed says."""


def main() -> None:
    """Train, save beside the old model, and replace that one if all went well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED, help="seed of weights and batches")
    parser.add_argument("--out", type=Path, default=PRETRAINED, help="folder to write to")
    options = parser.parse_args()
    out = options.out.resolve()
    if out.exists() and not holds_translator(out):
        parser.error(f"--out is {out}; expected a new folder, or that of a translator to replace")
    ships = out == PRETRAINED.resolve()
    torch.set_num_threads(1)  # two threads would add in another order
    building = out.with_name(f"{out.name}-building")
    shutil.rmtree(building, ignore_errors=True)

    preset = PRESETS["tiny"]
    training = replace(preset.training, seed=options.seed, device="cpu")
    splits = find_corpus("world").splits()
    translator = build_translator(splits, "world", preset, options.seed)
    translator.save_description(building)
    trainer = make_trainer(translator, splits, training, watch_exact_match=500)

    def keep(report: StepReport) -> None:
        if ships and report.step in SNAPSHOTS:
            with trainer.ema_weights():  # with averaged weights, as for the finished model
                path = building / f"step_{report.step:05}.safetensors"
                save_weights(translator.model, path, HALF)

    trainer.on_step = keep
    trainer.train()
    translator.about |= {
        "seed": 0,  # for the sentences; "training" has the seed of weights and batches
        "preset": "tiny",
        "steps": trainer.progress.step,
        "training": training.to_dict(),
        "data": fingerprint(splits.train),
        "made_by": "make checkpoint" if ships else f"build_checkpoint.py --seed {options.seed}",
    }
    translator.save(building, dtype=HALF)
    finished = Translator.load(building, device="cpu")
    card = model_card(finished, splits, show(finished, splits))
    card += CHOSEN if options.seed == SEED else ANOTHER
    (building / CARD).write_text(card, encoding="utf-8")
    shutil.rmtree(out, ignore_errors=True)
    building.rename(out)
    print_sizes(out)


HALF = torch.float16


def show(translator: Translator, splits: Any) -> Evaluation:
    """Print the model's scores in half precision; exit if they are too low to ship it."""
    evaluation = evaluate(translator, splits.test)
    if evaluation.exact_match < WANTED:
        raise SystemExit(
            f"exact match {evaluation.exact_match:.3f}; expected {WANTED}; the old model was kept"
        )
    print(f"exact match {evaluation.exact_match:.3f}, BLEU {evaluation.bleu:.1f}")
    for name, share in evaluation.by_construction.items():
        print(f"  {100 * share:5.1f} %  {name}")
    return evaluation


def print_sizes(folder: Path) -> None:
    """Print the sizes of the files that the package will contain."""
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size / 1e6:7.3f} MB  {path.name}")


if __name__ == "__main__":
    main()
