"""What the checks of several lessons try an answer on: the same numbers and models at each call."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.course.chance import Chance
from transformer_lab.course.errors import UnusableError
from transformer_lab.course.words import kind_of
from transformer_lab.model import Transformer
from transformer_lab.numpy_reference import softmax


def draw(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Random numbers, the same at each call."""
    return scale * np.random.default_rng(seed).standard_normal(shape)


def weights(*shape: int, seed: int) -> np.ndarray:
    """Random rows that each sum to 1."""
    return softmax(2 * draw(*shape, seed=seed))


def fill_with_known_weights(module: nn.Module) -> None:
    """Random weights that depend on the names of the parameters alone."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            seed = sum(map(ord, name))
            values = draw(*parameter.shape, seed=seed, scale=0.4)
            parameter.copy_(torch.tensor(values))


def built(
    answer: Callable[..., Any], reference: Callable[..., nn.Module], *sizes: int
) -> nn.Module:
    """The module that an answer's class makes, in float64 and with known weights.

    It must have the parameters of the reference; what has none beside them is the answer's affair.
    """
    module = answer(*sizes)
    if not isinstance(module, nn.Module):
        raise UnusableError(f"the class makes {kind_of(module)}; an nn.Module is asked")
    found, wanted = (dict(m.named_parameters()) for m in (module, reference(*sizes)))
    if found.keys() != wanted.keys():
        lacks = ", ".join(sorted(wanted.keys() - found.keys()))
        more = ", ".join(sorted(found.keys() - wanted.keys()))
        said = [f"it lacks {lacks}"] * bool(lacks) + [f"it has {more} besides"] * bool(more)
        said += [
            f"what stands in self.{name}, a plain list, is not found" for name in lists(module)
        ]
        said += [f"{b} is the same part as {a}" for a, b in twice(module)]
        raise UnusableError(f"the module's parameters are other ones: {'; '.join(said)}")
    for name, parameter in found.items():
        if parameter.shape != wanted[name].shape:
            shapes = f"{tuple(parameter.shape)}; expected {tuple(wanted[name].shape)}"
            raise UnusableError(f"the parameter {name} has shape {shapes}")
    module = module.double()
    fill_with_known_weights(module)
    return module


def lists(module: nn.Module) -> list[str]:
    """The names of a module's plain lists, tuples and dictionaries of modules."""
    found = vars(module).items()
    rows = [(name, [*x.values()] if isinstance(x, dict) else x) for name, x in found]
    return [
        name
        for name, x in rows
        if name[:1] != "_" and isinstance(x, list | tuple) and x and isinstance(x[0], nn.Module)
    ]


def twice(module: nn.Module) -> list[tuple[str, str]]:
    """Pairs of names that one part of a module has."""
    parts = list(module._modules.items())
    pairs = itertools.combinations(parts, 2)
    return [(a, b) for (a, one), (b, other) in pairs if one is other]


def with_gradient(*values: Any) -> tuple[Any, ...]:
    """A case whose tensors of float64 ask for their gradients."""
    return tuple(
        x.clone().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x
        for x in values
    )


def small_model(seed: int, **changes: Any) -> Transformer:
    """A small model in float64; none of its sizes equals another."""
    sizes = {
        "source_vocab_size": 11,
        "target_vocab_size": 13,
        "d_model": 6,
        "d_ff": 7,
        "num_heads": 2,
        "num_encoder_layers": 1,
        "num_decoder_layers": 2,
    }
    words = [i for i in range(1, 5) if i != changes.get("pad_id", 0)]
    special = dict(zip(("bos_id", "eos_id", "unk_id"), words, strict=False))
    config = TransformerConfig(
        **{**sizes, **special, **changes}, dropout=0.0, tie_source_target=False
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return Transformer(config).double().eval()


def forward_cases() -> list[tuple]:
    """A model, a padded source and a padded target; padding is 0, 3 or 5, behind the words."""
    longer = torch.tensor([[4, 9, 5], [6, 0, 4]])
    source = torch.tensor([[5, 7, 9, 4, 2], [6, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
    target = torch.tensor([[1, 4, 12, 5], [1, 6, 7, 0], [1, 9, 0, 0]])
    return [
        (small_model(0), torch.tensor([[5, 7, 2]]), torch.tensor([[1, 4]])),
        (small_model(1), source, target),
        (small_model(2, pad_id=3), source.where(source != 0, 3), target.where(target != 0, 3)),
        (small_model(3, pad_id=5), longer, torch.tensor([[3, 0, 2, 7, 1]] * 2)),
    ]


def drawn_forward(chance: Chance) -> tuple[Transformer, Tensor, Tensor]:
    """A model, a source that is padded behind its words with any id, and a target."""
    batch, length, width, d_ff = chance.sizes(4)
    heads, pad_id, seed = chance.between(1, 3), chance.between(0, 9), chance.between(0, 99)
    sizes = {"d_model": 2 * heads * width, "num_heads": heads, "d_ff": d_ff, "pad_id": pad_id}
    model = small_model(seed, **sizes, num_encoder_layers=chance.between(1, 2))
    source = chance.padded(batch, length, 11, pad_id)
    return model, source, chance.padded(batch, length + 1, 13, pad_id)
