"""python -m benchmarks.gpu --minutes 8: test, train and measure on a GPU, and write RESULTS-gpu.md.

The parts run in order of importance, each within its share of the minutes. The file is written after
each part, so that nothing measured is lost if a borrowed machine is taken back. Without a GPU, the
same parts run on the CPU with less to do, in five minutes, and show that the command works.

It needs PyTorch, transformers, safetensors, tokenizers, sacrebleu, jaxtyping and pytest, but neither
Jupyter nor a network, because a borrowed machine may have none. So take Debian's French along: run
`python -m benchmarks.gpu --fetch` where there is apt, and copy the folder build/gpu (12 MB).
"""

import argparse
import platform
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.gpu import checks, lesson, recurrence, throughput, training
from benchmarks.machine import TORCH
from benchmarks.report import write_sections
from transformer_lab.data import corpora

RESULTS = Path(__file__).parent.parent / "RESULTS-gpu.md"
CHECK = Path("build/gpu/check.md")
"""The file for a run without a GPU, whose numbers only show that the command works."""
TITLE = """# On a GPU

Written by `python -m benchmarks.gpu`, not by hand. Each part ran once, so a number here says what
happened on this machine that day. A part that failed is listed with its error.
"""
Part = Callable[[torch.device, float], str]
PARTS: dict[str, tuple[Part, float]] = {
    "Tests on the device": (checks.run_tests, 75),
    "The bilingual world": (training.train_world, 40),
    "Recurrence beside attention": (recurrence.section, 50),
    "Tokens a second": (throughput.section, 120),
    "Two minutes of Debian's French": (training.train_french, 125),
    "Lesson 09's training cells": (lesson.section, 70),
}
"""The parts, each with its seconds out of the eight minutes."""


def describe_device(device: torch.device) -> str:
    """Return the device's name, and the versions that ran on it."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU, the CPU"
    return f"{name}; torch {TORCH}, Python {platform.python_version()}."


def run_part(part: Part, device: torch.device, seconds: float) -> tuple[str, bool]:
    """Return what a part found and how long it took, or its error; and whether it succeeded."""
    start = time.perf_counter()
    try:
        found, held = part(device, seconds), True
    except Exception as error:  # an error in one part must not cost the others' results
        traceback.print_exc()
        found, held = f"**failed**: {type(error).__name__}: {error}", False
    return f"{found}\n\nTook {time.perf_counter() - start:.0f} s.", held


def main() -> None:
    """Run the parts; the exit status is 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--minutes", type=float, default=8.0, help="minutes for all parts together")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--fetch", action="store_true", help="only fetch the text to take along")
    chosen = parser.parse_args()
    if chosen.fetch:
        corpora.debian_rows("fr", cache_folder=training.TEXT)
        return
    warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")
    device = torch.device(chosen.device)
    if device.type == "cpu":
        torch.set_num_threads(1)  # with so little to do, one thread is faster
    path = RESULTS if device.type == "cuda" else CHECK
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sections({"The machine": describe_device(device)}, path, TITLE)
    failed = []
    for name in chosen.only:
        part, seconds = PARTS[name]
        found, held = run_part(part, device, seconds * chosen.minutes / 8)
        write_sections({name: found}, path, TITLE)
        print(f"## {name}\n\n{found}\n", flush=True)
        failed += [] if held else [name]
    print(f"{len(chosen.only) - len(failed)} passed, {len(failed)} failed")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
