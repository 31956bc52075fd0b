"""One start of a run on a stored corpus: how long it takes to the first step, and its memory.

    python -m benchmarks.large_start CORPUS OUT STEPS LAUNCHED

`LAUNCHED` is the time at which the caller began, in seconds. With torchrun, each process prints a
line of its own.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch.distributed as dist

from benchmarks.memory import read_kilobytes
from transformer_lab.data.corpus import find_corpus
from transformer_lab.runs.building import build_translator, encode_fitting
from transformer_lab.runs.presets import PRESETS
from transformer_lab.runs.run import begin_run
from transformer_lab.training import distributed

PRESET = "small"


def time_preparing(corpus: str) -> dict[str, Any]:
    """Return the seconds of each part of preparing a corpus, and its number of pairs."""
    preset, seconds, before = PRESETS[PRESET], {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal before
        seconds[name] = time.perf_counter() - before
        before = time.perf_counter()

    splits = find_corpus(corpus).splits()
    lap("reading")
    translator = build_translator(splits, corpus, preset)
    lap("pieces")
    examples = encode_fitting(
        translator,
        splits.train,
        min(translator.model.config.max_length, preset.training.batch_tokens),
    )
    lap("ids")
    return {"seconds": seconds, "pairs": len(splits.train), "examples": len(examples)}


def measure_memory() -> dict[str, float]:
    """Return megabytes: the peak, the current size, the private part, and the fair share."""
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8").splitlines()
    share = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    now = {name: read_kilobytes(name) for name in ("VmHWM", "VmRSS", "RssAnon")} | {"Pss": share}
    return {name: count * 1024 / 1e6 for name, count in now.items()}  # Linux counts 1,024 bytes


def main() -> None:
    """Prepare the corpus if STEPS is 0, else train for STEPS steps; print what was measured."""
    corpus, out, steps, launched = sys.argv[1:]
    if steps == "0":
        print(json.dumps(time_preparing(corpus) | {"memory": measure_memory()}))
        return
    first: list[float] = []

    def note(report: Any) -> None:
        first.append(time.time() - float(launched))

    with distributed.process_group("cpu"):
        run = begin_run(
            out, corpus, preset=PRESET, max_steps=int(steps), device="cpu", on_step=note,
            show_progress=False,
        )  # fmt: skip
        begun = run.trainer.train()
        if distributed.world_size() > 1:
            dist.barrier()
        found = {"stop": begun, "first_step": first[:1], "memory": measure_memory()}
        if distributed.world_size() > 1:
            dist.barrier()
    sys.__stdout__.write(json.dumps(found) + "\n")  # type: ignore[union-attr]
    run.release()


if __name__ == "__main__":
    main()
