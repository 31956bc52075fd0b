"""What the checks of several lessons try an answer on: the same numbers and models at each call."""

from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model import Transformer


def draw(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Random numbers, the same at each call."""
    return scale * np.random.default_rng(seed).standard_normal(shape)


def weights(*shape: int, seed: int) -> np.ndarray:
    """Random rows that each sum to 1."""
    scores = np.exp(2 * draw(*shape, seed=seed))
    return scores / scores.sum(axis=-1, keepdims=True)


def fill_with_known_weights(module: nn.Module) -> None:
    """Random weights that depend on the names of the parameters alone."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            seed = sum(map(ord, name))
            values = draw(*parameter.shape, seed=seed, scale=0.4)
            parameter.copy_(torch.tensor(values))


def small_model(seed: int, **changes: Any) -> Transformer:
    """A small model in float64; none of its sizes equals another."""
    config = TransformerConfig(
        source_vocab_size=11,
        target_vocab_size=13,
        d_model=6,
        d_ff=7,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=0.0,
        tie_source_target=False,
        **changes,
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return Transformer(config).double().eval()


def forward_cases() -> list[tuple]:
    """A model, a padded source and a padded target, three times; one model pads with 3."""
    source = torch.tensor([[5, 7, 9, 4, 2], [6, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
    target = torch.tensor([[1, 4, 12, 5], [1, 6, 7, 0], [1, 9, 0, 0]])
    return [
        (small_model(0), torch.tensor([[5, 7, 2]]), torch.tensor([[1, 4]])),
        (small_model(1), source, target),
        (small_model(2, pad_id=3), source.where(source != 0, 3), target.where(target != 0, 3)),
    ]
