"""Read Marian's binary weight files, version 1, in which matrices are scaled 8-bit integers.

`formats.bergamot` and lesson 18 use it.

A file begins with its version and the number of items. Then it lists four numbers for each item:
the length of its name, its type, its number of dimensions and its size in bytes. After that come
all the names, all the shapes, a gap, and all the data. Numbers are little-endian. The types are
Marian's: 0x404 means floats, 0x101 means text, and 0x4101 means 8-bit integers for multiplication
on a CPU, followed by the scale that the weights were multiplied by.
"""

import math
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from transformer_lab.config import check, check_count
from transformer_lab.storage.files import expand_path

VERSION = 1
FLOATS, TEXT, INTEGERS = 0x404, 0x101, 0x4101
HEAD = struct.Struct("<4Q")
MOST_ITEMS = 100_000
"""The maximum number of items in a file, so that a damaged count cannot exhaust the memory."""
BYTES = {FLOATS: 4, INTEGERS: 1}
"""The bytes per number, by type of weight; integers are followed by their scale, a float."""
EMBEDDINGS = "Wemb"
ROUNDING = "_QuantMultA"
"""The name suffix of Marian's input scales, which we skip because we compute in floats."""
SETTINGS = "special:model.yml"


@dataclass(frozen=True)
class Item:
    """One entry of the file: its type, shape, and bytes."""

    kind: int
    shape: tuple[int, ...]
    data: bytes


class MarianFile:
    """A model file in Marian's binary format: its weights by name, and its settings.

    Raises:
        ValueError: If the file is not in this format, has a different version, or is damaged; the
            message says where.
    """

    def __init__(self, path: str | Path):
        self.path = expand_path(path)
        check("path", str(path), "an existing file with Marian weights", self.path.is_file())
        try:
            self.items = read_items(self.path.read_bytes())
        except (struct.error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self.read: set[str] = set()  # names of weights

    @property
    def count(self) -> int:
        """The number of parameters in the file."""
        return sum(math.prod(i.shape) for i in self.items.values() if i.kind in BYTES)

    def check_all_read(self) -> None:
        """Raise a ValueError if any weight in the file, apart from input scales, is unread."""
        weights = {name for name, item in self.items.items() if item.kind in BYTES}
        if left := sorted(n for n in weights - self.read if not n.endswith(ROUNDING)):
            raise ValueError(
                f"{self.path} contains the weight {left[0]}, which the model does not use"
            )

    def settings(self) -> dict[str, str]:
        """Return the model's settings by name, as strings.

        Raises:
            ValueError: If the file has no settings, or if they are damaged.
        """
        if SETTINGS not in self.items:
            raise ValueError(f"{self.path} has no {SETTINGS}; expected a model file")
        try:
            lines = self.items[SETTINGS].data.rstrip(b"\0").decode().splitlines()
        except UnicodeDecodeError as error:
            raise ValueError(f"{SETTINGS} in {self.path} is damaged: {error}") from error
        pairs = (line.partition(":") for line in lines if not line.startswith((" ", "-")))
        return {name: value.strip().strip('"') for name, _, value in pairs}

    def array(self, name: str, *shape: int) -> Float[np.ndarray, "..."]:
        """Return a weight as floats, and check that it has the requested shape.

        A matrix stored in 8 bits is returned as (out, in), and embeddings as (word, d_model); a
        matrix of floats keeps the file's order. A weight of shape (1, n) is returned as a
        vector if the requested shape has one dimension.

        Raises:
            ValueError: If the weight is missing, has a different shape, or is not finite.
        """
        if name not in self.items:
            raise ValueError(f"{self.path} lacks the weight {name}, which the model needs")
        item = self.items[name]
        self.read.add(name)
        floats = decode_numbers(name, item)
        # The file stores integer matrices transposed, as the product needs them: (out, in).
        turned = item.kind == INTEGERS and name != EMBEDDINGS
        found = floats.reshape(item.shape[::-1] if turned else item.shape)
        if found.shape[0] == 1 and len(shape) == 1:
            found = found[0]
        check(f"shape of {name}", found.shape, f"{shape}", found.shape == shape)
        if not np.isfinite(found).all():
            raise ValueError(f"{name} contains NaN or infinity; expected finite numbers")
        return found


def read_items(data: bytes) -> dict[str, Item]:
    """Return all entries of a file by name.

    Raises:
        ValueError: If the file is damaged.
        struct.error: If the file is cut off in the middle of a number.
    """
    version, count = struct.unpack_from("<2Q", data)
    check("version", version, f"{VERSION}", version == VERSION)
    check_count("the file", count, "item", f"1 to {MOST_ITEMS:,}", 1 <= count <= MOST_ITEMS)
    place = 16
    heads = [HEAD.unpack_from(data, place + n * HEAD.size) for n in range(count)]
    place += count * HEAD.size
    names = []
    for length, *_ in heads:
        names.append(slice_bytes(data, place, length).rstrip(b"\0").decode())
        check("name of a weight", names[-1][:60], "printable characters", names[-1].isprintable())
        place += length
    shapes = []
    for _, _, dimensions, _ in heads:
        shapes.append(struct.unpack(f"<{dimensions}i", slice_bytes(data, place, 4 * dimensions)))
        place += 4 * dimensions
    (gap,) = struct.unpack_from("<Q", data, place)
    place += 8 + gap
    items = {}
    for name, shape, (_, kind, _, length) in zip(names, shapes, heads, strict=True):
        items[name] = Item(kind, shape, slice_bytes(data, place, length))
        check_size(name, items[name])
        place += length
    expected = f"{count}, because each item needs a name of its own"
    check_count("the file", len(items), "different name", expected, len(items) == count)
    return items


def check_size(name: str, item: Item) -> None:
    """Raise a ValueError if a weight's shape is invalid or needs more bytes than the item has."""
    if item.kind not in BYTES:
        return
    fits = len(item.shape) > 0 and min(item.shape) > 0
    check(f"shape of {name}", item.shape, "one or more dimensions, each at least 1", fits)
    needed = BYTES[item.kind] * math.prod(item.shape) + 4 * (item.kind == INTEGERS)
    expected = f"at least {needed:,}, because its shape is {item.shape}"
    check_count(name, len(item.data), "byte", expected, len(item.data) >= needed)


def slice_bytes(data: bytes, start: int, length: int) -> bytes:
    """Return `length` bytes starting at `start`.

    Raises:
        ValueError: If the file is too short.
    """
    there = max(0, len(data) - start)
    expected = f"at least {length:,}, so the file seems to be cut off"
    check_count("the rest of the file", there, "byte", expected, there >= length)
    return data[start : start + length]


def decode_numbers(name: str, item: Item) -> Float[np.ndarray, " n"]:
    """Decode an item's numbers to floats, in the file's order."""
    count = math.prod(item.shape)
    if item.kind == FLOATS:
        return np.frombuffer(item.data, "<f4", count)
    if item.kind != INTEGERS:
        expected = f"{FLOATS:#x} (floats) or {INTEGERS:#x} (8-bit integers)"
        raise ValueError(f"type of {name} is {item.kind:#x}; expected {expected}")
    whole = np.frombuffer(item.data, "i1", count).astype(np.float32)
    (scale,) = struct.unpack_from("<f", item.data, count)
    check(f"scale of {name}", scale, "a finite number above 0", 0 < scale < math.inf)
    return whole / np.float32(scale)
