"""Marian's own file of weights, version 1: whole numbers of 8 bits, each matrix with its scale.

The file begins with its version and the number of its items. Then come, item by item, how long its name
is, its type, how many dimensions and bytes it has; then all names, all shapes, a gap, and all data.
Numbers are little-endian. Types are those that Marian writes: 0x404 are floats, 0x101 bytes of text,
0x4101 integers of 8 bits for the multiplication on a CPU; behind them stands what each was multiplied by.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check
from transformer_lab.files import path_of

VERSION = 1
FLOATS, TEXT, INTEGERS = 0x404, 0x101, 0x4101
HEAD = struct.Struct("<4Q")
MOST_ITEMS = 100_000
"""More would be no model: a damaged count must not ask for memory."""
BYTES = {FLOATS: 4, INTEGERS: 1}
"""What each number of a weight takes; behind integers stands their scale, a float."""
EMBEDDINGS = "Wemb"
ROUNDING = "_QuantMultA"
"""So ends the name of what Marian rounds a weight's inputs with; we compute in floats."""
SETTINGS = "special:model.yml"


@dataclass(frozen=True)
class Item:
    """One entry of the file: its type, shape, and bytes."""

    kind: int
    shape: tuple[int, ...]
    data: bytes


class MarianFile:
    """The weights of a file, by name, and the settings that stand in it.

    Raises:
        ValueError: If it is no such file, is of another version, or is cut off; the message says where.
    """

    def __init__(self, path: str | Path):
        self.path = path_of(path)
        check("path", str(path), "a file of Marian's weights", self.path.is_file())
        try:
            self.items = read_items(self.path.read_bytes())
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self.read: set[str] = set()  # of the weights

    @property
    def count(self) -> int:
        """How many numbers there are in all weights together: no model of this file has more."""
        return sum(math.prod(i.shape) for i in self.items.values() if i.kind in BYTES)

    def check_all_read(self) -> None:
        """A ValueError names weights that nobody has read: the model is not the one of this file."""
        weights = {name for name, item in self.items.items() if item.kind in BYTES}
        left = sorted(n for n in weights - self.read if not n.endswith(ROUNDING))
        check("weights that no part of the model reads", left[:3], "none", not left)

    def settings(self) -> dict[str, str]:
        """What the model says of itself, name by name, as text; a ValueError if it says nothing."""
        check(str(self.path), f"without {SETTINGS}", "a model's file", SETTINGS in self.items)
        try:
            lines = self.items[SETTINGS].data.rstrip(b"\0").decode().splitlines()
        except UnicodeDecodeError as error:
            raise ValueError(f"{SETTINGS} in {self.path} is damaged: {error}") from error
        pairs = (line.partition(":") for line in lines if not line.startswith((" ", "-")))
        return {name: value.strip().strip('"') for name, _, value in pairs}

    def array(self, name: str, *shape: int) -> Float[np.ndarray, "..."]:
        """A weight as floats: a matrix is (out, in), but for the embeddings, which are (word, d_model).

        Raises:
            ValueError: If there is none of this name, or it has another shape or a number that is none.
        """
        check(str(self.path), f"without {name!r}", "all weights of the model", name in self.items)
        item = self.items[name]
        self.read.add(name)
        floats = numbers(name, item)
        # Of whole numbers the file keeps the matrix turned, as the product wants it: (out, in).
        turned = item.kind == INTEGERS and name != EMBEDDINGS
        found = floats.reshape(item.shape[::-1] if turned else item.shape)
        if found.shape[0] == 1 and len(shape) == 1:
            found = found[0]
        check(f"shape of {name}", found.shape, f"{shape}", found.shape == shape)
        check(name, "not finite somewhere", "finite numbers", bool(np.isfinite(found).all()))
        return found


def read_items(data: bytes) -> dict[str, Item]:
    """All entries of a file's bytes."""
    version, count = struct.unpack_from("<2Q", data)
    check("version", version, f"{VERSION}", version == VERSION)
    check("number of items", count, f"1 to {MOST_ITEMS}", 1 <= count <= MOST_ITEMS)
    place = 16
    heads = [HEAD.unpack_from(data, place + n * HEAD.size) for n in range(count)]
    place += count * HEAD.size
    names = []
    for length, *_ in heads:
        names.append(piece(data, place, length).rstrip(b"\0").decode())
        check("name of a weight", names[-1][:60], "signs that print", names[-1].isprintable())
        place += length
    shapes = []
    for _, _, dimensions, _ in heads:
        shapes.append(struct.unpack(f"<{dimensions}i", piece(data, place, 4 * dimensions)))
        place += 4 * dimensions
    (gap,) = struct.unpack_from("<Q", data, place)
    place += 8 + gap
    items = {}
    for name, shape, (_, kind, _, length) in zip(names, shapes, heads, strict=True):
        items[name] = Item(kind, shape, piece(data, place, length))
        check_size(name, items[name])
        place += length
    check("names", len(items), f"{count}, each another", len(items) == count)
    return items


def check_size(name: str, item: Item) -> None:
    """A ValueError for a weight whose shape is none, or asks for more bytes than there are."""
    if item.kind not in BYTES:
        return
    fits = len(item.shape) > 0 and min(item.shape) > 0
    check(f"shape of {name}", item.shape, "one or more sizes of at least 1", fits)
    needed = BYTES[item.kind] * math.prod(item.shape) + 4 * (item.kind == INTEGERS)
    expected = f"{needed:,} for its shape {item.shape}"
    check(f"bytes of {name}", len(item.data), expected, len(item.data) >= needed)


def piece(data: bytes, start: int, length: int) -> bytes:
    """So many bytes from `start` on; a ValueError if the file ends before."""
    there = max(0, len(data) - start)
    check("bytes left", there, f"{length} or more: the file is cut off", there >= length)
    return data[start : start + length]


def numbers(name: str, item: Item) -> Float[np.ndarray, " n"]:
    """The floats of an item, in the file's order."""
    count = math.prod(item.shape)
    if item.kind == FLOATS:
        return np.frombuffer(item.data, "<f4", count)
    check(f"type of {name}", hex(item.kind), f"{FLOATS:#x} or {INTEGERS:#x}", item.kind == INTEGERS)
    whole = np.frombuffer(item.data, "i1", count).astype(np.float32)
    (scale,) = struct.unpack_from("<f", item.data, count)
    check(f"scale of {name}", scale, "a finite number above 0", 0 < scale < math.inf)
    return whole / np.float32(scale)
