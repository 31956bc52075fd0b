"""`RandomValues` generates sizes, numbers, ids and masks for a check's random cases from one seed.

Each function in the lessons that builds a random case receives a `RandomValues`.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.model.masks import causal_mask
from transformer_lab.numpy_reference import softmax

SIZES = (2, 3, 5, 7, 11, 13)
"""Primes, so no size is a product of others and no wrong reshape fits by coincidence."""
ONE_IN = 3
"""One in this many cases has a first size of 1, because only then does a wrong squeeze fail."""


class RandomValues:
    """A source of values for one random case; the same seed gives the same case on every machine.

    Attributes:
        random: The NumPy generator that all values come from.
        left: The sizes that this case has not used yet.
    """

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.left = self.random.permutation(SIZES).tolist()
        if seed % ONE_IN == ONE_IN - 1:
            self.left[0] = 1

    def sizes(self, count: int) -> list[int]:
        """Sample sizes that differ from each other and from earlier ones, at most six per case."""
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def batch(self) -> list[int]:
        """Sample the sizes of zero, one or two leading dimensions."""
        return self.sizes(self.between(0, 2))

    def between(self, low: int, high: int) -> int:
        """Sample an integer from low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        """Sample a float from low to high."""
        return float(self.random.uniform(low, high))

    def one_of(self, *choices: Any) -> Any:
        """Return one of the choices at random."""
        return choices[self.between(0, len(choices) - 1)]

    def numbers(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Sample normally distributed numbers with mean 0, as a float64 array.

        The numbers are rounded to two decimals before scaling, so a table of them can be checked by
        eye.
        """
        return scale * self.random.standard_normal(shape).round(2)

    def tensor(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Sample normally distributed numbers with mean 0, as a float64 tensor."""
        return torch.tensor(self.numbers(*shape, scale=scale))

    def weights(self, *shape: int) -> np.ndarray:
        """Sample attention weights: an array of this shape whose rows sum to 1."""
        return softmax(self.numbers(*shape, scale=2.0))

    def flips(self, *shape: int, share: float = 0.5) -> np.ndarray:
        """Sample an array of booleans, each of which is True with probability `share`."""
        return self.random.random(shape) < share

    def mask(self, *shape: int) -> Tensor:
        """Sample a boolean mask with at least one True in each row (along the last axis)."""
        seen = self.flips(*shape, share=0.6)
        seen[..., self.between(0, shape[-1] - 1)] = True
        return torch.tensor(seen)

    def causal(self, batch: int, length: int) -> Tensor:
        """Sample a causal mask (batch, 1, length, length) that also hides some earlier keys."""
        seen = self.mask(batch, 1, 1, length)
        seen[..., 0] = True  # so that each word sees one or more
        return causal_mask(length) & seen

    def ids(self, *shape: int, below: int) -> Tensor:
        """Sample a tensor of ids from 0 to `below` − 1."""
        return torch.tensor(self.random.integers(0, below, shape))

    def different(self, count: int, below: int) -> list[int]:
        """Sample distinct integers from 0 to `below` − 1."""
        return self.random.permutation(below)[:count].tolist()

    def padded(
        self, batch: int, length: int, below: int, pad_id: int, in_front: bool = False
    ) -> Tensor:
        """Sample ids (batch, length) for sentences of random lengths, padded with `pad_id`.

        The first sentence fills its row. The padding comes after the words, or before them if
        `in_front` is set.
        """
        words = self.ids(batch, length, below=below - 1)
        words = torch.where(words >= pad_id, words + 1, words)
        place = torch.arange(length)
        for row in range(1, batch):
            kept = self.between(1, length)
            words[row, place < length - kept if in_front else place >= kept] = pad_id
        return words
