"""Lesson 15's study: what does attention cost, compared with an LSTM layer and a convolution?

    python -m transformer_lab.studies.what_attention_costs.costs

Times and memory depend on the machine. All parts are measured in turn, round after round, in a
single process that should have the machine to itself (about eight minutes). Gradient reach and
errors are the same on every machine.
"""

import argparse
from typing import Any

import torch

from transformer_lab.studies.common import store
from transformer_lab.studies.common.grid import Setting, describe_runs, run_missing
from transformer_lab.studies.residual_and_norm.gradient_reach import measure_all_reaches
from transformer_lab.studies.what_attention_costs.attention_ways import (
    MEMORY_KINDS,
    measure_errors,
    measure_peak,
    time_by_length,
)
from transformer_lab.studies.what_attention_costs.layer_kinds import time_layers

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
"""Runs that do not depend on the machine; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Measure one round of one part of the study, named by `setting["part"]`.

    Returns:
        The result depends on the part:

        For "exact": "reach" and "errors", from `measure_all_reaches` and `measure_errors`.
        For "memory": the peak bytes for each of `MEMORY_KINDS` at each of `MEMORY_LENGTHS`.
        For "lengths": the result of `time_by_length`.
        For "layers": the results of `time_layers` over several lengths ("length") and over several
            batch sizes ("batch"), for each of "forward" and "training".
    """
    if setting["part"] == "exact":
        return {
            "reach": measure_all_reaches(setting["seed"]),
            "errors": measure_errors(setting["seed"]),
        }
    torch.set_num_threads(setting["threads"])
    if setting["part"] == "memory":
        return {kind: [measure_peak(kind, n) for n in MEMORY_LENGTHS] for kind in MEMORY_KINDS}
    if setting["part"] == "lengths":
        return time_by_length(LENGTHS)
    return {
        step: {
            "length": time_layers(LENGTHS, [1], step),
            "batch": time_layers([BATCH_LENGTH], BATCHES, step),
        }
        for step in ("forward", "training")
    }


def main() -> None:
    """Run the study from the command line, one run at a time.

    Stored runs are skipped, unless `--again` is given. After `--minutes`, no new run is started.
    """
    parser = argparse.ArgumentParser(prog=store.study_command(NAME))
    parser.add_argument(
        "--again", action="store_true", help="repeat measurements that are already stored"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="minutes after which no new run starts"
    )
    chosen = parser.parse_args()
    if chosen.again:
        store.save(NAME, describe_runs(NAME, []))
    run_missing(NAME, run, [*SMALL, *GRID], workers=1, minutes=chosen.minutes)


if __name__ == "__main__":
    main()
