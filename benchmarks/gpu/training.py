"""Two training runs with the package's own recipes: the bilingual world, and Debian's French."""

from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.report import table
from transformer_lab.data import corpora
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import split_groups
from transformer_lab.data.world import grammar
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.evaluation import evaluate
from transformer_lab.runs.presets import PRESETS

TEXT = Path("build/gpu")
"""The folder of Debian's French if it was taken along: the cache of `corpora.debian`."""
GOAL = 0.98


def train_world(device: torch.device, seconds: float) -> str:
    """Train with the shipped model's recipe; report when 98% of unseen sentences are right."""
    # Without a GPU, a tenth of the pairs is enough: there is no time to train on more.
    on_gpu = device.type == "cuda"
    splits = find_corpus("world").splits() if on_gpu else grammar.world(train=6_000)
    training = replace(
        PRESETS["tiny"].training,
        device=str(device),
        max_minutes=seconds / 60,
        validate_every=250,
        save_every=None,
        save_minutes=None,
    )
    translator = build_translator(splits, "world", PRESETS["tiny"])
    few = replace(splits, validation=splits.validation[:500])
    trainer = make_trainer(translator, few, training, show_progress=False, watch_exact_match=500)
    reached: list[tuple[int, float, float]] = []
    trainer.on_step = lambda report: (
        reached.append((report.step, report.seconds, report.validation["exact_match"]))
        if report.validation
        else None
    )
    trainer.train()
    first = next((row for row in reached if row[2] >= GOAL), None)
    rows = [(f"{step:,}", f"{at:.1f}", f"{share:.1%}") for step, at, share in reached]
    when = f"after {first[1]:.1f} s, at step {first[0]:,}" if first else "not within its time"
    now = trainer.progress
    return (
        f"{GOAL:.0%} of 500 unseen sentences exactly right: {when}. {now.step:,} steps took "
        f"{now.seconds:.1f} s, including these tests.\n\n"
        + table(["step", "seconds", "exact match"], rows)
    )


def load_french(device: torch.device) -> Splits[Pair]:
    """Return Debian's French from the text taken along; without a GPU, as much as a minute allows."""
    if device.type == "cuda":
        return corpora.debian("fr", cache_folder=TEXT)
    rows = corpora.debian_rows("fr", cache_folder=TEXT)[:3_000]
    return split_groups(rows, 0, 100, 100)


def train_french(device: torch.device, seconds: float) -> str:
    """Train the preset small on Debian's French for nearly all the time; return steps and losses."""
    splits = load_french(device)
    translator = build_translator(splits, "debian:fr", PRESETS["small"])
    training = replace(
        PRESETS["small"].training,
        device=str(device),
        max_minutes=min(2.0, 0.9 * seconds / 60),
        save_every=None,
        save_minutes=None,
    )
    trainer = make_trainer(translator, splits, training, show_progress=False)
    stop = trainer.train()
    now = trainer.progress
    seen = f"{now.step:,} steps, {now.tokens:,} target tokens in {now.seconds:.0f} s ({stop})"
    rows = [(f"{row['step']:,}", f"{row['validation_loss']:.3f}") for row in now.history]
    rows.append(("at the end", f"{trainer.validation_loss():.3f}"))
    found = f"{len(splits.train):,} pairs, preset small, {trainer.dtype}: {seen}.\n\n"
    found += table(["step", "validation loss, nats"], rows)
    if device.type == "cuda":
        scores = evaluate(translator, splits.test, beam_size=1)
        found += f"\n{scores.sentences} unseen sentences, greedy: BLEU {scores.bleu:.1f}"
        found += f" ({scores.bleu_signature})."
    return found
