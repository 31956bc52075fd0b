"""Compute the size of a model and check that it fits into memory, before the model is built.

Models check this when they are constructed, and loaders check it before they read any weights.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import nn

from transformer_lab.config import MOST_PARAMETERS, TransformerConfig, check, check_count
from transformer_lab.config.device import total_memory
from transformer_lab.model.positions import KEPT
from transformer_lab.model.skip_init import SkipInit

STACKS = {
    "encoder": "num_encoder_layers",
    "decoder": "num_decoder_layers",
    "stack": "num_encoder_layers",
}
"""The name of the configuration field that holds the number of layers, for each kind of stack."""
COMPUTED = 24
"""Temporary memory, in bytes per entry, for computing a table of sinusoids in float64."""


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Return the parameter count of each direct child module by name, and their sum as "total".

    A matrix that several children share is counted only for the first of them.
    """
    seen: set[int] = set()
    counts = {}
    for name, child in model.named_children():
        fresh = {id(p): p.numel() for p in child.parameters() if id(p) not in seen}
        counts[name] = sum(fresh.values())
        seen |= fresh.keys()
    return {**counts, "total": sum(counts.values())}


def num_parameters(kind: Callable[[TransformerConfig], Any], config: TransformerConfig) -> int:
    """Return the parameter count of a model of class `kind`; a tied matrix is counted once.

    The model is built on PyTorch's meta device, where tensors have a shape but take no memory. All
    layers of a stack have the same size, so at most one layer per stack is built. Only learned
    position tables have parameters, so other position tables are not built.
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
    """Raise a ValueError if a model's weights and position tables would not fit into memory.

    Sizes are computed for float32.

    Args:
        kind: The class of the model.
        config: The configuration of the model.
        most_parameters: The maximum number of parameters to accept, if the caller knows a limit. A
            weight file, for example, cannot hold more parameters than it has bytes.

    Raises:
        ValueError: If the model is too large; the message gives the number of parameters or bytes
            and the limit.
    """
    count, memory = num_parameters(kind, config), total_memory()
    check_count(
        "the model", count, "parameter", f"at most {MOST_PARAMETERS:,}", count <= MOST_PARAMETERS
    )
    if most_parameters:  # if the file is empty, its reader says so
        expected = f"at most {most_parameters:,}, because the saved file is too small for more"
        check_count("the model", count, "parameter", expected, count <= most_parameters)
    expected = f"at most {memory // 4:,.0f}, because no more fit into memory"
    check_count("the model", count, "parameter", expected, 4 * count <= memory)
    needed = 4 * count + bytes_of_tables(config)
    if needed > memory:
        raise ValueError(
            f"the model and its position tables need {needed:,} bytes of memory, but this machine "
            f"has only {memory:,.0f}"
        )


def bytes_of_tables(config: TransformerConfig) -> int:
    """Return the size of the sinusoid tables in bytes, plus the memory for computing one of them.

    Sinusoidal positions have two tables, one each for source and target. Rotary positions have one
    table per layer, and other kinds have none.
    """
    rows = min(config.max_length, KEPT)
    layers = config.num_encoder_layers + config.num_decoder_layers
    kinds = {"sinusoidal": (2, config.d_model), "rotary": (layers, config.key_size)}
    tables, width = kinds.get(config.positions, (0, 0))
    return rows * width * (4 * tables + COMPUTED * (tables > 0))


def check_memory_first(build: Callable[[Any, TransformerConfig], None]) -> Callable[..., None]:
    """Wrap a model's `__init__` so that `check_memory` runs before anything is allocated.

    The check runs only for models built on the CPU: the meta device allocates nothing, and a full
    GPU raises its own error.
    """

    @wraps(build)
    def checked(self: Any, config: TransformerConfig) -> None:
        check("config", config, "a TransformerConfig", isinstance(config, TransformerConfig))
        # In PyTorch 2.6, `torch.get_default_device` does not notice `with torch.device(...)`.
        if torch.empty(0).device.type == "cpu":
            check_memory(type(self), config)
        build(self, config)

    return checked
