"""Split a corpus that does not fit into memory, and store its splits as files.

`corpus` uses this module for large files and for datasets; `stored` reads the result. The corpus is
read twice. The first pass stores three 8-byte numbers for each pair. They are enough to find
repeated pairs, to see whether most sources differ only in their digits, and to decide which sources
are held out. The second pass writes the pairs. The held-out pairs are the same as those that
`split_pairs` would choose.
"""

import hashlib
import json
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from transformer_lab.config import describe_count, join_with_and
from transformer_lab.data.filtering import format_filter_counts, rejection_reason
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import (
    most_differ_in_digits,
    number_key,
    source_key,
    without_digits,
)
from transformer_lab.data.stored import StoredPairs, open_or_build, seal_folder, write_pairs
from transformer_lab.data.text_files import refuse_mostly_bad
from transformer_lab.storage.files import write_atomically

HELD_OUT_FILE = "held.json"
"""The name of the file with the validation and test pairs."""

PairReader = Callable[[], Iterator[Pair | None]]
"""A function that yields a corpus's pairs from the beginning, with None for each bad line."""
HeldOutPairs = Mapping[str, list[Pair | None]]
"""The "validation" and "test" pairs that come with a corpus; None stands for a bad row."""
HELD_OUT_SPLITS = ("test", "validation")
"""The splits that the model is not trained on, in the order in which their sources are chosen."""


@dataclass
class ScanResult:
    """The result of `scan_pairs`: hashes and filter results for each pair of a corpus.

    Attributes:
        places: For each pair, the hash of its `source_key`, or 0 if the pair is left out.
        numbers: For each pair, the hash of its `number_key`, or 0 if the pair is left out. These
            hashes decide the splits if most sources differ only in their digits.
        sums: For each pair, a hash of source and target that reveals repeats, or 0 if the pair is
            left out.
        fits: For each pair, whether it passes the filter.
        left_out: The number of pairs that were left out, for each reason.
    """

    places: "array[int]"
    numbers: "array[int]"
    sums: "array[int]"
    fits: bytearray
    left_out: Counter[str]


def store_corpus(
    folder: Path,
    name: str,
    read: PairReader,
    seed: int,
    held: Callable[[], HeldOutPairs] | None = None,
) -> Splits[Pair]:
    """Split a corpus and store the splits in a folder, or reuse the folder if it is complete.

    Args:
        folder: Where to store the splits; the folder is created if necessary.
        name: The corpus's name, for messages on standard error.
        read: A function that reads the corpus's pairs from the beginning.
        seed: The random seed that determines which sources are held out.
        held: A function that reads the validation and test pairs that come with the corpus. The
            model is not trained on any of their sources. These pairs are neither filtered nor
            compared with each other. If one of the two splits is missing, a twentieth of the
            remaining sources, but at most 1,000, is held out for it.

    Raises:
        ValueError: If there are too few pairs, if more than half the lines are bad, if the pairs
            changed between the two passes, or if `read` raises a ValueError.
    """

    def make(folder: Path) -> None:
        print(f"{name} is being prepared in {folder}", file=sys.stderr)
        write_splits(folder, name, read, seed, held() if held else {})

    train = open_or_build(folder, StoredPairs, make)
    others = json.loads((folder / HELD_OUT_FILE).read_text(encoding="utf-8"))
    validation, test = ([Pair(*pair) for pair in others[s]] for s in ("validation", "test"))
    print(f"{name}: {train.about['said']}", file=sys.stderr)
    return Splits(train, validation, test, said=train.about["said"])


def scan_pairs(read: PairReader, seed: int) -> ScanResult:
    """Read a corpus once, and return each pair's hashes and whether it passes the filter."""
    seen = ScanResult(array("Q"), array("Q"), array("Q"), bytearray(), Counter())
    for pair in read():
        reason = "bad" if pair is None else rejection_reason(pair)
        seen.fits.append(not reason)
        if pair is None or reason:
            seen.left_out[reason] += 1
            seen.places.append(0)
            seen.numbers.append(0)
            seen.sums.append(0)
        else:
            key = number_key(pair.source)
            seen.places.append(hash_key(without_digits(key), seed))
            seen.numbers.append(hash_key(key, seed))
            whole = f"{pair.source}\t{pair.target}".encode()
            seen.sums.append(int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest()))
    return seen


