"""Flat files against Arrow: time and peak memory for storing a corpus and training from it.

    python -m benchmarks.corpus_storage [PAIRS] [ROUNDS]

Both sides read the same file with the same reader, split it with the same tokenizer, and give the
same batches in the same order, which is checked. Each measurement has a process of its own. Seconds are
processor time, summed over all threads, so that other users of the machine slow down neither side.
"""

import hashlib
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import datasets
import numpy as np

from benchmarks.large_corpus import write_corpus
from benchmarks.machine import describe_run
from benchmarks.memory import read_kilobytes, reset_peak
from benchmarks.report import table
from transformer_lab.data.batching import BOS_ID, EOS_ID, Example, encode_pairs
from transformer_lab.data.pair import Pair
from transformer_lab.data.stored import (
    ExampleLengths,
    StoredBatches,
    StoredPairs,
    seal_folder,
    store_examples,
    write_pairs,
)
from transformer_lab.data.text_files import iterate_pairs, read_pairs
from transformer_lab.data.tokenizer import BPETokenizer, load_tokenizer

PAIRS, ROUNDS = 500_000, 3
LEARNT_FROM, VOCABULARY = 20_000, 8_000
LONGEST, BATCH_TOKENS, BATCHES = 250, 1_024, 3_000
AT_ONCE = 10_000
STAGES = ("reading", "tokenising", "batches", "all")


class ArrowExamples:
    """Ids in an Arrow table of `datasets`, as `StoredBatches` asks for them."""

    def __init__(self, rows: Any):
        self.rows = rows
        lengths = (np.asarray(rows.with_format("numpy")[name]) for name in ("n", "m"))
        self.lengths = np.stack(list(lengths), axis=1)

    def __len__(self) -> int:
        return len(self.rows)

    def sketches(self, places: range) -> list[ExampleLengths]:
        """Return the lengths of the examples at these places."""
        lengths = self.lengths[places.start : places.stop : places.step].tolist()
        return [
            ExampleLengths(place, range(source), range(target))
            for place, (source, target) in zip(places, lengths, strict=True)
        ]

    def read(self, places: Iterable[int]) -> list[Example]:
        """Return the examples at these places."""
        found = self.rows[list(places)]
        return list(map(Example, found["source"], found["target"]))


def store_in_arrow(path: Path, folder: Path) -> Any:
    """Store the pairs of a file in the cache of `datasets`, and return them."""

    def rows() -> Iterator[dict[str, str]]:
        yield from ({"source": p.source, "target": p.target} for p in iterate_pairs(path) if p)

    features = datasets.Features(source=datasets.Value("string"), target=datasets.Value("string"))
    return datasets.Dataset.from_generator(rows, features=features, cache_dir=str(folder))


def encode_in_arrow(pairs: Any, tokenizer: BPETokenizer) -> ArrowExamples:
    """Store the ids of these pairs in the same cache, two bytes each, and return them."""

    def encode(rows: dict[str, list[str]]) -> dict[str, list[Any]]:
        texts = list(map(Pair, rows["source"], rows["target"]))
        found = [
            example
            for example in encode_pairs(texts, tokenizer, tokenizer, BOS_ID, EOS_ID)
            if example.length <= LONGEST
        ]
        return {
            "source": [example.source for example in found],
            "target": [example.target for example in found],
            "n": [len(example.source) for example in found],
            "m": [len(example.target) for example in found],
        }

    ids, length = datasets.List(datasets.Value("uint16")), datasets.Value("uint16")
    features = datasets.Features(source=ids, target=ids, n=length, m=length)
    columns = ["source", "target"]
    return ArrowExamples(
        pairs.map(
            encode, batched=True, batch_size=AT_ONCE, remove_columns=columns, features=features
        )
    )


def store_in_files(path: Path, folder: Path) -> StoredPairs:
    """Store the pairs of a file in flat files, and return them."""
    folder.mkdir()
    seal_folder(folder, pairs=write_pairs(folder, filter(None, iterate_pairs(path))))
    return StoredPairs(folder)


def encode_in_files(pairs: StoredPairs, tokenizer: BPETokenizer) -> Any:
    """Store the ids of these pairs in flat files, and return them."""
    return store_examples(pairs, (tokenizer, tokenizer), LONGEST, BOS_ID, EOS_ID)


SIDES = {"files": (store_in_files, encode_in_files), "arrow": (store_in_arrow, encode_in_arrow)}


def measure_here(side: str, path: Path, folder: Path) -> dict[str, Any]:
    """Store a corpus and read batches of it; return seconds, megabytes and a checksum."""
    datasets.disable_progress_bars()
    tokenizer = load_tokenizer(path.with_suffix(".json"))
    assert isinstance(tokenizer, BPETokenizer)
    store, cut = SIDES[side]
    before = read_kilobytes("VmRSS")
    reset_peak()
    laps = [time.process_time()]
    pairs = store(path, folder)
    laps.append(time.process_time())
    examples: Any = cut(pairs, tokenizer)
    laps.append(time.process_time())
    prepared = read_kilobytes("VmHWM")
    reset_peak()
    sums = hashlib.sha256()
    batches = StoredBatches(examples, BATCH_TOKENS).iterate_from(0, 0)
    for _, _, batch in itertools.islice(batches, BATCHES):
        sums.update(batch.source.numpy().tobytes() + batch.target.numpy().tobytes())
    laps.append(time.process_time())
    seconds = [end - start for start, end in itertools.pairwise(laps)]
    return {
        "seconds": dict(zip(STAGES, [*seconds, laps[-1] - laps[0]], strict=True)),
        "preparing": (prepared - before) / 1024,
        "training": (read_kilobytes("VmHWM") - before) / 1024,
        "private": read_kilobytes("RssAnon") / 1024,
        "disk": sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6,
        "sum": sums.hexdigest(),
    }


def measure_in_process(side: str, path: Path) -> dict[str, Any]:
    """Return the result of `measure_here` in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "benchmarks.corpus_storage", side, str(path)]
        done = subprocess.run(  # noqa: S603
            [*command, f"{name}/cache"], check=True, capture_output=True, text=True
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(side, found, file=sys.stderr)
    return found


def section(count: int = PAIRS, rounds: int = ROUNDS) -> str:
    """Return a table with the medians of the rounds, in which both sides take turns."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "pairs.tsv"
        write_corpus(path, count)
        first = read_pairs(path).pairs[:LEARNT_FROM]
        texts = [p.source for p in first] + [p.target for p in first]
        path.with_suffix(".json").write_text(BPETokenizer.train(texts, VOCABULARY).to_json())
        found = [{side: measure_in_process(side, path) for side in SIDES} for _ in range(rounds)]
    assert len({one["sum"] for both in found for one in both.values()}) == 1
    rows = []
    for stage in STAGES:
        ours, theirs = (median(f[side]["seconds"][stage] for f in found) for side in SIDES)
        rows.append([f"{stage}, s", f"{ours:.1f}", f"{theirs:.1f}", f"{theirs / ours:.2f}"])
    for name in ("preparing", "training", "private", "disk"):
        ours, theirs = (median(f[side][name] for f in found) for side in SIDES)
        rows.append([f"{name}, MB", f"{ours:.0f}", f"{theirs:.0f}", f"{theirs / ours:.2f}"])
    head = [f"{count:,} pairs", "flat files", f"datasets {datasets.__version__}", "ratio"]
    return f"{table(head, rows)}\n{describe_run(rounds)}"


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in SIDES:
        print(json.dumps(measure_here(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
    else:
        print(section(*map(int, sys.argv[1:])))
