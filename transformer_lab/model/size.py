"""How large the model of a configuration is, and whether it can be here at all, before it is built.

Models ask as they are built; loaders, presets and commands ask before they read or fetch anything.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import torch

from transformer_lab.config import MOST_PARAMETERS, TransformerConfig, check
from transformer_lab.device import memory_there
from transformer_lab.model.positions import KEPT
from transformer_lab.model.undrawn import Undrawn

COMPUTED = 24
"""Bytes that each number of a table of sinusoids takes while it is computed, in float64."""


def num_parameters(config: TransformerConfig) -> int:
    """How many parameters the model has, a tied matrix counted once.

    They are counted on a model on PyTorch's meta device, whose tensors have a shape and no memory.
    It has one layer a stack at most, since all layers of a stack are alike. Of the kinds of positions
    only the learned ones have parameters; the tables of the others would be computed for nothing.
    """
    from transformer_lab.model.later.recurrence import transformer_of  # which needs this module
    from transformer_lab.model.transformer import count_parameters

    encoders, decoders = config.num_encoder_layers, config.num_decoder_layers
    few: dict[str, Any] = {
        "num_encoder_layers": min(1, encoders),
        "num_decoder_layers": min(1, decoders),
        "positions": "learned" if config.positions == "learned" else "none",
    }
    with torch.device("meta"), Undrawn():
        model = transformer_of(TransformerConfig(**{**config.to_dict(), **few}))
    total = count_parameters(model)["total"]
    for stack, layers in ((model.encoder, encoders), (model.decoder, decoders)):
        of_a_layer = sum(p.numel() for p in stack.layers.parameters())
        total += of_a_layer * max(0, layers - 1)
    return total


def check_memory(config: TransformerConfig, saved: int | None = None) -> None:
    """A ValueError if a model's weights and tables, in float32, are more than this machine's memory.

    Or its parameters more than `saved`, where somebody knows how many there can be at most: a file
    has no more of them than it has bytes.
    """
    count, there, name = num_parameters(config), memory_there(), "number of parameters"
    check(name, count, f"at most {MOST_PARAMETERS:,}", count <= MOST_PARAMETERS)
    if saved:  # an empty file is its reader's to name
        check(name, count, f"at most {saved:,}, as many as saved", count <= saved)
    check(name, count, f"at most {there // 4:,.0f}, which fill the memory", 4 * count <= there)
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


def of_one_stack(config: TransformerConfig) -> TransformerConfig:
    """The configuration without what a model of one stack does not take of it."""
    return replace(
        config,
        source_vocab_size=config.target_vocab_size,
        tie_source_target=True,
        tie_target_output=True,
        num_decoder_layers=0,
    )


def fitting(
    build: Callable[[Any, TransformerConfig], None], one_stack: bool = False
) -> Callable[..., None]:
    """The `__init__` of a model, which now refuses what does not fit into the memory.

    On the meta device, and on any other that is not the CPU, it asks nothing. A model of `one_stack`
    has the encoder's layers and the target's vocabulary alone.
    """

    @wraps(build)
    def checked(self: Any, config: TransformerConfig) -> None:
        if torch.get_default_device().type == "cpu":
            check_memory(of_one_stack(config) if one_stack else config)
        build(self, config)

    return checked
