"""A corpus that does not fit into memory: filtered and split as it is read, and stored as files.

It is read twice. The first time each pair leaves nothing but two numbers of eight bytes; from these
it is known which pairs are repeated, and which sources are held out. The second time the pairs are
written. What is held out is what `split_pairs` holds out.
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

from transformer_lab.data.filtering import told, why_not
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import key
from transformer_lab.data.stored import StoredPairs, described_as, opened_or_made, write_pairs
from transformer_lab.files import write_atomically

OTHERS = "held.json"
"""The file of validation and test pairs."""

Read = Callable[[], Iterator[Pair | None]]
"""Reads the corpus from its beginning; None stands for a line that is bad."""
Held = Mapping[str, list[Pair | None]]
"""Pairs that are not trained on, by the name of their part; None stands for a row that is bad."""
PARTS = ("test", "validation")
"""Those, in the order in which sources are held out for them."""


@dataclass
class Seen:
    """What the first reading leaves: for each pair its place in the order of sources, and its sum.

    `fits` says whether the filter lets it pass, `left_out` how many it does not, by reason.
    """

    places: "array[int]"
    sums: "array[int]"
    fits: bytearray
    left_out: Counter[str]


def store_corpus(
    folder: Path, name: str, read: Read, seed: int, held: Callable[[], Held] | None = None
) -> Splits[Pair]:
    """The splits of a corpus, its training pairs stored in a folder, which is made once.

    Args:
        folder: Where; made if it is not there.
        name: Of the corpus, for what is said on standard error.
        read: Reads its pairs.
        seed: Chooses the sources that are held out.
        held: Reads the pairs of "validation" and of "test" that the corpus brings along, or of one
            of them; no source of theirs is trained on. For a part that it does not bring, a
            twentieth of the other sources, at most 1,000, is held out. They are taken as they are:
            neither filtered nor compared with each other.

    Raises:
        ValueError: As `read` has it; if there are too few pairs; if they change between the readings.
    """

    def make(folder: Path) -> None:
        print(f"{name}: preparing it in {folder}", file=sys.stderr)
        write_splits(folder, name, read, seed, held() if held else {})

    train = opened_or_made(folder, StoredPairs, make)
    others = json.loads((folder / OTHERS).read_text(encoding="utf-8"))
    validation, test = ([Pair(*pair) for pair in others[s]] for s in ("validation", "test"))
    print(f"{name}: {train.about['said']}", file=sys.stderr)
    return Splits(train, validation, test, said=train.about["said"])


def first_reading(read: Read, seed: int) -> Seen:
    """Read a corpus for the numbers of its pairs."""
    seen = Seen(array("Q"), array("Q"), bytearray(), Counter())
    for pair in read():
        reason = "bad" if pair is None else why_not(pair)
        seen.fits.append(not reason)
        if pair is None or reason:
            seen.left_out[reason] += 1
            seen.places.append(0)
            seen.sums.append(0)
        else:
            seen.places.append(place_of(pair.source, seed))
            whole = f"{pair.source}\t{pair.target}".encode()
            seen.sums.append(int.from_bytes(hashlib.blake2b(whole, digest_size=8).digest()))
    return seen


def place_of(source: str, seed: int) -> int:
    """Where a source stands in the order of `split_groups`: by the first eight bytes of its sum."""
    return int.from_bytes(hashlib.sha256(f"{seed} {key(source)}".encode()).digest()[:8])


def write_splits(folder: Path, name: str, read: Read, seed: int, held: Held) -> None:
    """Read the corpus twice and write its splits into a folder, which then counts."""
    seen = first_reading(read, seed)
    places, fits = np.frombuffer(seen.places, np.uint64), np.frombuffer(seen.fits, np.bool_)
    fitting = np.flatnonzero(fits)
    sums = np.frombuffer(seen.sums, np.uint64)[fitting]
    new = np.zeros(len(fits), np.bool_)
    new[fitting[np.unique(sums, return_index=True)[1]]] = True
    left_out = seen.left_out + Counter(repeated=int((fits & ~new).sum()))
    splits = {part: [pair for pair in held.get(part, ()) if pair is not None] for part in PARTS}
    left_out["bad, of validation and test"] = sum(pairs.count(None) for pairs in held.values())
    known = np.array([place_of(p.source, seed) for p in chain(*splits.values())], np.uint64)
    new_places = np.setdiff1d(places[new], known)
    ends = last_places(name, new_places, [part for part in PARTS if part not in held])
    theirs = set(known.tolist())

    def train() -> Iterator[Pair]:
        number = -1
        for number, pair in enumerate(read()):
            if pair is None or number >= len(new) or not new[number]:
                continue
            place = int(places[number])
            if place in theirs:
                left_out["of sources that are held out"] += 1
            elif part := next((part for part, end in ends.items() if place <= end), None):
                splits[part].append(pair)
            else:
                yield pair
        if number + 1 != len(new):
            raise ValueError(f"{name} has changed while it was read; expected {len(new)} pairs")

    count = write_pairs(folder, train())
    if not count:
        raise ValueError(f"{name} has no pair to train on; expected at least one")
    others = {name: [(p.source, p.target) for p in pairs] for name, pairs in splits.items()}
    write_atomically(folder / OTHERS, json.dumps(others).encode())
    said = told(len(new), left_out)
    described_as(folder, corpus=name, seed=seed, pairs=count, said=said)


def last_places(name: str, places: np.ndarray, parts: list[str]) -> dict[str, int]:
    """For each part that is to be held out the last of its places; they follow on each other.

    A ValueError if there are too few different places.
    """
    count = max(1, min(1000, len(places) // 20))
    if parts and len(places) <= len(parts) * count:
        raise ValueError(
            f"{name} has {len(places)} different sources; expected more than {len(parts) * count}, "
            "of which some are held out"
        )
    return {part: int(places[number * count - 1]) for number, part in enumerate(parts, start=1)}
