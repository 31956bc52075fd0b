"""Hooks that replace a head's output during translation: with zeros, a fixed direction or its mean.

The study `muting` uses them.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.attention.capture import attention_cores
from transformer_lab.attention.record import KINDS, Kind
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.translator import Translator

Replacement = Callable[[Tensor], Tensor]
"""A function from the outputs of some heads (batch, heads, query, d_v) to their replacement."""
Place = tuple[Kind, int]
"""One attention layer of the model: its kind and its number, counted from 0."""


def make_direction(seed: int) -> Replacement:
    """Return a replacement that points all outputs of a head in one random direction.

    Each output keeps its norm.
    """

    def replace_rows(heads: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        one_way = torch.randn(heads.size(1), 1, heads.size(-1), generator=generator)
        return heads.norm(dim=-1, keepdim=True) * one_way / one_way.norm(dim=-1, keepdim=True)

    return replace_rows


class ReplaceHeads(Hook):
    """A hook that replaces the outputs of some heads in one attention layer, before W_O."""

    def __init__(self, heads: Sequence[int], replacement: Replacement = torch.zeros_like):
        super().__init__(output=self.replace)
        self.numbers, self.replacement = list(heads), replacement

    def replace(
        self, heads: Float[Tensor, "batch heads query d_v"]
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Return the outputs of all heads, with those of the heads in `numbers` replaced."""
        found = heads.clone()
        found[:, self.numbers] = self.replacement(heads[:, self.numbers])
        return found


class AverageHeads(Hook):
    """A hook that measures the mean output of each head of one attention layer.

    The mean is taken over all sentences and query positions seen. The outputs are left unchanged.
    """

    def __init__(self) -> None:
        super().__init__(output=self.add)
        self.total, self.count = torch.zeros(()), 0

    def add(self, heads: Float[Tensor, "batch heads query d_v"]) -> None:
        """Add the outputs of this pass to the sum."""
        self.total = self.total + heads.sum(dim=(0, 2))
        self.count += heads.size(0) * heads.size(2)

    @property
    def mean(self) -> Float[Tensor, "heads d_v"]:
        """The mean output of each head over all positions seen so far."""
        return self.total / self.count


def mean_head_outputs(
    translator: Translator, texts: Sequence[str]
) -> dict[Place, Float[Tensor, "heads d_v"]]:
    """Return each head's mean output over all tokens of these sentences and their translations.

    Sentences are translated one at a time, so no padding is counted.
    """
    cores = attention_cores(translator.model)
    seen = {(kind, layer): AverageHeads() for kind in KINDS for layer in range(len(cores[kind]))}
    hooks: dict[nn.Module, Hook] = {
        cores[kind][layer]: hook for (kind, layer), hook in seen.items()
    }
    with use_hooks(hooks):
        for text in texts:
            translator.translate(text, beam_size=1, max_length=60)
    return {place: hook.mean for place, hook in seen.items() if hook.count}
