"""Lesson 02's study: what helps learning, dividing by √d_k or the initial size of W_Q and W_K?

    python -m transformer_lab.studies.scale_or_start.root_and_start

An attention layer has to find one key among ten. Its scores are divided by √d_k or not. Both
matrices start either at their usual size, 1/√d_k, or smaller or larger by a factor of the fourth
root of d_k. If the scores are not divided, the small start makes the first scores as small as
division would. If they are divided, the large start makes them as large as without division.

In these runs only W_Q and W_K learn, so lowering the learning rate slows down no other parameters.
In some further runs, a matrix W_V learns with them, at the same rate.
"""

from typing import Any

import numpy as np
import torch

from transformer_lab.studies.common.grid import Setting, run_study_command

NAME = "root_and_start"
D_K, STEPS, KEYS, BATCH, D_V = 256, 400, 10, 32, 8
LAST = 50
"""The number of final steps over which the stored loss is averaged."""
SEEDS = (0, 1, 2, 3, 4)
WAYS: dict[str, tuple[bool, float]] = {
    "root": (True, 1.0),
    "no root": (False, 1.0),
    "no root, small start": (False, D_K**-0.25),
    "root, large start": (True, D_K**0.25),
}
"""For each way, whether the scores are divided by √d_k, and the factor on both initial matrices."""
RATES = {
    "Adam": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "SGD": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0),
}
MORE_RATES = {"Adam": (2e-3, 6e-3)}
"""Intermediate rates for the runs with W_V, because each way does best in this range."""
GRID: list[Setting] = (
    [
        {"way": way, "optimizer": name, "rate": rate}
        for way in WAYS
        for name, rates in RATES.items()
        for rate in rates
    ]
    + [
        {"way": way, "optimizer": name, "rate": rate, "learns_values": True}
        for way in ("root", "no root, small start")
        for name, rates in RATES.items()
        for rate in (*rates, *MORE_RATES.get(name, ()))
    ]
    + [{"same": rate} for rate in (0.1, 1.0)]
)


def run(setting: Setting) -> dict[str, Any]:
    """Train an attention layer with each seed, or compare two ways that should agree.

    `{"same": rate}` compares two runs of plain gradient descent. One divides the scores by √d_k and
    uses this rate. The other does not divide the scores, but starts from smaller matrices and uses
    rate / √d_k. Both compute the same scores at every step, so any difference is rounding.

    Returns:
        Only one entry:

        "apart": if the setting has "same", the largest difference between the losses of the two
            ways.
        "last": otherwise, the mean loss of the last `LAST` steps for each seed.
    """
    if "same" in setting:
        rate = setting["same"]
        apart = [
            np.abs(
                train_attention("root", "SGD", rate, seed, torch.float64)
                - train_attention(
                    "no root, small start", "SGD", rate / D_K**0.5, seed, torch.float64
                )
            ).max()
            for seed in SEEDS
        ]
        return {"apart": float(max(apart))}
    way, optimizer, rate = setting["way"], setting["optimizer"], setting["rate"]
    learns_values = setting.get("learns_values", False)
    losses = [
        train_attention(way, optimizer, rate, seed, learns_values=learns_values) for seed in SEEDS
    ]
    return {"last": [round(float(loss[-LAST:].mean()), 4) for loss in losses]}


def train_attention(
    way: str,
    optimizer: str,
    rate: float,
    seed: int,
    dtype: torch.dtype = torch.float32,
    *,
    learns_values: bool = False,
) -> np.ndarray:
    """Train an attention layer, and return the loss at each step, (STEPS,).

    The data and the starting matrices depend only on the seed. With `learns_values`, a matrix W_V
    learns together with W_Q and W_K, at the same rate.
    """
    rooted, factor = WAYS[way]
    generator = torch.Generator().manual_seed(seed)
    w_q, w_k, turn = (
        (torch.randn(D_K, D_K, generator=generator) / D_K**0.5).to(dtype) for _ in range(3)
    )
    w_q, w_k, w_v = w_q * factor, w_k * factor, torch.eye(D_V, dtype=dtype)
    learnt = [w_q.requires_grad_(), w_k.requires_grad_()]
    if learns_values:
        w_v = (torch.randn(D_V, D_V, generator=generator) / D_V**0.5).to(dtype)
        learnt.append(w_v.requires_grad_())
    kind = {"Adam": torch.optim.Adam, "SGD": torch.optim.SGD}[optimizer]
    descent = kind(learnt, lr=rate)
    losses = []
    for _ in range(STEPS):
        keys = torch.randn(BATCH, KEYS, D_K, generator=generator).to(dtype)
        values = torch.randn(BATCH, KEYS, D_V, generator=generator).to(dtype)
        query = keys[:, 0] @ turn
        scores = (keys @ w_k @ (query @ w_q)[..., None])[..., 0]
        weights = (scores / D_K**0.5 if rooted else scores).softmax(dim=-1)
        loss = (((weights[:, None] @ values @ w_v)[:, 0] - values[:, 0]) ** 2).mean()
        descent.zero_grad()
        loss.backward()
        descent.step()
        losses.append(loss.item())
    return np.array(losses)


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
