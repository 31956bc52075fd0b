"""What the drawn cases of a check are made of: sizes that differ, numbers, ids, masks, from one seed."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.model.masks import causal_mask
from transformer_lab.numpy_reference import softmax

SIZES = (2, 3, 5, 7, 11, 13)
"""Primes: a product of two of them is no third, so that no wrong reshape fits."""


class Chance:
    """Draws one case. The same seed gives the same case, on every machine.

    Attributes:
        random: Where all of it comes from.
        left: The sizes that no dimension of this case has yet.
    """

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.left = self.random.permutation(SIZES).tolist()

    def sizes(self, count: int) -> list[int]:
        """Sizes of dimensions, all different, also from those of earlier calls; at most six a case."""
        taken, self.left = self.left[:count], self.left[count:]
        return taken

    def batch(self) -> list[int]:
        """No, one or two leading dimensions."""
        return self.sizes(self.between(0, 2))

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return int(self.random.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        """A number of the interval."""
        return float(self.random.uniform(low, high))

    def one_of(self, *choices: Any) -> Any:
        """One of the choices."""
        return choices[self.between(0, len(choices) - 1)]

    def numbers(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Normally distributed numbers around 0, as an array of float64."""
        return scale * self.random.standard_normal(shape)

    def tensor(self, *shape: int, scale: float = 1.0) -> Tensor:
        """Normally distributed numbers around 0, as a tensor of float64."""
        return torch.tensor(self.numbers(*shape, scale=scale))

    def weights(self, *shape: int) -> np.ndarray:
        """Rows of positive numbers that each sum to 1."""
        return softmax(self.numbers(*shape, scale=2.0))

    def flips(self, *shape: int, share: float = 0.5) -> np.ndarray:
        """Booleans, of which about that share is True."""
        return self.random.random(shape) < share

    def mask(self, *shape: int) -> Tensor:
        """Which keys may be seen: each row, the last dimension, sees one or more."""
        seen = self.flips(*shape, share=0.6)
        seen[..., self.between(0, shape[-1] - 1)] = True
        return torch.tensor(seen)

    def causal(self, batch: int, length: int) -> Tensor:
        """What a decoder may see, (batch, 1, length, length): what is written, some of it hidden."""
        seen = self.mask(batch, 1, 1, length)
        seen[..., 0] = True  # so that each word sees one or more
        return causal_mask(length) & seen

    def ids(self, *shape: int, below: int) -> Tensor:
        """Ids of words, from 0 on."""
        return torch.tensor(self.random.integers(0, below, shape))

    def different(self, count: int, below: int) -> list[int]:
        """Ids of which no two are equal: of special tokens, of places."""
        return self.random.permutation(below)[:count].tolist()

    def padded(
        self, batch: int, length: int, below: int, pad_id: int, in_front: bool = False
    ) -> Tensor:
        """Sentences of one word or more and of unequal length, one of them full; no word is `pad_id`."""
        words = self.ids(batch, length, below=below - 1)
        words = torch.where(words >= pad_id, words + 1, words)
        place = torch.arange(length)
        for row in range(1, batch):
            kept = self.between(1, length)
            words[row, place < length - kept if in_front else place >= kept] = pad_id
        return words
