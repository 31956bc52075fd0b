"""How large the model of a configuration is, before it is built."""

import torch

from transformer_lab.config import MOST_PARAMETERS, TransformerConfig, check
from transformer_lab.device import memory_there
from transformer_lab.model.later.recurrence import transformer_of
from transformer_lab.model.transformer import count_parameters
from transformer_lab.model.undrawn import Undrawn


def num_parameters(config: TransformerConfig) -> int:
    """How many parameters the model has, a tied matrix counted once.

    They are counted on a model on PyTorch's meta device, whose tensors have a shape and no memory.
    It has one layer a stack at most, since all layers of a stack are alike.
    """
    encoders, decoders = config.num_encoder_layers, config.num_decoder_layers
    few = {"num_encoder_layers": min(1, encoders), "num_decoder_layers": min(1, decoders)}
    with torch.device("meta"), Undrawn():
        model = transformer_of(TransformerConfig(**{**config.to_dict(), **few}))
    total = count_parameters(model)["total"]
    for stack, layers in ((model.encoder, encoders), (model.decoder, decoders)):
        of_a_layer = sum(p.numel() for p in stack.layers.parameters())
        total += of_a_layer * max(0, layers - 1)
    return total


def check_memory(config: TransformerConfig, saved: int | None = None) -> None:
    """A ValueError if the weights alone, in float32, are more than this machine's whole memory.

    Or more than `saved`, where somebody knows how many parameters there can be at most: a file has
    no more of them than it has bytes.
    """
    count, name = num_parameters(config), "number of parameters"
    check(name, count, f"at most {MOST_PARAMETERS:,}", count <= MOST_PARAMETERS)
    most = memory_there() // 4
    check(name, count, f"at most {most:,.0f}, which fill the memory", count <= most)
    if saved:  # an empty file is its reader's to name
        check(name, count, f"at most {saved:,}, as many as saved", count <= saved)
