"""Three kinds of layer that read a sequence, and a function that times them.

Lesson 15, its study `costs` and the measurement of gradient reach use them.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.studies.common.stopwatch import time_fastest_call
from transformer_lab.studies.what_attention_costs.attention_ways import D_MODEL, HEADS

KERNEL = 3


class LSTMLayer(nn.Module):
    """An LSTM layer that returns the state at every position; a common `forget_bias` is 1."""

    def __init__(self, width: int, forget_bias: float = 0.0):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)
        with torch.no_grad():  # the gates are input, forget, cell, output
            self.lstm.get_parameter("bias_hh_l0")[width : 2 * width] += forget_bias

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """Return the states at all positions, computed one after the other."""
        return self.lstm(x)[0]


class Convolution(nn.Module):
    """A causal `nn.Conv1d` over positions: position i sees itself and the ones before it."""

    def __init__(self, width: int, kernel: int = KERNEL, dilation: int = 1):
        super().__init__()
        self.past = (kernel - 1) * dilation
        self.conv = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """Convolve all positions at once."""
        return self.conv(F.pad(x.mT, (self.past, 0))).mT


class SelfAttention(nn.Module):
    """The package's multi-head attention, used as self-attention."""

    def __init__(self, width: int, num_heads: int = HEADS):
        super().__init__()
        self.attention = MultiHeadAttention(width, num_heads)

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """Attend from every position to every position, all at once."""
        return self.attention(x, x, x)


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "attention": SelfAttention,
    "LSTM": LSTMLayer,
    "convolution": Convolution,
}


def time_layers(
    lengths: Sequence[int],
    batches: Sequence[int],
    step: str,
    device: torch.device | str = "cpu",
) -> dict[str, list[float]]:
    """Time one step of each kind of layer, in seconds, for each length and batch size.

    `step` is "forward" or "training". At each size, the kinds are timed one after the other.
    """
    layers = {name: make(D_MODEL).to(device) for name, make in LAYERS.items()}
    found: dict[str, list[float]] = {name: [] for name in layers}
    for n in lengths:
        for batch in batches:
            x = torch.randn(batch, n, D_MODEL, device=device)
            for name, layer in layers.items():
                act = run_forward if step == "forward" else run_training_step
                found[name].append(time_fastest_call(partial(act, layer, x), device))
    return found


@torch.no_grad()
def run_forward(layer: nn.Module, x: Tensor) -> None:
    """Run a layer forward without gradients."""
    layer(x)


def run_training_step(layer: nn.Module, x: Tensor) -> None:
    """Run a layer forward and backward, and take a step of plain gradient descent."""
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)
    optimizer.zero_grad()
    layer(x).square().mean().backward()
    optimizer.step()
