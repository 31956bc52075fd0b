"""Write and read sealed folders, which hold corpora that do not fit into memory.

`large` and `corpus` write the folders, and the trainer reads batches from them. A folder is sealed,
and therefore valid, once it contains `about.json`. That file is written last. It holds the SHA-256
of every other file, and a checksum of its own fields. These hashes are checked whenever a folder is
opened. If the folder has changed, or if writing it was interrupted, it is built again. Several
processes can read the same folder.
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
from transformer_lab.storage.files import sync_folder, write_atomically
from transformer_lab.storage.lock import LOCK, FolderLock

T = TypeVar("T")

ABOUT = "about.json"
POOL = 500_000
"""The maximum number of pairs that are shuffled together, as one pool.

A pool takes its pairs from all over the corpus. Shuffling an epoch needs memory for only one pool
at a time.
"""
MOST_TOKENS = (1 << 16) - 1
"""The maximum number of tokens per side, because each length is stored in two bytes."""
CHUNK_SIZE = 10_000
"""The number of pairs that are tokenized together, on all cores."""


# --- pairs, token ids and batches in a folder ---------------------------------------------------


class StoredFolder:
    """A valid folder of stored data, opened for reading.

    `about` holds the fields of `about.json`, and `starts` the offset of each item in the data file.

    Raises:
        ValueError: If the folder is unfinished, or has changed since it was sealed.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.about = verify_folder(folder)
        self.starts = map_array(folder / "starts.i64", np.int64)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def check_index(self, place: object) -> int:
        """Convert an index to a non-negative index; a negative index counts from the end.

        Raises:
            TypeError: If the index is not an integer. Slices are refused, because a list of the
                items may not fit into memory.
            IndexError: If the index is out of range.
        """
        if not isinstance(place, int | np.integer):
            raise TypeError(f"index is {place!r}; expected an integer")
        try:
            return range(len(self))[place]
        except IndexError:
            raise IndexError(f"index {place} is out of range for length {len(self)}") from None


class StoredPairs(StoredFolder, Sequence[Pair]):
    """The sentence pairs that `write_pairs` wrote to a folder, in the order of the corpus."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.fingerprint: str = self.about["sha256"]["pairs.tsv"][:16]

    def __getitem__(self, place: Any) -> Any:
        number = self.check_index(place)
        start, end = self.starts[number], self.starts[number + 1]
        with (self.folder / "pairs.tsv").open("rb") as file:
            file.seek(start)
            return parse_pair_line(file.read(end - start))

    def __iter__(self) -> Iterator[Pair]:
        with (self.folder / "pairs.tsv").open("rb") as file:
            yield from map(parse_pair_line, file)

    def sample(self, most: int) -> list[Pair]:
        """Return at most `most` pairs, spread evenly over the corpus."""
        step = -(-len(self) // most)
        return list(itertools.islice(self, 0, None, step))


@dataclass(frozen=True, slots=True)
class ExampleLengths:
    """The index and lengths of a stored example, without its token ids.

    `buckets` needs only the lengths.
    """

    place: int
    source: range
    target: range

    @property
    def length(self) -> int:
        """The number of tokens on the longer side."""
        return max(len(self.source), len(self.target))


class StoredExamples(StoredFolder, Sequence[Example]):
    """The token ids that `store_examples` wrote to a folder."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.dtype = np.dtype(self.about["dtype"])
        self.lengths = map_array(folder / "lengths.u16", np.uint16).reshape(-1, 2)

    def __getitem__(self, place: Any) -> Any:
        return self.read([self.check_index(place)])[0]

    def read(self, places: Iterable[int]) -> list[Example]:
        """Return the examples with these indices.

        The file is read instead of memory-mapped, so the process uses little memory.

        Raises:
            ValueError: If the file has been deleted or has become shorter.
        """
        path, size = self.folder / "ids.bin", self.dtype.itemsize
        examples = []
        try:
            with path.open("rb", buffering=0) as file:  # a few bytes, far apart
                for place in places:
                    source, target = map(int, self.lengths[place])
                    file.seek(int(self.starts[place]) * size)
                    raw = file.read((source + target) * size)
                    if len(raw) < (source + target) * size:
                        raise ValueError(f"{path} has become shorter since it was opened")
                    ids = np.frombuffer(raw, self.dtype).tolist()
                    examples.append(Example(ids[:source], ids[source:]))
        except FileNotFoundError:
            gone = "is gone. Was the cache cleared during this run? Continue the run with --resume"
            raise ValueError(f"{path} {gone}") from None
        return examples

    def read_lengths(self, places: range) -> list[ExampleLengths]:
        """Return the lengths of the examples with these indices."""
        lengths = self.lengths[places.start : places.stop : places.step].tolist()
        return [
            ExampleLengths(place, range(source), range(target))
            for place, (source, target) in zip(places, lengths, strict=True)
        ]


