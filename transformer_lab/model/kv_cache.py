"""The KV cache, which keeps the keys and values of earlier positions so they can be reused.

Attention layers append to it, and decoding keeps one per layer. A decoder writes one word at a
time, and the keys and values of earlier words never change. Each pass therefore needs to compute
only those of the new word. Queries are not cached, because earlier ones are never needed again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

INITIAL_CAPACITY = 64
"""The minimum capacity of a growing buffer, in words; a full buffer doubles its capacity."""


@dataclass
class Buffer:
    """Preallocated memory for cached vectors; the first `used` positions are filled.

    Several `CachedTensor` objects may share one buffer.
    """

    tensor: Float[Tensor, "batch heads capacity width"]
    used: int


@dataclass(frozen=True)
class CachedTensor:
    """A tensor of cached keys or values: the first `length` positions of a buffer.

    `append` does not change this object, even though the buffer is shared. It writes beyond the
    first `length` positions and returns a longer object. The buffer is copied only if it is full,
    or if another object has already written to those positions.
    """

    buffer: Buffer
    length: int

    @property
    def tensor(self) -> Float[Tensor, "batch heads length width"]:
        """The vectors, as a view of the buffer."""
        return self.buffer.tensor[:, :, : self.length]

    def append(self, new: Float[Tensor, "batch heads new width"]) -> "CachedTensor":
        """Return a cached tensor with the vectors of new positions appended."""
        length = self.length + new.size(2)
        buffer, capacity = self.buffer, self.buffer.tensor.size(2)
        if length > capacity or self.length < buffer.used:
            batch, heads, _, width = new.shape
            while capacity < length:
                capacity = max(2 * capacity, INITIAL_CAPACITY)
            buffer = Buffer(new.new_empty(batch, heads, capacity, width), self.length)
            buffer.tensor[:, :, : self.length] = self.tensor
        buffer.tensor[:, :, self.length : length] = new
        buffer.used = length
        return CachedTensor(buffer, length)

    def select(self, rows: Int[Tensor, " rows"]) -> "CachedTensor":
        """Return a cached tensor with these batch rows, in this order, in a new buffer."""
        _, heads, capacity, width = self.buffer.tensor.shape
        chosen = self.buffer.tensor.new_empty(len(rows), heads, capacity, width)
        # The same as tensor[rows], but much faster on a CPU.
        torch.index_select(self.tensor, 0, rows, out=chosen[:, :, : self.length])
        return CachedTensor(Buffer(chosen, self.length), self.length)

    def copy_rows_(self, rows: Int[Tensor, " copied"], places: Int[Tensor, " copied"]) -> None:
        """Copy the batch rows `rows` into the batch rows `places`, in place."""
        self.tensor.index_copy_(0, places, self.tensor.index_select(0, rows))


@dataclass
class KVCache:
    """The keys and values of one attention layer, at all positions processed so far.

    A forward pass that gets the cache appends its new positions to it, in place. Call `fork` first
    if you still need the old cache.
    """

    key: CachedTensor | None = None
    value: CachedTensor | None = None

    @property
    def length(self) -> int:
        """The number of positions in the cache."""
        return 0 if self.key is None else self.key.length

    def append(
        self,
        key: Float[Tensor, "batch heads new d_k"],
        value: Float[Tensor, "batch heads new d_v"],
    ) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new positions in place; return those of all positions."""
        if self.key is not None and self.value is not None and key.size(2) == 0:
            return self.key.tensor, self.value.tensor  # a memory is only read: nothing is new
        self.key, self.value = extend(self.key, key), extend(self.value, value)
        return self.key.tensor, self.value.tensor

    def fork(self) -> "KVCache":
        """Return a second cache with the same contents; appending to one does not affect the other.

        No vectors are copied.
        """
        return replace(self)

    def select(self, rows: Int[Tensor, " rows"]) -> "KVCache":
        """Return a cache with these batch rows, in this order."""
        if self.key is None or self.value is None:
            return KVCache()
        return KVCache(self.key.select(rows), self.value.select(rows))

    def copy_rows_(self, rows: Int[Tensor, " copied"], places: Int[Tensor, " copied"]) -> None:
        """Copy the batch rows `rows` into the batch rows `places`, in place."""
        if self.key is not None and self.value is not None:
            self.key.copy_rows_(rows, places)
            self.value.copy_rows_(rows, places)


def extend(
    cached: CachedTensor | None, new: Float[Tensor, "batch heads new width"]
) -> CachedTensor:
    """Append new vectors to the cached ones, if any, and return all of them."""
    if cached is None:  # no spare capacity yet: a memory, for one, never grows
        return CachedTensor(Buffer(new.contiguous(), new.size(2)), new.size(2))
    return cached.append(new)


class LayerCache(NamedTuple):
    """The two caches of a decoder layer.

    `words` is for self-attention over the words written so far, and `memory` is for cross-attention
    over the source.
    """

    words: KVCache
    memory: KVCache


def cached_length(cache: Sequence[LayerCache] | None) -> int:
    """Return the number of target positions in a decoder's cache, or 0 if there is no cache."""
    return cache[0].words.length if cache else 0
