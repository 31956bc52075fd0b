"""A corpus that does not fit into memory: the cost of preparing it and of a second start, and memory.

The pairs are made of Debian's package descriptions and the bilingual world: several in a row, with a
number among them, until a side has about 25 words. There are as many different pairs as asked for.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets

from benchmarks.machine import describe_run
from benchmarks.report import Target, table, target_table
from transformer_lab.data import corpora
from transformer_lab.data.batching import PAD_ID
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import Pair
from transformer_lab.data.stored import StoredBatches, StoredExamples
from transformer_lab.data.world import grammar
from transformer_lab.runs.building import build_translator, encode_fitting
from transformer_lab.runs.presets import PRESETS

PAIRS = (500_000, 5_000_000)
STEPS = 150
READ, SECONDS = 200_000, 10
WORDS = 25


def write_corpus(path: Path, count: int) -> None:
    """Write `count` different pairs, the same ones each time."""
    rng = random.Random(0)
    pool = [row.pair for row in corpora.debian_rows("fr")]
    pool += [Pair(p.source, p.target) for p in grammar.world(train=20_000, seed=0).train]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            source, target = f"{number}", f"{number}"
            while source.count(" ") + 1 < WORDS:
                pair = rng.choice(pool)
                source, target = f"{source} {pair.source}", f"{target} {pair.target}"
            file.write(f"{source}\t{target}\n")


def start_run(corpus: Path, out: Path, steps: int, processes: int = 1) -> list[dict[str, Any]]:
    """Start a run and return what `large_start` prints, one entry for each process."""
    module = ["benchmarks.large_start", str(corpus), str(out), str(steps), str(time.time())]
    command = [sys.executable, "-m", *module]
    if processes > 1:
        launch = ["torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
        command = [sys.executable, "-m", *launch, "-m", *module]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure_corpus(count: int, folder: Path) -> dict[str, Any]:
    """Measure everything with `count` pairs."""
    path = folder / f"{count}.tsv"
    write_corpus(path, count)
    (cold,) = start_run(path, folder / "none", 0)
    (one,) = start_run(path, folder / f"one-{count}", STEPS)
    two = start_run(path, folder / f"two-{count}", STEPS, processes=2)
    size = path.stat().st_size
    path.unlink()
    return {"bytes": size, "cold": cold, "one": one, "two": two}


def measure_reading(folder: Path) -> str:
    """Measure how fast one core makes batches of stored ids, and how fast Arrow reads the same ids."""
    path = folder / "reading.tsv"
    write_corpus(path, READ)
    splits = find_corpus(str(path)).splits()
    translator = build_translator(splits, str(path), PRESETS["small"])
    examples = encode_fitting(translator, splits.train, 250)
    assert isinstance(examples, StoredExamples)
    rows = []
    for tokens in (1_024, 25_000):
        batches = (batch for _, _, batch in StoredBatches(examples, tokens).iterate_from(0, 0))
        next(batches)  # the pool is sorted here
        start, real, made = time.perf_counter(), 0, 0
        while time.perf_counter() - start < SECONDS:
            real += int((next(batches).target != PAD_ID).sum())
            made += 1
        seconds = time.perf_counter() - start
        rows.append([f"{tokens:,}", f"{made / seconds:,.0f}", f"{real / seconds:,.0f}"])
    ids = [{"source": e.source, "target": e.target} for e in examples]
    datasets.Dataset.from_list(ids).save_to_disk(folder / "arrow")
    arrow = datasets.load_from_disk(folder / "arrow")
    rng = random.Random(0)

    def a_second(read: Callable[[list[int]], object]) -> float:
        start, count = time.perf_counter(), 0
        while time.perf_counter() - start < SECONDS:
            read(rng.sample(range(len(examples)), 30))
            count += 30
        return count / (time.perf_counter() - start)

    ours, theirs = a_second(examples.read), a_second(arrow.__getitem__)
    return (
        f"{table(['tokens in a batch', 'batches a second', 'target tokens a second'], rows)}\n"
        f"One core, {READ:,} pairs. Of 30 pairs at places drawn at random, {ours:,.0f} a second are "
        f"read from the flat file and {theirs:,.0f} from Arrow, memory-mapped by `datasets` "
        f"{datasets.__version__}: {ours / theirs:.1f} times as many."
    )


def section() -> str:
    """Return the section for RESULTS.md."""
    rows, found = [], {}
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = name
        speed = measure_reading(Path(name))
        for count in PAIRS:
            now = found[count] = measure_corpus(count, Path(name))
            seconds = now["cold"]["seconds"]
            one = now["one"]["memory"]
            rows.append(
                [
                    f"{count:,}",
                    f"{now['bytes'] / 1e9:.2f} GB",
                    f"{seconds['reading']:.0f} s",
                    f"{seconds['pieces']:.0f} s",
                    f"{seconds['ids']:.0f} s",
                    f"{now['cold']['pairs'] / seconds['ids']:,.0f}",
                    f"{now['cold']['memory']['VmHWM']:,.0f} MB",
                    f"{now['one']['first_step'][0]:.1f} s",
                    f"{one['VmHWM']:,.0f} MB",
                    f"{one['RssAnon']:,.0f} MB",
                    f"{one['Pss']:,.0f} MB",
                    f"{sum(p['memory']['Pss'] for p in now['two']):,.0f} MB",
                ]
            )
    head = [
        "pairs", "file", "reading, filter, split", "pieces", "ids", "pairs a second into ids",
        "peak of preparing", "second start to first step", "peak in training", "of it private",
        "fair share", "fair share of two processes",
    ]  # fmt: skip
    few, many = (found[count]["one"]["memory"]["VmHWM"] for count in PAIRS)
    large = found[PAIRS[1]]
    pss = large["one"]["memory"]["Pss"]
    both = sum(p["memory"]["Pss"] for p in large["two"]) / pss
    first = large["one"]["first_step"][0]
    shared = (
        "Each has its own weights, gradients and Adam state; they share the corpus and libraries."
    )
    targets = [
        Target("peak memory of training on 5 M pairs, GB", many / 1000, 1.5, at_most=True),
        Target("that, beside 0.5 M pairs", many / few, 1.1, at_most=True),
        Target("a second start until its first step, s", first, 10, at_most=True),
        Target("memory of two processes beside one", both, 1.2, at_most=True, reason=shared),
    ]
    promised = target_table(targets, "measured")
    return f"{table(head, rows)}\n{promised}\n{speed}\n\n{describe_run(1)}"
