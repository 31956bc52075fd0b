"""Gradient reach: how much of a gradient at the last output reaches the first input.

Lesson 15 and its study `costs` use it.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from transformer_lab.studies.what_attention_costs.layer_kinds import (
    KERNEL,
    Convolution,
    LSTMLayer,
    SelfAttention,
)

REACH_LENGTHS = tuple(2**k for k in range(1, 9))
REACH_WIDTH = 32


def make_stacks(n: int) -> dict[str, nn.Module]:
    """Return stacks of LSTM, convolution or attention layers, by name, for n positions.

    In all of them except "convolutions, 4 layers", the last output depends on the first of n
    inputs.
    """
    width = REACH_WIDTH
    doubling = [2**k for k in range(count_dilated_layers(n))]
    return {
        "LSTM": LSTMLayer(width),
        "LSTM, forget bias 1": LSTMLayer(width, forget_bias=1.0),
        "LSTM, forget bias 3": LSTMLayer(width, forget_bias=3.0),
        "convolutions, 4 layers": make_convolutions([1] * 4),
        "convolutions, as many as it takes": make_convolutions([1] * count_plain_layers(n)),
        "dilated convolutions": make_convolutions(doubling),
        "dilated convolutions, He": init_he(make_convolutions(doubling)),
        "attention": make_attention(),
    }


def count_plain_layers(n: int) -> int:
    """Return how many causal convolutions the last of n positions needs to see the first.

    Each layer reaches `KERNEL` − 1 positions further back.
    """
    return math.ceil((n - 1) / (KERNEL - 1))


def count_dilated_layers(n: int) -> int:
    """Return how many causal convolutions are needed if each layer doubles the dilation.

    As in `count_plain_layers`, the last of n positions must see the first.
    """
    return next(k for k in range(1, 99) if (KERNEL - 1) * (2**k - 1) >= n - 1)


def make_convolutions(dilations: Sequence[int]) -> nn.Module:
    """Return a stack of causal convolutions with these dilations and ReLU between the layers."""
    layers: list[nn.Module] = [Convolution(REACH_WIDTH, dilation=d) for d in dilations]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])


def init_he(stack: nn.Module) -> nn.Module:
    """Initialise a stack's convolutions in place for ReLU (He et al. 2015); return the stack."""
    for layer in stack.modules():
        if isinstance(layer, nn.Conv1d):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.get_parameter("bias"))
    return stack


def make_attention() -> nn.Module:
    """Return self-attention with Xavier-uniform matrices, as in an untrained Transformer."""
    layer = SelfAttention(REACH_WIDTH)
    for parameter in layer.parameters():
        if parameter.ndim == 2:
            nn.init.xavier_uniform_(parameter)
    return layer


def measure_all_reaches(seed: int) -> dict[str, list[float]]:
    """Return the gradient reach of every stack at each of `REACH_LENGTHS`.

    The gradient reach is ‖∂ last output / ∂ first input‖ / √width, computed in float64. The stacks
    are untrained. Unless a stack's name says otherwise, LSTMs and convolutions have PyTorch's
    default initialisation.
    """
    found: dict[str, list[float]] = {}
    for n in REACH_LENGTHS:
        torch.manual_seed(seed)
        for name, stack in make_stacks(n).items():
            found.setdefault(name, []).append(float(f"{measure_reach(stack.double(), n):.4g}"))
    return found


def measure_reach(layer: nn.Module, n: int) -> float:
    """Return the gradient reach of a layer over n positions.

    It is the Frobenius norm of the Jacobian of the last output with respect to the first of n
    random inputs, divided by √width.
    """
    x = torch.randn(1, n, REACH_WIDTH, dtype=torch.float64)
    copies = x.expand(REACH_WIDTH, -1, -1).clone().requires_grad_()  # one for each output number
    layer(copies)[:, -1].diagonal().sum().backward()
    assert copies.grad is not None
    return float(copies.grad[:, 0].norm()) / math.sqrt(REACH_WIDTH)
