"""Lesson 15's GPU measurement: attention against recurrence, in one layer and in translators.

    python -m transformer_lab.studies.what_attention_costs.gpu

Everything is measured on the GPU, and also on the same machine's CPU if that is quick enough. The
times are those of one machine on one day, so no test repeats them; `benchmarks/gpu` measures the
same things with these functions. The translators train on Debian's French, which is fetched through
apt.
"""

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from statistics import median
from typing import Any

import torch
from torch import nn

from transformer_lab.config import TransformerConfig
from transformer_lab.data import corpora
from transformer_lab.data.batching import PAD_ID, Batch, Example, buckets, collate, encode_pairs
from transformer_lab.data.pair import Pair
from transformer_lab.data.tokenizer import BPETokenizer
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common import store
from transformer_lab.studies.common.grid import Setting, describe_runs, time_run
from transformer_lab.studies.common.stopwatch import synchronize
from transformer_lab.studies.recurrence_or_attention.recurrent import (
    KINDS,
    count_parameters,
    make_model_like,
)
from transformer_lab.studies.what_attention_costs.layer_kinds import time_layers

NAME = "gpu"
ROUNDS = 3
LENGTHS = (64, 256, 1024)
LAYER_TOKENS = 16_384
"""The number of tokens per step, the same at every length so that only the length differs."""
NUM_PAIRS = 20_000
LONGEST = 100
NUM_BATCHES = 2

SIZES = {
    "cuda": [
        ("tiny", "fp32", 2_048),
        ("tiny", "fp32", 16_384),
        ("small", "fp32", 2_048),
        ("small", "fp32", 16_384),
        ("base", "fp32", 16_384),
        ("base", "bf16", 16_384),
    ],
    "cpu": [("tiny", "fp32", 2_048), ("small", "fp32", 2_048)],
}
"""For each kind of device, the presets, precisions and maximum numbers of tokens per batch."""

GRID: list[Setting] = [
    *({"part": "layer", "device": device, "length": n} for device in SIZES for n in LENGTHS),
    *(
        {"part": "translators", "device": device, "preset": p, "precision": of, "tokens": n}
        for device, sizes in SIZES.items()
        for p, of, n in sizes
    ),
]


def run(setting: Setting) -> dict[str, Any]:
    """Measure one layer at one length, or whole translators of one size.

    Returns:
        The result of `measure_layer` or `measure_translators`.
    """
    if setting["part"] == "layer":
        return measure_layer(setting)
    pairs = corpora.debian("fr").train[:NUM_PAIRS]
    return measure_translators(setting, encode_examples(tuple(pairs), setting["preset"]))


def measure_layer(setting: Setting) -> dict[str, Any]:
    """Time a training step of each kind of layer over `LAYER_TOKENS` tokens.

    Returns:
        "milliseconds": the time of the fastest of several calls, by kind of layer.
        "times_as_long": the LSTM's time divided by attention's.
    """
    length = setting["length"]
    times = time_layers([length], [LAYER_TOKENS // length], "training", setting["device"])
    return {
        "milliseconds": {kind: round(1e3 * seconds[0], 2) for kind, seconds in times.items()},
        "times_as_long": round(times["LSTM"][0] / times["attention"][0], 2),
    }


@lru_cache(maxsize=len(PRESETS))
def encode_examples(pairs: tuple[Pair, ...], preset: str) -> list[Example]:
    """Encode pairs with a vocabulary of the preset's size, drop long ones, and shuffle the rest."""
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    tokenizer = BPETokenizer.train(texts, PRESETS[preset].vocab_size)
    examples = [e for e in encode_pairs(pairs, tokenizer, tokenizer) if e.length <= LONGEST]
    random.Random(0).shuffle(examples)
    return examples


def make_config(preset: str) -> TransformerConfig:
    """Return a preset's model configuration without dropout, to match the recurrent models."""
    chosen = PRESETS[preset]
    return chosen.model(chosen.vocab_size, chosen.vocab_size, dropout=0.0, tie_source_target=False)


@dataclass
class PlainTraining:
    """A plain training loop: AdamW, label smoothing, gradient clipping and optional bfloat16."""

    model: nn.Module
    device: torch.device
    precision: str

    def __post_init__(self) -> None:
        self.model.to(self.device).train()
        self.criterion = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=0.1)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=1e-3,
            betas=(0.9, 0.98),
            eps=1e-9,
            weight_decay=0.0,
            fused=True,
        )

    def step(self, batch: Batch) -> torch.Tensor:
        """Take one step, and return the loss as a tensor, so the CPU does not wait for the GPU."""
        batch = batch.to(self.device)
        halved = self.precision == "bf16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=halved):
            logits = self.model(batch.source, batch.target_input)
            loss: torch.Tensor = self.criterion(logits.flatten(0, 1), batch.target_output.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()


def time_steps(loop: PlainTraining, batches: Sequence[Batch]) -> float:
    """Take one step on each batch, and return the total time in seconds.

    Raises:
        ValueError: If a loss is not a finite number.
    """
    start = time.perf_counter()
    losses = [loop.step(batch) for batch in batches]
    synchronize(loop.device)
    seconds = time.perf_counter() - start
    if not torch.stack(losses).isfinite().all():
        raise ValueError(f"the loss of {type(loop.model).__name__} is not finite")
    return seconds


def measure_translators(setting: Setting, examples: list[Example]) -> dict[str, Any]:
    """Time the training of three translators of about the same size on the same batches.

    The three take turns, for `ROUNDS` rounds after a warm-up round that does not count.

    Returns:
        For each of `KINDS`:

        "parameters": the parameter count in millions.
        "rate": the speed in the median round, in thousands of tokens per second (padding excluded).
        "fastest": the speed in the fastest round.
        "times_as_long": the time divided by the Transformer's, as the median over the rounds.
    """
    groups = buckets(examples, setting["tokens"], seed=0)[:NUM_BATCHES]
    batches = [collate(group) for group in groups]
    tokens = sum(len(e.source) + len(e.target) - 1 for group in groups for e in group)
    config, device = make_config(setting["preset"]), torch.device(setting["device"])
    loops = {}
    for kind in KINDS:
        torch.manual_seed(0)
        loops[kind] = PlainTraining(make_model_like(kind, config), device, setting["precision"])
    rounds = [
        {kind: time_steps(loop, batches) for kind, loop in loops.items()} for _ in range(1 + ROUNDS)
    ][1:]
    found = {}
    for kind in KINDS:
        seconds = [times[kind] for times in rounds]
        ratios = [times[kind] / times["Transformer"] for times in rounds]
        found[kind] = {
            "parameters": round(count_parameters(partial(make_model_like, kind, config)) / 1e6, 1),
            "rate": round(tokens / median(seconds) / 1e3, 1),
            "fastest": round(tokens / min(seconds) / 1e3, 1),
            "times_as_long": round(median(ratios), 2),
        }
    return found


def main() -> None:
    """Rerun all measurements and store the results."""
    argparse.ArgumentParser(prog=store.study_command(NAME), description=__doc__).parse_args()
    torch.manual_seed(0)
    measured = describe_runs(NAME, [time_run(run, setting) for setting in GRID])
    measured["machine"]["processor"] = torch.cuda.get_device_name()
    store.save(NAME, measured)


if __name__ == "__main__":
    main()
