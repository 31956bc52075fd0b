"""A study is a grid of runs: each is done once, stored as soon as it is done, and never repeated.

    python -m transformer_lab.experiments.NAME [--workers 2] [--minutes 60]

makes what is missing of a study. Each worker is a process with one thread.
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
from transformer_lab.experiments import store

Setting = dict[str, Any]
"""All that a run depends on, its seed among it; JSON values."""
Run = Callable[[Setting], dict[str, Any]]
"""Does one run. A function of a module, so that a worker can find it."""


def quiet(recipe: TrainingConfig, steps: int, seed: int, **changes: Any) -> TrainingConfig:
    """A recipe as the runs of a study have it: validated at the end alone, never saved, on the CPU."""
    return replace(
        recipe,
        max_steps=steps,
        validate_every=steps,
        save_every=None,
        seed=seed,
        device="cpu",
        **changes,
    )


def name_of(setting: Setting) -> str:
    """Twelve letters that stand for a setting: the hash of its JSON with sorted keys."""
    text = json.dumps(setting, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def remake(
    study: str,
    run: Run,
    grid: Iterable[Setting],
    *,
    workers: int = 2,
    minutes: float = 60.0,
    folder: Path = store.RESULTS,
) -> dict[str, Any]:
    """Do the runs of `grid` that are not stored yet; what is done is stored at once.

    No run is begun after `minutes`. The stored runs stand in the order of the grid; a run that
    the grid no longer has is left out.
    """
    settings = list(grid)
    found = {r["hash"]: r for r in stored_runs(study, folder)}
    missing = [s for s in settings if name_of(s) not in found]
    print(f"{study}: {len(settings) - len(missing)} of {len(settings)} runs are stored", flush=True)
    end = time.monotonic() + 60 * minutes

    def whole() -> dict[str, Any]:
        return described(study, [found[name_of(s)] for s in settings if name_of(s) in found])

    with ProcessPoolExecutor(workers, get_context("spawn"), one_thread) as pool:
        waiting = iter(missing)
        under_way = {pool.submit(timed, run, s) for s in islice(waiting, workers)}
        while under_way:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                entry = future.result()
                found[entry["hash"]] = entry
                store.save(study, whole(), folder)
                print(f"{entry['setting']}: {entry['seconds']} s", flush=True)
                following = next(waiting, None) if time.monotonic() < end else None
                if following is not None:
                    under_way.add(pool.submit(timed, run, following))
    return whole()


def one_thread() -> None:
    """Prepare a worker: sums of floats depend on the number of threads, and workers share the cores."""
    torch.set_num_threads(1)


def timed(run: Run, setting: Setting) -> dict[str, Any]:
    """One run as it is stored."""
    start = time.perf_counter()
    result = run(setting)
    seconds = round(time.perf_counter() - start, 1)
    return {"setting": setting, "hash": name_of(setting), "seconds": seconds, "result": result}


def stored_runs(study: str, folder: Path = store.RESULTS) -> list[dict[str, Any]]:
    """The runs of a study that are stored; none if there is no file."""
    is_there = (folder / f"{study}.json").exists()
    return store.load(study, folder)["runs"] if is_there else []


def described(study: str, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a file says beside its runs: the command that makes it, and where that was done."""
    return {
        "command": f"python -m transformer_lab.experiments.{study}",
        "machine": {"processor": platform.machine(), "torch": torch.__version__.partition("+")[0]},
        "seconds": round(sum(r["seconds"] for r in runs), 1),
        "runs": list(runs),
    }


def command(study: str, run: Run, grid: Iterable[Setting]) -> None:
    """The command line of a study."""
    parser = argparse.ArgumentParser(prog=f"python -m transformer_lab.experiments.{study}")
    parser.add_argument("--workers", type=int, default=2, help="processes, with one thread each")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no run after these")
    chosen = parser.parse_args()
    remake(study, run, grid, workers=chosen.workers, minutes=chosen.minutes)
