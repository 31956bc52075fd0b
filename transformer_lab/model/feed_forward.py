"""The position-wise feed-forward network (§3.3)."""

from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import Activation


class FeedForward(nn.Module):
    """Compute FFN(x) = max(0, x W1 + b1) W2 + b2 at every position (§3.3, equation 2).

    The paper's activation max(0, ·) is "relu"; later models use a smooth function instead.
    """

    def __init__(
        self, d_model: int, d_ff: int, dropout: float = 0.0, activation: Activation = "relu"
    ):
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)
        self.activation = getattr(nn.functional, activation)  # relu: max(0, ·)

    def forward(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Return the network's output at each position, computed from that position alone."""
        return self.w_2(self.dropout(self.activation(self.w_1(x))))
