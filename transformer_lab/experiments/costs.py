"""Lesson 15's study: what attention costs, beside an LSTM layer and a convolution.

    python -m transformer_lab.experiments.costs

Times and memory are the machine's: rounds of everything by turns, in one process that should have
the machine for itself (about eight minutes). Gradient reach and errors are the same everywhere.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.experiments.memory import available_bytes, in_fresh_process, peak_bytes
from transformer_lab.experiments.study import Setting, remake
from transformer_lab.model.attention import MultiHeadAttention, attention_weights
from transformer_lab.model.variants import chunked_attention, linear_attention, local_attention

NAME = "costs"
D_MODEL, HEADS = 256, 4
LENGTHS = tuple(2**k for k in range(6, 14))
MEMORY_LENGTHS = LENGTHS[3:]
BATCHES, BATCH_LENGTH = (1, 4, 16, 64), 128
REACH_LENGTHS = tuple(2**k for k in range(1, 9))
REACH_WIDTH, KERNEL = 32, 3
WINDOW = 64
AT_LEAST = 0.05  # seconds that a quick call is repeated for

GRID: list[Setting] = [
    setting
    for number in range(5)
    for setting in (
        {"part": "lengths", "threads": 1, "round": number},
        {"part": "layers", "threads": 1, "round": number},
        {"part": "layers", "threads": 2, "round": number},
        *([{"part": "memory", "threads": 1, "round": number}] if number < 2 else []),
    )
]
SMALL: list[Setting] = [{"part": "exact", "seed": seed} for seed in range(5)]
"""What does not depend on the machine; one of these is repeated by the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """One round of one part; seconds and bytes are listed in the order of the lengths."""
    if setting["part"] == "exact":
        return {"reach": reaches(setting["seed"]), "errors": errors(setting["seed"])}
    torch.set_num_threads(setting["threads"])
    if setting["part"] == "memory":
        return {kind: [peak_of(kind, n) for n in MEMORY_LENGTHS] for kind in MEMORY_KINDS}
    if setting["part"] == "lengths":
        return by_length(LENGTHS)
    return {
        step: {
            "length": layer_seconds(LENGTHS, [1], step),
            "batch": layer_seconds([BATCH_LENGTH], BATCHES, step),
        }
        for step in ("forward", "training")
    }