def hash_key(key: str, seed: int) -> int:
    """Return a 64-bit hash of a source's key; `split_groups` sorts its groups by the same hash."""
    return int.from_bytes(hashlib.sha256(f"{seed} {key}".encode()).digest()[:8])


def write_splits(folder: Path, name: str, read: PairReader, seed: int, held: HeldOutPairs) -> None:
    """Read the corpus twice, write its splits to a folder, and seal the folder (see `seal_folder`).

    See `store_corpus` for the arguments.

    Raises:
        ValueError: If there are too few pairs, more than half the lines are bad, or the pairs
            changed between the two passes.
    """
    seen = scan_pairs(read, seed)
    refuse_mostly_bad(name, seen.left_out["bad"], len(seen.fits))
    places, fits = np.frombuffer(seen.places, np.uint64), np.frombuffer(seen.fits, np.bool_)
    numbers = np.frombuffer(seen.numbers, np.uint64)
    fitting = np.flatnonzero(fits)
    sums = np.frombuffer(seen.sums, np.uint64)[fitting]
    new = np.zeros(len(fits), np.bool_)
    new[fitting[np.unique(sums, return_index=True)[1]]] = True
    key_of = source_key
    if most_differ_in_digits(len(np.unique(places[new])), len(np.unique(numbers[new]))):
        places, key_of = numbers, number_key
    left_out = seen.left_out + Counter(repeated=int((fits & ~new).sum()))
    splits = {
        part: [pair for pair in held.get(part, ()) if pair is not None] for part in HELD_OUT_SPLITS
    }
    left_out["bad in validation and test"] = sum(pairs.count(None) for pairs in held.values())
    known = np.array([hash_key(key_of(p.source), seed) for p in chain(*splits.values())], np.uint64)
    new_places = np.setdiff1d(places[new], known)
    ends = find_held_out_bounds(
        name, new_places, [part for part in HELD_OUT_SPLITS if part not in held]
    )
    theirs = set(known.tolist())

    def train() -> Iterator[Pair]:
        number = -1
        for number, pair in enumerate(read()):
            if pair is None or number >= len(new) or not new[number]:
                continue
            place = int(places[number])
            if place in theirs:
                left_out["from held-out sources"] += 1
            elif part := next((part for part, end in ends.items() if place <= end), None):
                splits[part].append(pair)
            else:
                yield pair
        if number + 1 != len(new):
            raise ValueError(
                f"corpus {name!r} changed while it was being read; the first reading found "
                f"{len(new):,} pairs, and the second {number + 1:,}"
            )

    count = write_pairs(folder, train())
    if not count:
        raise ValueError(f"{name} has no pairs to train on; expected at least one")
    others = {name: [(p.source, p.target) for p in pairs] for name, pairs in splits.items()}
    write_atomically(folder / HELD_OUT_FILE, json.dumps(others).encode())
    said = format_filter_counts(len(new), left_out)
    seal_folder(folder, corpus=name, seed=seed, pairs=count, said=said)


def find_held_out_bounds(name: str, places: np.ndarray, parts: list[str]) -> dict[str, int]:
    """Return the largest source hash that belongs to each split in `parts`.

    `places` holds the sorted hashes of all sources. Each split in turn takes the smallest hashes
    that are left.

    Raises:
        ValueError: If there are too few different sources.
    """
    count = max(1, min(1000, len(places) // 20))
    if parts and len(places) <= len(parts) * count:
        raise ValueError(
            f"corpus {name!r} has {describe_count(len(places), 'distinct source sentence')}; "
            f"expected more than the {len(parts) * count:,} held out for {join_with_and(parts)}"
        )
    return {part: int(places[number * count - 1]) for number, part in enumerate(parts, start=1)}
