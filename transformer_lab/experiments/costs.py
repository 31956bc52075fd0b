"""Lesson 15's study: what attention costs, beside an LSTM layer and a convolution.

    python -m transformer_lab.experiments.costs

Times and memory are the machine's: rounds of everything by turns, in one process that should have
the machine for itself (about eight minutes). Gradient reach and errors are the same everywhere.
"""

import argparse
from typing import Any

import torch

from transformer_lab.experiments import store
from transformer_lab.experiments.attention_ways import MEMORY_KINDS, by_length, errors, peak_of
from transformer_lab.experiments.gradient_reach import reaches
from transformer_lab.experiments.layer_kinds import layer_seconds
from transformer_lab.experiments.study import Setting, described, remake

NAME = "costs"
LENGTHS = tuple(2**k for k in range(6, 14))
MEMORY_LENGTHS = LENGTHS[3:]
BATCHES, BATCH_LENGTH = (1, 4, 16, 64), 128

GRID: list[Setting] = [
    setting
    for number in range(5)
    for setting in (
        {"part": "lengths", "threads": 1, "round": number},
        {"part": "layers", "threads": 1, "round": number},
        {"part": "layers", "threads": 2, "round": number},
        *([{"part": "memory", "threads": 1, "round": number}] if number < 2 else []),
    )
]
SMALL: list[Setting] = [{"part": "exact", "seed": seed} for seed in range(5)]
"""What does not depend on the machine; one of these is repeated by the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """One round of one part; seconds and bytes are listed in the order of the lengths."""
    if setting["part"] == "exact":
        return {"reach": reaches(setting["seed"]), "errors": errors(setting["seed"])}
    torch.set_num_threads(setting["threads"])
    if setting["part"] == "memory":
        return {kind: [peak_of(kind, n) for n in MEMORY_LENGTHS] for kind in MEMORY_KINDS}
    if setting["part"] == "lengths":
        return by_length(LENGTHS)
    return {
        step: {
            "length": layer_seconds(LENGTHS, [1], step),
            "batch": layer_seconds([BATCH_LENGTH], BATCHES, step),
        }
        for step in ("forward", "training")
    }


def main() -> None:
    """Make what is missing, one run after the other."""
    parser = argparse.ArgumentParser(prog=f"python -m transformer_lab.experiments.{NAME}")
    parser.add_argument("--again", action="store_true", help="measure anew what is stored")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no run after these")
    chosen = parser.parse_args()
    if chosen.again:
        store.save(NAME, described(NAME, []))
    remake(NAME, run, [*SMALL, *GRID], workers=1, minutes=chosen.minutes)


if __name__ == "__main__":
    main()
