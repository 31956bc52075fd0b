"""Corpora that do not fit into memory: text and ids in files, read where they are needed.

A folder counts once its `about.json` is there, which is written last and has the SHA-256 of every file
and of itself. Each opening compares them, so a folder that something has changed is made anew, as is
whatever was being made when a process was killed. Several processes read the same files, and so share
their pages in the system's memory.
"""

import hashlib
import itertools
import json
import os
import shutil
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

from transformer_lab.data.batching import Batch, Batches, Example, buckets, collate, encode_pairs
from transformer_lab.data.pair import Pair
from transformer_lab.data.tokenizer import Tokenizer
from transformer_lab.files import sync, write_atomically
from transformer_lab.lock import LOCK, FolderLock

T = TypeVar("T")

ABOUT = "about.json"
POOL = 500_000
"""Pairs that are put in order at once. Each pool takes its pairs from all over the corpus, so that
the memory of an epoch's order is that of one pool, however many there are."""
MOST_TOKENS = (1 << 16) - 1
"""Of a side: its length is stored in two bytes."""
AT_ONCE = 10_000
"""Pairs that are cut into pieces at once, on all cores."""


class Stored:
    """What is known of a folder that counts: where each of its pairs starts, and what it says.

    A ValueError if the folder was not finished, or is not as it was made.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.about = described(folder)
        self.starts = mapped(folder / "starts.i64", np.int64)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def place(self, place: object) -> int:
        """A place counted from the beginning; a slice would be a list as long as it is: a TypeError."""
        if not isinstance(place, int | np.integer):
            raise TypeError(f"place is {place!r}; expected an integer")
        return range(len(self))[place]


class StoredPairs(Stored, Sequence[Pair]):
    """The sentence pairs of a folder that `write_pairs` has filled, in the order of the corpus."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.fingerprint: str = self.about["sha256"]["pairs.tsv"][:16]

    def __getitem__(self, place: Any) -> Any:
        number = self.place(place)
        start, end = self.starts[number], self.starts[number + 1]
        with (self.folder / "pairs.tsv").open("rb") as file:
            file.seek(start)
            return pair_in(file.read(end - start))

    def __iter__(self) -> Iterator[Pair]:
        with (self.folder / "pairs.tsv").open("rb") as file:
            yield from map(pair_in, file)

    def sample(self, most: int) -> list[Pair]:
        """So many pairs at most, at equal distances from each other."""
        step = -(-len(self) // most)
        return list(itertools.islice(self, 0, None, step))


@dataclass(frozen=True, slots=True)
class Sketch:
    """What the order of an epoch needs to know of an example: its place, and its lengths."""

    place: int
    source: range
    target: range

    @property
    def length(self) -> int:
        """The longer side."""
        return max(len(self.source), len(self.target))


class StoredExamples(Stored, Sequence[Example]):
    """The ids of a folder that `store_examples` has made."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.dtype = np.dtype(self.about["dtype"])
        self.lengths = mapped(folder / "lengths.u16", np.uint16).reshape(-1, 2)

    def __getitem__(self, place: Any) -> Any:
        return self.read([self.place(place)])[0]

    def read(self, places: Iterable[int]) -> list[Example]:
        """The examples at these places. They are read, not mapped: the process stays small."""
        path, size = self.folder / "ids.bin", self.dtype.itemsize
        examples = []
        try:
            with path.open("rb", buffering=0) as file:  # a few bytes, far apart
                for place in places:
                    source, target = map(int, self.lengths[place])
                    file.seek(int(self.starts[place]) * size)
                    raw = file.read((source + target) * size)
                    if len(raw) < (source + target) * size:
                        raise ValueError(f"{path} has become shorter since it was opened.")
                    ids = np.frombuffer(raw, self.dtype).tolist()
                    examples.append(Example(ids[:source], ids[source:]))
        except FileNotFoundError:
            gone = "is gone. Was the cache cleared during this run? --resume makes it anew."
            raise ValueError(f"{path} {gone}") from None
        return examples

    def sketches(self, places: range) -> list[Sketch]:
        """The lengths of the examples at these places."""
        lengths = self.lengths[places.start : places.stop : places.step].tolist()
        return [
            Sketch(place, range(source), range(target))
            for place, (source, target) in zip(places, lengths, strict=True)
        ]


class StoredBatches(Batches):
    """The batches of one epoch after another, of pools that are put in order one by one.

    A pool takes every n-th example, where n pools are needed. With one pool the batches are those
    of `Batches` on the same examples.
    """

    examples: StoredExamples

    def pools(self, epoch: int) -> Iterator[list[list[Sketch]]]:
        """The groups of each pool of an epoch, the pools in an order of their own."""
        size = len(self.examples)
        number = -(-size // POOL)
        seed = 1_000_003 * self.seed + epoch
        for pool in Random(seed).sample(range(number), number):
            sketches = self.examples.sketches(range(pool, size, number))
            yield buckets(sketches, self.batch_tokens, seed + 7_368_787 * pool)

    def epoch(self, number: int) -> list[list[Example]]:
        """All groups of an epoch, read: of a large corpus more than fits into memory."""
        groups = itertools.chain.from_iterable(self.pools(number))
        return [self.examples.read(sketch.place for sketch in group) for group in groups]

    def starting_at(self, epoch: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Batches without end from one place on, each with its epoch and its index there."""
        while True:
            groups = itertools.chain.from_iterable(self.pools(epoch))
            for i, group in enumerate(groups):
                if i >= index:
                    examples = self.examples.read(s.place for s in group)
                    yield epoch, i, collate(examples, self.pad_id)
            epoch, index = epoch + 1, 0


def batches_of(examples: Sequence[Example], batch_tokens: int, seed: int, pad_id: int) -> Batches:
    """The batches of examples in memory, or of stored ones."""
    kind = StoredBatches if isinstance(examples, StoredExamples) else Batches
    return kind(examples, batch_tokens, seed, pad_id)


def write_pairs(folder: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs without tabs and line ends into a folder; how many they are."""
    starts, at = array("q", [0]), 0
    with (folder / "pairs.tsv").open("wb") as file:
        for pair in pairs:
            at += file.write(f"{pair.source}\t{pair.target}\n".encode())
            starts.append(at)
    write_array(folder / "starts.i64", starts)
    return len(starts) - 1


def store_examples(
    pairs: StoredPairs,
    tokenizers: tuple[Tokenizer, Tokenizer],
    longest: int,
    bos_id: int,
    eos_id: int,
) -> StoredExamples:
    """The ids of stored pairs, without pairs of more than `longest` tokens on a side.

    They are kept beside the pairs, under the sum of pairs and tokenizers, and made once.
    """
    texts = [t.to_json() for t in dict.fromkeys(tokenizers)]
    asked = repr((pairs.fingerprint, texts, longest, bos_id, eos_id)).encode()
    folder = pairs.folder / f"ids-{hashlib.sha256(asked).hexdigest()[:16]}"
    most = max(tokenizer.vocab_size for tokenizer in tokenizers)
    dtype = np.dtype(np.uint16 if most <= 1 << 16 else np.int32)

    def make(folder: Path) -> None:
        starts, lengths, left_out = array("q", [0]), array("H"), 0
        every = iter(pairs)
        with (folder / "ids.bin").open("wb") as file:
            while some := list(itertools.islice(every, AT_ONCE)):
                ids = array("H" if dtype == np.uint16 else "i")
                for example in encode_pairs(some, *tokenizers, bos_id, eos_id):
                    if example.length > min(longest, MOST_TOKENS):
                        left_out += 1
                        continue
                    ids.extend(example.source)
                    ids.extend(example.target)
                    lengths.extend((len(example.source), len(example.target)))
                    starts.append(starts[-1] + len(example.source) + len(example.target))
                ids.tofile(file)
        write_array(folder / "starts.i64", starts)
        write_array(folder / "lengths.u16", lengths)
        described_as(folder, pairs=len(starts) - 1, left_out=left_out, dtype=dtype.name)

    return opened_or_made(folder, StoredExamples, make)


def opened_or_made(
    folder: Path, open_whole: Callable[[Path], T], make: Callable[[Path], None]
) -> T:
    """What `open_whole` reads from a folder that counts; `make` makes it if it doesn't.

    Other processes wait meanwhile. A folder that was damaged is said to be, on standard error.
    """
    with suppress(ValueError):
        return open_whole(folder)
    with in_turn(folder):
        try:
            return open_whole(folder)  # another process may have made it by now
        except ValueError as error:
            if (folder / ABOUT).exists():
                print(f"{error} It is made anew.", file=sys.stderr)
        empty(folder)
        make(folder)
        return open_whole(folder)


def empty(folder: Path) -> None:
    """Delete all that a folder holds, but not its lock, nor what links lead to."""
    # The description goes first: a folder that is half deleted does not count any more.
    for path in sorted(folder.iterdir(), key=lambda path: path.name != ABOUT):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


@contextmanager
def in_turn(folder: Path) -> Iterator[None]:
    """Inside the block the folder is this process's; it waits for whoever has it before."""
    lock, said = FolderLock(folder), False
    while not lock.held:
        try:
            lock.take()
        except ValueError:
            if not said:
                print(f"another process prepares {folder}: waiting for it", file=sys.stderr)
                said = True
            time.sleep(0.2)
    try:
        yield
    finally:
        lock.release()


def described_as(folder: Path, **about: Any) -> None:
    """Let a folder count, with what is said about it and the sum of each of its files."""
    files = {path.name: path for path in folder.iterdir() if not path.name.startswith(".")}
    for path in files.values():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync(folder)
    about["sha256"] = {name: sum_of(path) for name, path in sorted(files.items())}
    about["seal"] = seal(folder, about)
    write_atomically(folder / ABOUT, json.dumps(about).encode())


def described(folder: Path) -> dict[str, Any]:
    """What is said about a folder; a ValueError if it was not finished, or is not as it was made.

    This is the one way into what is stored: every file is read and compared with its sum, at one to two
    seconds for two gigabytes.
    """
    about = told_about(folder)
    for name, expected in about["sha256"].items():
        try:
            is_as_made = sum_of(folder / name) == expected
        except OSError as error:
            raise ValueError(f"{folder / name} cannot be read: {error.strerror}.") from None
        if not is_as_made:
            raise ValueError(f"{folder / name} is not as it was stored: its content has changed.")
    return about


def told_about(folder: Path) -> dict[str, Any]:
    """What a folder says about itself, its files unread; a ValueError if we did not write that."""
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
        is_ours = about.pop("seal") == seal(folder, about)
    except FileNotFoundError:
        raise ValueError(f"{folder} has no {ABOUT}: it was not finished.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ValueError(f"{folder / ABOUT} is damaged, or was written by something else.")
    return about


def seal(folder: Path, about: dict[str, Any]) -> str:
    """The sum of what is said about a folder and of its name, as nothing else may stand in its place."""
    return hashlib.sha256(f"{folder.name} {json.dumps(about, sort_keys=True)}".encode()).hexdigest()


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_array(path: Path, values: "array[int]") -> None:
    """Numbers as they lie in memory."""
    with path.open("wb") as file:
        values.tofile(file)


def mapped(path: Path, dtype: Any) -> np.ndarray:
    """The numbers of a file, of which only what is asked for is read; an empty file has none."""
    return np.memmap(path, dtype, mode="r") if path.stat().st_size else np.zeros(0, dtype)


def pair_in(line: bytes) -> Pair:
    """The pair of a line that `write_pairs` wrote."""
    source, target = line.decode().removesuffix("\n").split("\t")
    return Pair(source, target)
