"""`RandomValues`: sizes, numbers, ids and masks for a check's random cases, from one seed.

Each lesson's function for random cases gets one.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.model.masks import causal_mask
from transformer_lab.numpy_reference import softmax

SIZES = (2, 3, 5, 7, 11, 13)
"""Primes: none is the product of two others, so a wrong reshape cannot fit by accident."""
ONE_IN = 3
"""One case in this many has a first size of 1, because only then does a wrong squeeze fail."""


class RandomValues:
    """A source of values for one random case; the same seed gives the same case on every machine.

    Attributes:
        random: NumPy's generator, from which everything is drawn.
        left: The sizes that this case has not used yet.
    """

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.left = self.random.permutation(SIZES).tolist()
        if seed % ONE_IN == ONE_IN - 1:
            self.left[0] = 1

    def sizes(self, count: int) -> list[int]:
        """Draw sizes that differ from one another and from earlier ones; a case has at most six."""
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def batch(self) -> list[int]:
        """Draw the sizes of zero, one or two leading dimensions."""
        return self.sizes(self.between(0, 2))

    def between(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        """Draw a float from low to high."""
        return float(self.random.uniform(low, high))

    def one_of(self, *choices: Any) -> Any:
        """Draw one of the choices."""
        return choices[self.between(0, len(choices) - 1)]

    def numbers(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Draw normally distributed numbers around 0, as an array of float64.

        They are rounded to two decimals before they are scaled, so that a table of them can be
        checked by eye.
        """
        return scale * self.random.standard_normal(shape).round(2)

    def tensor(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Draw normally distributed numbers around 0, as a tensor of float64."""
        return torch.tensor(self.numbers(*shape, scale=scale))

    def weights(self, *shape: int) -> np.ndarray:
        """Draw attention weights: an array of this shape whose rows sum to 1."""
        return softmax(self.numbers(*shape, scale=2.0))

    def flips(self, *shape: int, share: float = 0.5) -> np.ndarray:
        """Draw an array of booleans, about this fraction of them True."""
        return self.random.random(shape) < share

    def mask(self, *shape: int) -> Tensor:
        """Draw a boolean mask of this shape; each row, along the last axis, has at least one True."""
        seen = self.flips(*shape, share=0.6)
        seen[..., self.between(0, shape[-1] - 1)] = True
        return torch.tensor(seen)

    def causal(self, batch: int, length: int) -> Tensor:
        """Draw a causal mask (batch, 1, length, length) in which some keys are hidden as well."""
        seen = self.mask(batch, 1, 1, length)
        seen[..., 0] = True  # so that each word sees one or more
        return causal_mask(length) & seen

    def ids(self, *shape: int, below: int) -> Tensor:
        """Draw a tensor of ids from 0 to `below` − 1."""
        return torch.tensor(self.random.integers(0, below, shape))

    def different(self, count: int, below: int) -> list[int]:
        """Draw distinct integers from 0 to `below` − 1."""
        return self.random.permutation(below)[:count].tolist()

    def padded(
        self, batch: int, length: int, below: int, pad_id: int, in_front: bool = False
    ) -> Tensor:
        """Draw ids (batch, length) for sentences of random lengths, padded with `pad_id`.

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
