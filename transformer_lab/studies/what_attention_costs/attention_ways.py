"""Several ways to compute attention, and measurements of their time, memory and error.

Lesson 15 and its study `costs` use them.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_lab.model.attention import attention_weights
from transformer_lab.model.later.variants import (
    chunked_attention,
    linear_attention,
    local_attention,
)
from transformer_lab.studies.common.memory import (
    available_bytes,
    measure_peak_bytes,
    run_in_fresh_process,
)
from transformer_lab.studies.common.stopwatch import time_fastest_call

D_MODEL, HEADS = 256, 4
WINDOW = 64

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def explicit_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention as lesson 06 does, with the full matrix of weights."""
    return attention_weights(query, key) @ value


WAYS: dict[str, Attend] = {
    "explicit": explicit_attention,
    "fused": F.scaled_dot_product_attention,
    "chunked": chunked_attention,
    "local": partial(local_attention, window=WINDOW),
    "linear": linear_attention,
}
"""The ways to compute attention from queries, keys and values; the first three are equivalent."""


def draw_heads(
    n: int, *, seed: int = 0, device: torch.device | str = "cpu", width: int = D_MODEL // HEADS
) -> tuple[Tensor, Tensor, Tensor]:
    """Sample queries, keys and values for one sequence, each (1, heads, n, width)."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(1, HEADS, n, width, generator=generator).to(device) for _ in range(3))
    return q, k, v


def count_matrix_bytes(n: int, numbers: int = HEADS, each: int = 4) -> int:
    """Return the size in bytes of `numbers` n × n matrices with `each` bytes per entry."""
    return numbers * n * n * each


def fits_in_memory(n: int, device: torch.device | str = "cpu", copies: int = 3) -> bool:
    """Return whether `copies` n × n matrices for each head fit into 80% of the free memory."""
    return copies * count_matrix_bytes(n) < 0.8 * available_bytes(device)


@torch.no_grad()
def time_by_length(
    lengths: Sequence[int], device: torch.device | str = "cpu"
) -> dict[str, list[float | None]]:
    """Time each way of computing attention, and two parts of a layer, in seconds at each length.

    A value is None if the computation would not fit into memory.
    """
    project = nn.Linear(D_MODEL, D_MODEL).to(device)
    found: dict[str, list[float | None]] = {}
    for n in lengths:
        q, k, v = draw_heads(n, device=device)
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
            small = name not in ("explicit", "scores and mix") or fits_in_memory(n, device)
            found.setdefault(name, []).append(time_fastest_call(call, device) if small else None)
    return found


MEMORY_KINDS = (*WAYS, "explicit, training", "fused, training", "chunked, training")


def measure_peak(kind: str, n: int, device: str = "cpu") -> int | None:
    """Return the peak memory that an attention call adds, in bytes, or None if it would not fit.

    `kind` is one of `MEMORY_KINDS`; those with "training" run forward and backward. On a CPU, the
    measurement runs in a fresh process.
    """
    has_matrix = kind in ("explicit", "explicit, training", "chunked, training")
    if has_matrix and not fits_in_memory(n, device, copies=4):
        return None
    if torch.device(device).type == "cuda":
        return measure_peak_here(kind, n, device)
    return run_in_fresh_process(measure_peak_here, kind, n)


def measure_peak_here(kind: str, n: int, device: str = "cpu") -> int:
    """Return the peak memory that an attention call adds, in bytes, measured in this process."""
    way, _, training = kind.partition(", ")
    if device == "cpu":
        torch.set_num_threads(1)  # in the process that was started for this call

    def attend(tensors: Sequence[Tensor]) -> None:
        with torch.set_grad_enabled(bool(training)):
            output = WAYS[way](*tensors)
        if training:
            output.sum().backward()

    attend(
        [t.requires_grad_(bool(training)) for t in draw_heads(64, device=device)]
    )  # so that everything loaded lazily is loaded before the measurement
    tensors = [t.requires_grad_(bool(training)) for t in draw_heads(n, device=device)]
    return measure_peak_bytes(partial(attend, tensors), device)


ERROR_LENGTH = 256
SHARPNESS = {"soft": 1.0, "sharp": 2.0}
"""The standard deviation σ of the entries of queries and keys; that of the scores is σ²."""


def measure_errors(seed: int) -> dict[str, dict[str, float]]:
    """Return the relative error of each way of computing attention, on random float32 inputs.

    The error is ‖output − exact output‖ / ‖exact output‖, and the exact output is explicit
    attention in float64. "mean of values" is a control that ignores the queries. An output of zeros
    would have an error of 1.
    """
    ways = {**WAYS, "mean of values": average_values}
    found: dict[str, dict[str, float]] = {}
    for name, scale in SHARPNESS.items():
        q, k, v = draw_heads(ERROR_LENGTH, seed=seed)
        q, k = scale * q, scale * k
        exact = explicit_attention(q.double(), k.double(), v.double())
        found[name] = {
            way: float(f"{((attend(q, k, v) - exact).norm() / exact.norm()).item():.3g}")
            for way, attend in ways.items()
        }
    return found


def average_values(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention with uniform weights, which gives every query the mean of all values."""
    return value.mean(dim=-2, keepdim=True).expand(*query.shape[:-1], value.size(-1))
