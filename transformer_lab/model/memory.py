"""Whether a model can be here at all: asked before anything of it is allocated.

PyTorch's meta device could build it without memory, but its first use takes a second or more.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from transformer_lab.config import TransformerConfig, check
from transformer_lab.device import memory_there
from transformer_lab.model.positions import KEPT

COMPUTED = 24
"""Bytes that each number of a table of sinusoids takes while it is computed, in float64."""


def check_memory(config: TransformerConfig, saved: int | None = None) -> None:
    """A ValueError if a model's weights and tables, in float32, are more than this machine's memory.

    Or its parameters more than `saved`, where somebody knows how many there can be at most: a file
    has no more of them than it has bytes.
    """
    count, there = config.num_parameters, memory_there()
    if saved:  # an empty file is its reader's to name
        check("number of parameters", count, f"at most {saved:,}, as many as saved", count <= saved)
    expected = f"at most {there // 4:,.0f}, which fill the memory"
    check("number of parameters", count, expected, 4 * count <= there)
    needed = 4 * count + bytes_of_tables(config)
    name = "bytes of the weights and the tables of positions"
    check(name, needed, f"at most {there:,.0f}, this machine's memory", needed <= there)


def bytes_of_tables(config: TransformerConfig) -> int:
    """What the sinusoids take: one table for each side, or for each layer that turns by them."""
    rows = min(config.max_length, KEPT)
    layers = config.num_encoder_layers + config.num_decoder_layers
    kinds = {"sinusoidal": (2, config.d_model), "rotary": (layers, config.key_size)}
    tables, width = kinds.get(config.positions, (0, 0))
    return rows * width * (4 * tables + COMPUTED * (tables > 0))


def fitting(build: Callable[[Any, TransformerConfig], None]) -> Callable[..., None]:
    """The `__init__` of a model, which now refuses what does not fit into the memory.

    On the meta device, and on any other that is not the CPU, it asks nothing.
    """

    @wraps(build)
    def checked(self: Any, config: TransformerConfig) -> None:
        if torch.get_default_device().type == "cpu":
            check_memory(config)
        build(self, config)

    return checked
