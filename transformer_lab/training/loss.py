"""Label-smoothed cross-entropy (§5.4)."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable


def label_smoothed_loss(
    logits: Float[Tensor, "*batch vocabulary"],
    target: Int[Tensor, "*batch"],
    smoothing: float = 0.1,
    pad_id: int = 0,
) -> Float[Tensor, ""]:
    """Mean cross-entropy in nats over the real tokens, against a smoothed target.

    The target puts 1 − ε on the right word and spreads ε over the whole
    vocabulary, the right word included. Against log p = log softmax(logits) it costs

        loss = −(1 − ε) log p[y] − ε mean(log p)

    so that the smoothed distribution itself is never built, and no log of 0
    is ever taken. A batch of nothing but padding has the loss 0.
    """
    rows = logits.flatten(0, -2).float()  # (tokens, vocabulary)
    losses = SmoothedCrossEntropy.apply(rows, target.flatten(), smoothing)  # (tokens)
    real = target.flatten() != pad_id
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


class SmoothedCrossEntropy(torch.autograd.Function):
    """The loss of each row, with its gradient by hand: softmax(logits) − smoothed target.

    Autograd would fill a matrix (tokens, vocabulary) for each of the two
    terms; by hand there is one. With 8,000 words that halves the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, target: Tensor, smoothing: float) -> Tensor:
        """Logits (tokens, vocabulary) and target (tokens) to losses (tokens)."""
        log_p = logits.log_softmax(dim=-1)  # (tokens, vocabulary)
        ctx.save_for_backward(log_p, target)
        ctx.smoothing = smoothing
        right = log_p.gather(-1, target[:, None])[:, 0]  # (tokens)
        return -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_losses: Tensor) -> tuple[Tensor, None, None]:
        """Return d loss / d logits = softmax(logits) − (1 − ε) onehot(y) − ε / vocabulary."""
        log_p, target = ctx.saved_tensors
        grad = log_p.exp()
        grad -= ctx.smoothing / grad.size(-1)
        right = torch.full_like(grad_losses, ctx.smoothing - 1)
        grad.scatter_add_(-1, target[:, None], right[:, None])
        return grad.mul_(grad_losses[:, None]), None, None


def loss_floor(smoothing: float, vocab_size: int) -> float:
    """The smallest smoothed loss there is, in nats: the entropy of the smoothed target."""
    other = smoothing / vocab_size
    right = 1 - smoothing + other
    rest = -(vocab_size - 1) * other * math.log(other) if other > 0 else 0.0
    return rest - right * math.log(right)
