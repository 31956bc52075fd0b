"""Muon, an optimizer that moves a matrix equally far in every direction (Jordan et al. 2024).

Adam treats each entry of a matrix on its own. Muon takes the momentum of a whole matrix and
replaces the momentum's singular values with numbers near 1, so directions in which the gradient is
usually small get equally large steps. Muon is only for the weight matrices inside the layers; Adam
updates the other parameters. The study `sooner` uses this module.
"""

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""The coefficients (a, b, c) of the polynomial a·s + b·s³ + c·s⁵.

Applied repeatedly, the polynomial brings a singular value s in (0, 1] close to 1.
"""


def orthogonalize(
    matrix: Float[Tensor, "rows columns"], steps: int = 5
) -> Float[Tensor, "rows columns"]:
    """Approximate U Vᵀ for a matrix U S Vᵀ (its SVD), by Newton–Schulz iteration.

    The singular values of the result lie between 0.7 and 1.2, or lower if they started at less than
    a hundredth of the matrix's norm.
    """
    a, b, c = NEWTON_SCHULZ
    tall = matrix.size(0) > matrix.size(1)
    x = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        square = x @ x.T  # (smaller side, smaller side)
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if tall else x


class Muon(torch.optim.Optimizer):
    """An optimizer that steps along the orthogonalised momentum, about as far as Adam would."""

    def __init__(self, matrices: Iterable[Tensor], rate: float = 0.0, momentum: float = 0.95):
        super().__init__(matrices, {"lr": rate, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                state["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                ahead = matrix.grad.lerp(state["momentum"], group["momentum"])
                # An orthogonal matrix has entries of 1/√(longer side); Adam's steps are about 0.2.
                size = 0.2 * max(matrix.shape) ** 0.5
                matrix.add_(orthogonalize(ahead), alpha=-group["lr"] * size)