# ---------------------------------------------------------------- one attention layer, by length

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def explicit(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention as lesson 06 wrote it, with its matrix."""
    return attention_weights(query, key) @ value


WAYS: dict[str, Attend] = {
    "explicit": explicit,
    "fused": F.scaled_dot_product_attention,
    "chunked": chunked_attention,
    "local": partial(local_attention, window=WINDOW),
    "linear": linear_attention,
}
"""Ways from queries, keys and values to an output; the first three compute the same."""


def heads(
    n: int, *, seed: int = 0, device: torch.device | str = "cpu", width: int = D_MODEL // HEADS
) -> tuple[Tensor, Tensor, Tensor]:
    """Random queries, keys and values of one sequence, each (1, heads, n, width)."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(1, HEADS, n, width, generator=generator).to(device) for _ in range(3))
    return q, k, v


def matrix_bytes(n: int, numbers: int = HEADS, each: int = 4) -> int:
    """The bytes of so many n × n matrices."""
    return numbers * n * n * each


def fits(n: int, device: torch.device | str = "cpu", copies: int = 3) -> bool:
    """Whether so many copies of all heads' matrices find room: scores, scaled scores, weights."""
    return copies * matrix_bytes(n) < 0.8 * available_bytes(device)


@torch.no_grad()
def by_length(
    lengths: Sequence[int], device: torch.device | str = "cpu"
) -> dict[str, list[float | None]]:
    """Seconds of each way and of each part of a layer, by turns; None for what would not fit."""
    project = nn.Linear(D_MODEL, D_MODEL).to(device)
    found: dict[str, list[float | None]] = {}
    for n in lengths:
        q, k, v = heads(n, device=device)
        x = torch.randn(1, n, D_MODEL, device=device)

        def projections(x: Tensor = x) -> None:
            for _ in range(4):  # W_Q, W_K, W_V, W_O
                project(x)

        def products(q: Tensor = q, k: Tensor = k, v: Tensor = v) -> None:
            (q @ k.mT) @ v

        calls: dict[str, Callable[[], object]] = {
            name: partial(attend, q, k, v) for name, attend in WAYS.items()
        }
        calls |= {"projections": projections, "scores and mix": products}
        for name, call in calls.items():
            small = name not in ("explicit", "scores and mix") or fits(n, device)
            found.setdefault(name, []).append(seconds(call, device) if small else None)
    return found


def seconds(call: Callable[[], object], device: torch.device | str = "cpu") -> float:
    """The fastest of some calls: as many as fill `AT_LEAST` seconds, and two at least."""
    times: list[float] = []
    while len(times) < 2 or sum(times) < AT_LEAST:
        wait_for(device)
        start = time.perf_counter()
        call()
        wait_for(device)
        times.append(time.perf_counter() - start)
    return float(f"{min(times):.4g}")


def wait_for(device: torch.device | str) -> None:
    """A GPU is asked and not waited for; a clock that is read at once would measure the asking."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


def exponent(lengths: Sequence[int], values: Sequence[float]) -> float:
    """The slope of the straight line through (log n, log value), by least squares."""
    x = torch.tensor(lengths, dtype=torch.float64).log()
    y = torch.tensor(values, dtype=torch.float64).log()
    return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())


# ---------------------------------------------------------------- three kinds of layers


class Last(nn.Module):
    """An LSTM layer's outputs without its last state; a forget bias of 1 is often given."""

    def __init__(self, width: int, forget_bias: float = 0.0):
        super().__init__()
        self.lstm = nn.LSTM(width, width, batch_first=True)
        with torch.no_grad():  # the gates are input, forget, cell, output
            self.lstm.get_parameter("bias_hh_l0")[width : 2 * width] += forget_bias

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """All states, computed one after the other."""
        return self.lstm(x)[0]


class Convolution(nn.Module):
    """`nn.Conv1d` over positions, which reads the past: position i sees i and the ones before it."""

    def __init__(self, width: int, kernel: int = KERNEL, dilation: int = 1):
        super().__init__()
        self.past = (kernel - 1) * dilation
        self.conv = nn.Conv1d(width, width, kernel, dilation=dilation)

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """All positions at once."""
        return self.conv(F.pad(x.mT, (self.past, 0))).mT


class SelfAttention(nn.Module):
    """The package's multi-head attention, from a sequence to itself."""

    def __init__(self, width: int, num_heads: int = HEADS):
        super().__init__()
        self.attention = MultiHeadAttention(width, num_heads)

    def forward(self, x: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch n width"]:
        """All positions at once; every one sees every one."""
        return self.attention(x, x, x)


LAYERS: dict[str, Callable[[int], nn.Module]] = {
    "attention": SelfAttention,
    "LSTM": Last,
    "convolution": Convolution,
}


def layer_seconds(
    lengths: Sequence[int],
    batches: Sequence[int],
    step: str,
    device: torch.device | str = "cpu",
) -> dict[str, list[float]]:
    """Seconds of one forward pass or training step of each kind of layer, by turns."""
    layers = {name: make(D_MODEL).to(device) for name, make in LAYERS.items()}
    found: dict[str, list[float]] = {name: [] for name in layers}
    for n in lengths:
        for batch in batches:
            x = torch.randn(batch, n, D_MODEL, device=device)
            for name, layer in layers.items():
                act = forward if step == "forward" else train
                found[name].append(seconds(partial(act, layer, x), device))
    return found


@torch.no_grad()
def forward(layer: nn.Module, x: Tensor) -> None:
    """One pass without gradients."""
    layer(x)


def train(layer: nn.Module, x: Tensor) -> None:
    """Forward, backward, and a step of plain gradient descent."""
    optimizer = torch.optim.SGD(layer.parameters(), lr=1e-3)
    optimizer.zero_grad()
    layer(x).square().mean().backward()
    optimizer.step()


# ---------------------------------------------------------------- memory

MEMORY_KINDS = (*WAYS, "explicit, training", "fused, training", "chunked, training")


def peak_of(kind: str, n: int, device: str = "cpu") -> int | None:
    """What one attention adds at most to memory, in bytes; on a CPU in a process of its own.

    "…, training" is forward and backward. None for what would not fit.
    """
    has_matrix = kind in ("explicit", "explicit, training", "chunked, training")
    if has_matrix and not fits(n, device, copies=4):
        return None
    if torch.device(device).type == "cuda":
        return attention_peak(kind, n, device)
    return in_fresh_process(attention_peak, kind, n)


def attention_peak(kind: str, n: int, device: str = "cpu") -> int:
    """`peak_of`, here and now."""
    way, _, training = kind.partition(", ")
    if device == "cpu":
        torch.set_num_threads(1)  # of the process that is here for this call

    def attend(tensors: Sequence[Tensor]) -> None:
        with torch.set_grad_enabled(bool(training)):
            output = WAYS[way](*tensors)
        if training:
            output.sum().backward()

    attend(
        [t.requires_grad_(bool(training)) for t in heads(64, device=device)]
    )  # loads what is lazy
    tensors = [t.requires_grad_(bool(training)) for t in heads(n, device=device)]
    return peak_bytes(partial(attend, tensors), device)


# ---------------------------------------------------------------- gradient reach


def stacks(n: int) -> dict[str, nn.Module]:
    """Layers of each kind that lead from the first of n inputs to the last output; four that do not."""
    width = REACH_WIDTH
    doubling = [2**k for k in range(dilated_layers(n))]
    return {
        "LSTM": Last(width),
        "LSTM, forget bias 1": Last(width, forget_bias=1.0),
        "convolutions, 4 layers": convolutions([1] * 4),
        "convolutions, as many as it takes": convolutions([1] * plain_layers(n)),
        "dilated convolutions": convolutions(doubling),
        "attention": SelfAttention(width),
    }


def plain_layers(n: int) -> int:
    """Convolutions of width `KERNEL` until the last position sees the first: each adds KERNEL − 1."""
    return math.ceil((n - 1) / (KERNEL - 1))


def dilated_layers(n: int) -> int:
    """The same if every layer looks twice as far as the one before."""
    return next(k for k in range(1, 99) if (KERNEL - 1) * (2**k - 1) >= n - 1)


def convolutions(dilations: Sequence[int]) -> nn.Module:
    """Causal convolutions with ReLU between them."""
    layers: list[nn.Module] = [Convolution(REACH_WIDTH, dilation=d) for d in dilations]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])


