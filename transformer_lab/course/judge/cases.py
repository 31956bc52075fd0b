"""Arguments for the checks' cases: arrays, modules and models that are the same on every call.

Several lessons share them.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig, join_with_and, join_with_or
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.model import Transformer
from transformer_lab.numpy_reference import softmax


def random_array(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Return a reproducible array of normally distributed random numbers.

    The numbers are rounded to two decimals before scaling, so a table of them can be checked by
    eye.
    """
    return scale * np.random.default_rng(seed).standard_normal(shape).round(2)


def random_weights(*shape: int, seed: int) -> np.ndarray:
    """Return a reproducible array of random attention weights whose rows sum to 1."""
    return softmax(2 * random_array(*shape, seed=seed))


ATTENTION_SHAPES = [((), 2, 3, 5, 7), ((3,), 5, 2, 7, 11), ((5, 3), 7, 2, 11, 4)]
"""Shapes (batch, queries, keys, d_k, d_v) without square matrices; batch has 0 to 2 dimensions."""


def attention_cases() -> list[tuple]:
    """Return a case (query, key, value) for each of `ATTENTION_SHAPES`; the first uses integers."""
    query = np.array([[1.0, 0, 2, -1, 1], [0, 3, -1, 1, 2]])
    key = np.array([[1.0, 2, 0, 1, -1], [0, 1, 1, -2, 1], [2, -1, 1, 0, 0]])
    value = np.array([[3.0, -1, 4, 1, -5, 9, 2], [6, 5, -3, -4, 8, 0, 7], [-2, 10, 8, 3, -6, 2, 1]])
    drawn = [
        (
            random_array(*b, q, d_k),
            random_array(*b, k, d_k, seed=1),
            random_array(*b, k, d_v, seed=2),
        )
        for b, q, k, d_k, d_v in ATTENTION_SHAPES[1:]
    ]
    return [(query, key, value), *drawn]


def random_attention_case(chance: RandomValues) -> tuple:
    """Return a random case (query, key, value) with zero, one or two batch dimensions."""
    (q, k, d_k, d_v), batch = chance.sizes(4), chance.batch()
    return tuple(chance.numbers(*batch, *shape) for shape in ((q, d_k), (k, d_k), (k, d_v)))


def fill_with_known_weights(module: nn.Module) -> None:
    """Overwrite all parameters with random numbers that depend only on their names and shapes."""
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            seed = sum(map(ord, name))
            values = random_array(*parameter.shape, seed=seed, scale=0.4)
            parameter.copy_(torch.tensor(values))


def build_module(
    answer: Callable[..., Any], reference: Callable[..., nn.Module], *sizes: int
) -> nn.Module:
    """Build an instance of the answer's class, in float64 and with known weights.

    Raises:
        UnusableError: If the answer does not build an `nn.Module`, or if the module's parameters do
            not have the reference's names and shapes.
    """
    module = answer(*sizes)
    if not isinstance(module, nn.Module):
        kind = describe_kind(module)
        raise UnusableError(f"your class builds {kind}, but should build an nn.Module")
    found, wanted = (dict(m.named_parameters()) for m in (module, reference(*sizes)))
    if found.keys() != wanted.keys():
        lacks = join_with_and(sorted(wanted.keys() - found.keys()))
        more = join_with_or(sorted(found.keys() - wanted.keys()))
        said = [f"it lacks {lacks}"] * bool(lacks) + [f"it should not have {more}"] * bool(more)
        said += [
            f"PyTorch does not find the modules in self.{name} (use nn.ModuleList or nn.ModuleDict)"
            for name in find_plain_lists(module)
        ]
        said += [f"{b} and {a} are the same module" for a, b in find_shared_parts(module)]
        raise UnusableError(f"the module has the wrong parameters: {'; '.join(said)}")
    for name, parameter in found.items():
        if parameter.shape != wanted[name].shape:
            shapes = f"{tuple(parameter.shape)}, but should have {tuple(wanted[name].shape)}"
            raise UnusableError(f"the parameter {name} has shape {shapes}")
    module = module.double()
    fill_with_known_weights(module)
    return module


def find_plain_lists(module: nn.Module) -> list[str]:
    """Return the names of attributes that hold modules in a plain list, tuple or dict.

    PyTorch does not find the parameters of such modules.
    """
    found = vars(module).items()
    rows = [(name, [*x.values()] if isinstance(x, dict) else x) for name, x in found]
    return [
        name
        for name, x in rows
        if name[:1] != "_" and isinstance(x, list | tuple) and x and isinstance(x[0], nn.Module)
    ]


def find_shared_parts(module: nn.Module) -> list[tuple[str, str]]:
    """Return pairs of attribute names that refer to the same submodule."""
    parts = list(module._modules.items())
    pairs = itertools.combinations(parts, 2)
    return [(a, b) for (a, one), (b, other) in pairs if one is other]


def require_gradients(*values: Any) -> tuple[Any, ...]:
    """Return the case with its floating-point tensors replaced by copies that require gradients."""
    return tuple(
        x.clone().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x
        for x in values
    )


def build_small_model(seed: int, **changes: Any) -> Transformer:
    """Build a small Transformer in float64 and evaluation mode, with random weights from `seed`.

    `changes` overrides fields of its configuration. The global random state does not change.
    """
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
    """Return cases (model, source, target) with padding (id 0, 3 or 5) after the words.

    The last model is in training mode but has no dropout, and its case has ids above 256.
    """
    longer = torch.tensor([[4, 9, 5], [306, 0, 129]])
    source = torch.tensor([[5, 7, 9, 4, 2], [6, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
    target = torch.tensor([[1, 4, 12, 5], [1, 6, 7, 0], [1, 9, 0, 0]])
    return [
        (build_small_model(0), torch.tensor([[5, 7, 2]]), torch.tensor([[1, 4]])),
        (build_small_model(1), source, target),
        (
            build_small_model(2, pad_id=3),
            source.where(source != 0, 3),
            target.where(target != 0, 3),
        ),
        (
            build_small_model(3, pad_id=5, source_vocab_size=307, target_vocab_size=263).train(),
            longer,
            torch.tensor([[3, 0, 2, 7, 1], [3, 0, 262, 131, 1]]),
        ),
    ]


def random_forward_case(chance: RandomValues) -> tuple[Transformer, Tensor, Tensor]:
    """Return a random case (model, source, target), padded after the words with a random id."""
    batch, length, width, d_ff = chance.sizes(4)
    heads, pad_id, seed = chance.between(1, 3), chance.between(0, 9), chance.between(0, 99)
    sizes = {"d_model": 2 * heads * width, "num_heads": heads, "d_ff": d_ff, "pad_id": pad_id}
    model = build_small_model(seed, **sizes, num_encoder_layers=chance.between(1, 2))
    source = chance.padded(batch, length, 11, pad_id)
    return model, source, chance.padded(batch, length + 1, 13, pad_id)
