"""How large a model is, and whether it fits into the memory, before it is built.

Models ask as they are built; loaders, presets and commands ask before they read or fetch anything.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import nn

from transformer_lab.config import MOST_PARAMETERS, TransformerConfig, check
from transformer_lab.config.device import total_memory
from transformer_lab.model.positions import KEPT
from transformer_lab.model.skip_init import SkipInit

STACKS = {
    "encoder": "num_encoder_layers",
    "decoder": "num_decoder_layers",
    "stack": "num_encoder_layers",
}
"""A model's child of layers, and the field that says how many there are."""
COMPUTED = 24
"""Bytes that each number of a table of sinusoids takes while it is computed, in float64."""


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Count the parameters of each component; a tied matrix counts once, where it first stands.

    The keys are the names of the children; "total" is their sum.
    """
    seen: set[int] = set()
    counts = {}
    for name, child in model.named_children():
        fresh = {id(p): p.numel() for p in child.parameters() if id(p) not in seen}
        counts[name] = sum(fresh.values())
        seen |= fresh.keys()
    return {**counts, "total": sum(counts.values())}


def num_parameters(kind: Callable[[TransformerConfig], Any], config: TransformerConfig) -> int:
    """Return how many parameters a model of this class has; a tied matrix counts once.

    They are counted on a model on PyTorch's meta device, whose tensors have a shape and no memory.
    It has at most one layer in each stack, because all layers of a stack are alike. Of the kinds of
    positions only the learned ones have parameters, so the tables of the others are not computed.
    """
    layers = {name: getattr(config, field) for name, field in STACKS.items()}
    few: dict[str, Any] = {
        "num_encoder_layers": min(1, config.num_encoder_layers),
        "num_decoder_layers": min(1, config.num_decoder_layers),
        "positions": "learned" if config.positions == "learned" else "none",
    }
    with torch.device("meta"), SkipInit():
        model = kind(TransformerConfig(**{**config.to_dict(), **few}))
    total = count_parameters(model)["total"]
    for name, stack in model.named_children():
        if name in layers:
            in_a_layer = sum(p.numel() for p in stack.layers.parameters())
            total += in_a_layer * max(0, layers[name] - 1)
    return total


def check_memory(
    kind: Callable[[TransformerConfig], Any],
    config: TransformerConfig,
    most_parameters: int | None = None,
) -> None:
    """Refuse a model whose weights and tables, in float32, are larger than this machine's memory.

    `most_parameters` is how many there can be at most, if the caller knows: a file holds no more of
    them than it has bytes.

    Raises:
        ValueError: With the number of parameters or bytes, and what was expected.
    """
    count, memory, name = num_parameters(kind, config), total_memory(), "number of parameters"
    check(name, count, f"at most {MOST_PARAMETERS:,}", count <= MOST_PARAMETERS)
    if most_parameters:  # an empty file is its reader's to name
        expected = f"at most {most_parameters:,}, as many as saved"
        check(name, count, expected, count <= most_parameters)
    check(name, count, f"at most {memory // 4:,.0f}, which fill the memory", 4 * count <= memory)
    needed = 4 * count + bytes_of_tables(config)
    name = "bytes of the weights and the tables of positions"
    check(name, needed, f"at most {memory:,.0f}, this machine's memory", needed <= memory)


def bytes_of_tables(config: TransformerConfig) -> int:
    """Return the bytes of the sinusoids: a table for each side, or for each layer that turns by them."""
    rows = min(config.max_length, KEPT)
    layers = config.num_encoder_layers + config.num_decoder_layers
    kinds = {"sinusoidal": (2, config.d_model), "rotary": (layers, config.key_size)}
    tables, width = kinds.get(config.positions, (0, 0))
    return rows * width * (4 * tables + COMPUTED * (tables > 0))


def check_memory_first(build: Callable[[Any, TransformerConfig], None]) -> Callable[..., None]:
    """Wrap the `__init__` of a model, so that it refuses what is too large for the memory first.

    It asks only where the model is built on the CPU: on the meta device nothing is allocated, and a
    GPU says itself when it is full.
    """

    @wraps(build)
    def checked(self: Any, config: TransformerConfig) -> None:
        if torch.get_default_device().type == "cpu":
            check_memory(type(self), config)
        build(self, config)

    return checked
