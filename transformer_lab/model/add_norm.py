"""The "Add & Norm" box of Figure 1: a residual connection and layer normalisation."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import Norm


class AddNorm(nn.Module):
    """Compute LayerNorm(x + Dropout(Sublayer(x))), as in the paper (§3.1, §5.4).

    With `norm="pre"`, compute x + Dropout(Sublayer(LayerNorm(x))) instead. The sum is then not
    normalised, so x itself is passed on unchanged, and each sub-layer only adds to it.
    """

    def __init__(self, d_model: int, dropout: float = 0.0, norm: Norm = "post"):
        super().__init__()
        self.layer_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm = norm

    def forward(
        self, x: Float[Tensor, "batch length d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch length d_model"]:
        """Return x plus the sub-layer's output, normalised as the class describes.

        `sublayer` maps a tensor to another one of the same shape. Its input is x, or LayerNorm(x)
        with pre-norm.
        """
        if self.norm == "pre":
            return x + self.dropout(sublayer(self.layer_norm(x)))
        return self.layer_norm(x + self.dropout(sublayer(x)))
