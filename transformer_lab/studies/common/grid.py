"""A study's grid of runs: each run is done only once, and stored as soon as it ends.

    python -m transformer_lab.studies.ROOM.NAME [--workers 2] [--minutes 60]

The command does the runs that are not stored yet. Each worker is a process with a single thread.
"""

import argparse
import hashlib
import json
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TrainingConfig
from transformer_lab.studies.common import store

Setting = dict[str, Any]
"""Everything that a run depends on, including its seed, as JSON values."""
Run = Callable[[Setting], dict[str, Any]]
"""A function that does one run; workers must be able to import it from a module."""


def make_study_config(
    recipe: TrainingConfig, steps: int, seed: int, **changes: Any
) -> TrainingConfig:
    """Return the training configuration for one run of a study.

    The run trains on the CPU, validates once at the end, and saves no model.
    """
    return replace(
        recipe,
        max_steps=steps,
        validate_every=steps,
        save_every=None,
        seed=seed,
        device="cpu",
        **changes,
    )


def hash_setting(setting: Setting) -> str:
    """Return the hash that identifies a setting's stored run.

    It is the first twelve hexadecimal digits of the SHA-256 of the setting's JSON with sorted keys.
    """
    text = json.dumps(setting, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def run_missing(
    study: str,
    run: Run,
    grid: Iterable[Setting],
    *,
    workers: int = 2,
    minutes: float = 60.0,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Do the runs of `grid` that are not stored yet, and return the complete result.

    Each run is stored as soon as it ends. After `minutes`, no new run is started. The result lists
    the stored runs in the order of the grid; a stored run that is no longer in the grid is left
    out.
    """
    settings = list(grid)
    found = {r["hash"]: r for r in load_runs(study, folder)}
    missing = [s for s in settings if hash_setting(s) not in found]
    print(f"{study}: {len(settings) - len(missing)} of {len(settings)} runs are stored", flush=True)
    end = time.monotonic() + 60 * minutes

    def whole() -> dict[str, Any]:
        return describe_runs(
            study, [found[hash_setting(s)] for s in settings if hash_setting(s) in found]
        )

    with ProcessPoolExecutor(workers, get_context("spawn"), use_one_thread) as pool:
        waiting = iter(missing)
        under_way = {pool.submit(time_run, run, s) for s in islice(waiting, workers)}
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                entry = future.result()
                found[entry["hash"]] = entry
                store.save(study, whole(), folder)
                print(f"{entry['setting']}: {entry['seconds']} s", flush=True)
                following = next(waiting, None) if time.monotonic() < end else None
                if following is not None:
                    under_way.add(pool.submit(time_run, run, following))
    return whole()


def use_one_thread() -> None:
    """Limit PyTorch to one thread, because floating-point sums depend on the number of threads."""
    torch.set_num_threads(1)


def time_run(run: Run, setting: Setting) -> dict[str, Any]:
    """Do one run, and return the entry to store: its setting, hash, seconds and result."""
    start = time.perf_counter()
    result = run(setting)
    seconds = round(time.perf_counter() - start, 1)
    return {"setting": setting, "hash": hash_setting(setting), "seconds": seconds, "result": result}


def load_runs(study: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return a study's stored runs, or an empty list if it has no file yet."""
    is_there = store.result_path(study, folder).exists()
    return store.load(study, folder)["runs"] if is_there else []


def describe_runs(study: str, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the contents of a result file: command, machine, total seconds and runs."""
    return {
        "command": store.study_command(study),
        "machine": {"processor": platform.machine(), "torch": torch.__version__.partition("+")[0]},
        "seconds": round(sum(r["seconds"] for r in runs), 1),
        "runs": list(runs),
    }


def run_study_command(study: str, run: Run, grid: Iterable[Setting]) -> None:
    """Run a study from the command line, with the options `--workers` and `--minutes`."""
    parser = argparse.ArgumentParser(prog=store.study_command(study))
    parser.add_argument(
        "--workers", type=int, default=2, help="number of processes, with one thread each"
    )
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="minutes after which no new run starts"
    )
    chosen = parser.parse_args()
    run_missing(study, run, grid, workers=chosen.workers, minutes=chosen.minutes)