def reaches(seed: int) -> dict[str, list[float]]:
    """‖∂ last output / ∂ first input‖ / √width of untrained stacks, by `REACH_LENGTHS`; float64.

    Matrices start as the Transformer's do, Xavier-uniform; what an LSTM or a convolution starts
    with is PyTorch's own.
    """
    found: dict[str, list[float]] = {}
    for n in REACH_LENGTHS:
        torch.manual_seed(seed)
        for name, stack in stacks(n).items():
            for parameter in stack.parameters():
                if name == "attention" and parameter.ndim == 2:
                    nn.init.xavier_uniform_(parameter)
            found.setdefault(name, []).append(float(f"{reach(stack.double(), n):.4g}"))
    return found


def reach(layer: nn.Module, n: int) -> float:
    """The Frobenius norm of the Jacobian from the first input to the last output, by √width."""
    x = torch.randn(1, n, REACH_WIDTH, dtype=torch.float64)
    copies = x.expand(REACH_WIDTH, -1, -1).clone().requires_grad_()  # one for each output number
    layer(copies)[:, -1].diagonal().sum().backward()
    assert copies.grad is not None
    return float(copies.grad[:, 0].norm()) / math.sqrt(REACH_WIDTH)


# ---------------------------------------------------------------- errors

ERROR_LENGTH = 256
SHARPNESS = {"soft": 1.0, "sharp": 2.0}
"""Standard deviation of the numbers in queries and keys; that of the scores is its square."""


def errors(seed: int) -> dict[str, dict[str, float]]:
    """‖output − exact output‖ / ‖exact output‖ of each way, on random heads in float32.

    What is exact is the explicit way in float64.
    """
    found: dict[str, dict[str, float]] = {}
    for name, scale in SHARPNESS.items():
        q, k, v = heads(ERROR_LENGTH, seed=seed)
        q, k = scale * q, scale * k
        exact = explicit(q.double(), k.double(), v.double())
        found[name] = {
            way: float(f"{((attend(q, k, v) - exact).norm() / exact.norm()).item():.3g}")
            for way, attend in WAYS.items()
        }
    return found


def main() -> None:
    """Make what is missing, one run after the other."""
    parser = argparse.ArgumentParser(prog=f"python -m transformer_lab.experiments.{NAME}")
    parser.add_argument("--again", action="store_true", help="measure anew what is stored")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no run after these")
    chosen = parser.parse_args()
    if chosen.again:
        remake(NAME, run, SMALL, workers=1)  # a run that the grid lacks is left out
    remake(NAME, run, [*SMALL, *GRID], workers=1, minutes=chosen.minutes)


if __name__ == "__main__":
    main()