class StoredBatches(Batches):
    """Batches of stored examples, reshuffled for each epoch, one pool at a time.

    A pool is a set of examples whose lengths are loaded into memory and sorted together. With n
    pools, pool i holds the examples i, i + n, i + 2n and so on. With a single pool, the batches are
    the same as those of `Batches`.
    """

    examples: StoredExamples

    def pools(self, epoch: int) -> Iterator[list[list[ExampleLengths]]]:
        """Yield each pool's groups of examples for one epoch, with the pools in random order."""
        size = len(self.examples)
        number = -(-size // POOL)
        seed = 1_000_003 * self.seed + epoch
        for pool in Random(seed).sample(range(number), number):
            sketches = self.examples.read_lengths(range(pool, size, number))
            yield buckets(sketches, self.batch_tokens, seed + 7_368_787 * pool)

    def epoch(self, number: int) -> list[list[Example]]:
        """Return an epoch's batches, each as a list of examples.

        They are all read into memory, so use `iterate_from` for a large corpus.
        """
        groups = itertools.chain.from_iterable(self.pools(number))
        return [self.examples.read(sketch.place for sketch in group) for group in groups]

    def iterate_from(self, epoch: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, index, batch) forever, starting with batch `index` of `epoch`."""
        while True:
            groups = itertools.chain.from_iterable(self.pools(epoch))
            for i, group in enumerate(groups):
                if i >= index:
                    examples = self.examples.read(s.place for s in group)
                    yield epoch, i, collate(examples, self.pad_id)
            epoch, index = epoch + 1, 0


def make_batches(examples: Sequence[Example], batch_tokens: int, seed: int, pad_id: int) -> Batches:
    """Return `Batches` for examples in memory, or `StoredBatches` for stored ones."""
    kind = StoredBatches if isinstance(examples, StoredExamples) else Batches
    return kind(examples, batch_tokens, seed, pad_id)


def write_pairs(folder: Path, pairs: Iterable[Pair]) -> int:
    """Write pairs to a folder, and return how many were written.

    The texts must not contain tabs or newlines.
    """
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
    """Encode stored pairs as token ids, leaving out those with over `longest` tokens on a side.

    The ids are stored in the pairs' folder, and are computed only once for the same pairs and
    tokenizers.
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
            while some := list(itertools.islice(every, CHUNK_SIZE)):
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
        seal_folder(folder, pairs=len(starts) - 1, left_out=left_out, dtype=dtype.name)

    return open_or_build(folder, StoredExamples, make)


# --- sealed folders: build, seal, verify --------------------------------------------------------


def open_or_build(folder: Path, open_whole: Callable[[Path], T], make: Callable[[Path], None]) -> T:
    """Open a folder with `open_whole`; if the folder is not valid, build it with `make` first.

    An invalid folder is emptied before it is built, and other processes wait until it is complete.
    If a sealed folder turns out to be damaged, a message on standard error says so.
    """
    with suppress(ValueError):
        return open_whole(folder)
    with hold_folder_lock(folder):
        try:
            return open_whole(folder)  # another process may have made it by now
        except ValueError as error:
            if (folder / ABOUT).exists():
                print(f"{error}. The folder is being prepared again.", file=sys.stderr)
        delete_contents(folder)
        make(folder)
        return open_whole(folder)


def delete_contents(folder: Path) -> None:
    """Delete everything in a folder except its lock.

    Links are deleted, but not the files they point to.
    """
    # `about.json` goes first, so that a half-deleted folder is no longer valid.
    for path in sorted(folder.iterdir(), key=lambda path: path.name != ABOUT):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


@contextmanager
def hold_folder_lock(folder: Path) -> Iterator[None]:
    """Hold a folder's lock inside the `with` block; wait if another process holds it."""
    lock, said = FolderLock(folder), False
    while not lock.is_held:
        try:
            lock.acquire()
        except ValueError:
            if not said:
                print(f"waiting for another process, which is preparing {folder}", file=sys.stderr)
                said = True
            time.sleep(0.2)
    try:
        yield
    finally:
        lock.release()


def seal_folder(folder: Path, **about: Any) -> None:
    """Make a folder valid by writing `about.json` with these fields and each file's SHA-256."""
    files = {path.name: path for path in folder.iterdir() if not path.name.startswith(".")}
    for path in files.values():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync_folder(folder)
    about["sha256"] = {name: file_sha256(path) for name, path in sorted(files.items())}
    about["seal"] = about_checksum(folder, about)
    write_atomically(folder / ABOUT, json.dumps(about).encode())


def verify_folder(folder: Path) -> dict[str, Any]:
    """Compare every file in a folder with its SHA-256, and return the fields of `about.json`.

    All stored data is opened through this function. Checking two gigabytes takes one to two
    seconds.

    Raises:
        ValueError: If the folder is unfinished, or a file has changed.
    """
    about = read_about(folder)
    for name, expected in about["sha256"].items():
        try:
            is_as_made = file_sha256(folder / name) == expected
        except OSError as error:
            raise ValueError(f"{folder / name} cannot be read: {error.strerror}") from None
        if not is_as_made:
            raise ValueError(f"{folder / name} has changed since it was stored")
    return about


def read_about(folder: Path) -> dict[str, Any]:
    """Return the fields of a folder's `about.json`, without reading its other files.

    Raises:
        ValueError: If the file is missing or damaged, or was not written by this package.
    """
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
        is_ours = about.pop("seal") == about_checksum(folder, about)
    except FileNotFoundError:
        raise ValueError(f"{folder} has no {ABOUT}, so it was never completed") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        is_ours = False
    if not is_ours:
        raise ValueError(f"{folder / ABOUT} is damaged, or was written by another program")
    return about


def about_checksum(folder: Path, about: dict[str, Any]) -> str:
    """Return one SHA-256 of these fields and the folder's name together, in hexadecimal.

    Because the name is included, an `about.json` copied into another folder is not valid there.
    """
    return hashlib.sha256(f"{folder.name} {json.dumps(about, sort_keys=True)}".encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_array(path: Path, values: "array[int]") -> None:
    """Write an array to a binary file, byte for byte as it is in memory."""
    with path.open("wb") as file:
        values.tofile(file)


def map_array(path: Path, dtype: Any) -> np.ndarray:
    """Return a file's numbers as a memory-mapped array, or an empty array if the file is empty."""
    return np.memmap(path, dtype, mode="r") if path.stat().st_size else np.zeros(0, dtype)


def parse_pair_line(line: bytes) -> Pair:
    """Return the pair from a line that `write_pairs` wrote."""
    source, target = line.decode().removesuffix("\n").split("\t")
    return Pair(source, target)
