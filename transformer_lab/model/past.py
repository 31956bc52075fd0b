"""Keys and values of words that were handled before, so that no pass projects them again.

A decoder writes one word at a time. The keys and values of the words before it never change, so
each pass hands in its past and gets it back longer; the queries of past words are needed by
nobody, and are not kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

FIRST_ROOM = 64
"""Words that a new past has room for; each time they are used up, the room doubles."""


@dataclass
class Buffer:
    """Memory set aside for more words than there are yet; the first `used` are written."""

    tensor: Float[Tensor, "batch heads room width"]
    used: int


@dataclass(frozen=True)
class Written:
    """One vector for each head and word so far: the first `length` words of a buffer.

    It is a value, although the buffer is shared: `append` writes behind the last
    word, where this value never looks, and returns a longer value. It copies
    only when the room is used up, or when another value has written there before.
    """

    buffer: Buffer
    length: int

    @property
    def tensor(self) -> Float[Tensor, "batch heads past width"]:
        """The vectors themselves."""
        return self.buffer.tensor[:, :, : self.length]

    def append(self, new: Float[Tensor, "batch heads new width"]) -> "Written":
        """These words and some more."""
        length = self.length + new.size(2)
        buffer, room = self.buffer, self.buffer.tensor.size(2)
        if length > room or self.length < buffer.used:
            batch, heads, _, width = new.shape
            while room < length:
                room = max(2 * room, FIRST_ROOM)
            buffer = Buffer(new.new_empty(batch, heads, room, width), self.length)
            buffer.tensor[:, :, : self.length] = self.tensor
        buffer.tensor[:, :, self.length : length] = new
        buffer.used = length
        return Written(buffer, length)

    def select(self, rows: Int[Tensor, " rows"]) -> "Written":
        """The same for these sentences, in a buffer of its own."""
        _, heads, room, width = self.buffer.tensor.shape
        chosen = self.buffer.tensor.new_empty(len(rows), heads, room, width)
        # Much faster on a CPU than tensor[rows], and the same.
        torch.index_select(self.tensor, 0, rows, out=chosen[:, :, : self.length])
        return Written(Buffer(chosen, self.length), self.length)

    def move_(self, rows: Int[Tensor, " moved"], places: Int[Tensor, " moved"]) -> None:
        """Write what these rows hold into these places of the buffer itself."""
        self.tensor.index_copy_(0, places, self.tensor.index_select(0, rows))


@dataclass
class Past:
    """What one attention keeps: the keys and values of all positions that it was given so far.

    The pass that it is handed to makes it longer. `branch` first keeps the shorter one as it is.
    """

    key: Written | None = None
    value: Written | None = None

    @property
    def length(self) -> int:
        """How many positions it holds."""
        return 0 if self.key is None else self.key.length

    def append(
        self,
        key: Float[Tensor, "batch heads new d_k"],
        value: Float[Tensor, "batch heads new d_v"],
    ) -> tuple[Tensor, Tensor]:
        """Keep the keys and values of new positions; returns those of all positions."""
        if self.key is not None and self.value is not None and key.size(2) == 0:
            return self.key.tensor, self.value.tensor  # nothing new, as of a memory that is read
        self.key, self.value = appended(self.key, key), appended(self.value, value)
        return self.key.tensor, self.value.tensor

    def branch(self) -> "Past":
        """A past to go on with that leaves this one as it is; nothing is copied."""
        return replace(self)

    def select(self, rows: Int[Tensor, " rows"]) -> "Past":
        """The past of these sentences, in this order."""
        if self.key is None or self.value is None:
            return Past()
        return Past(self.key.select(rows), self.value.select(rows))

    def move_(self, rows: Int[Tensor, " moved"], places: Int[Tensor, " moved"]) -> None:
        """Write the past of these rows into these places of its own buffers."""
        if self.key is not None and self.value is not None:
            self.key.move_(rows, places)
            self.value.move_(rows, places)


def appended(written: Written | None, new: Float[Tensor, "batch heads new width"]) -> Written:
    """The words so far, if there are any, and the new ones."""
    if written is None:  # no room behind them yet: most of what starts a past is all of it
        return Written(Buffer(new.contiguous(), new.size(2)), new.size(2))
    return written.append(new)


class LayerPast(NamedTuple):
    """A decoder layer's two pasts: of the words written so far, and of the memory."""

    words: Past
    memory: Past


def length_of(past: Sequence[LayerPast] | None) -> int:
    """How many words a decoder's past holds."""
    return past[0].words.length if past else 0
