"""Linear recurrences along a sequence, the core of state-space models (not in the paper).

The state at step t is h_t = a_t · h_{t−1} + b_t, elementwise, starting from 0. Mamba (Gu and Dao
2023) is called selective because its a_t and b_t depend on the token at step t: a_t is
exp(Δ_t · A), where Δ_t is computed from the token. If a is the same at all steps, the recurrence is
a convolution.
"""

import torch
from jaxtyping import Float
from torch import Tensor


def scan(
    decay: Float[Tensor, "*batch length state"], inputs: Float[Tensor, "*batch length state"]
) -> Float[Tensor, "*batch length state"]:
    """Return the states h_t = decay_t · h_{t−1} + inputs_t, computed one step at a time.

    The first state is the first input. The running time is linear in the length.
    """
    if inputs.size(-2) == 0:
        return inputs  # no step, no state
    state = torch.zeros_like(inputs[..., 0, :])
    states = []
    for a, b in zip(decay.unbind(dim=-2), inputs.unbind(dim=-2), strict=True):
        state = a * state + b
        states.append(state)
    return torch.stack(states, dim=-2)  # (*batch, length, state)


def parallel_scan(
    decay: Float[Tensor, "*batch length state"], inputs: Float[Tensor, "*batch length state"]
) -> Float[Tensor, "*batch length state"]:
    """Return the same states as `scan`, in about log2(length) rounds of parallel operations.

    After a round with `reach` r, the pair (a, b) at step t summarises the last 2r steps up to t.
    Two adjacent spans combine as (a₁, b₁), (a₂, b₂) → (a₂ a₁, a₂ b₁ + b₂) (Hillis and Steele 1986).
    """
    a, b, reach = decay, inputs, 1
    while reach < inputs.size(-2):
        joined = a[..., reach:, :] * b[..., :-reach, :] + b[..., reach:, :]
        b = torch.cat([b[..., :reach, :], joined], dim=-2)
        joined = a[..., reach:, :] * a[..., :-reach, :]
        a = torch.cat([a[..., :reach, :], joined], dim=-2)
        reach *= 2
    return b


def convolution(
    decay: Float[Tensor, " state"], inputs: Float[Tensor, "*batch length state"]
) -> Float[Tensor, "*batch length state"]:
    """Return the same states as `scan` for a constant decay, computed as a convolution.

    The state at t is Σ decay^(t−s) · inputs_s over s ≤ t.
    """
    length = inputs.size(-2)
    age = torch.arange(length, device=inputs.device)
    age = age[:, None] - age  # (t, s)
    kernel = decay ** age.clamp(min=0)[..., None] * (age >= 0)[..., None]  # (t, s, state)
    return torch.einsum("tsd,...sd->...td", kernel, inputs)
