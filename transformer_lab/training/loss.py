"""Label-smoothed cross-entropy (§5.4), also in a version fused with the output projection.

`BatchLoss` in `training.step`, lessons 08 and 09 and the studies use it.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


def label_smoothed_loss(
    logits: Float[Tensor, "*batch vocabulary"],
    target: Int[Tensor, "*batch"],
    smoothing: float = 0.1,
    pad_id: int = 0,
) -> Float[Tensor, ""]:
    """Return the mean label-smoothed cross-entropy over the real tokens, in nats (§5.4).

    The smoothed target puts 1 − ε on the correct word and spreads ε evenly over the whole
    vocabulary, including the correct word. With log p = log softmax(logits), the loss is

        loss = −(1 − ε) log p[y] − ε mean(log p)

    so the smoothed distribution is never built, and the log of 0 is never taken. A batch that is
    all padding has a loss of 0.
    """
    losses = token_losses(logits.float().log_softmax(dim=-1), target, smoothing)  # (*batch)
    real = target != pad_id
    return losses.where(real, 0.0).sum() / real.sum().clamp(min=1)


def token_losses(
    log_p: Float[Tensor, "*batch vocabulary"], target: Int[Tensor, "*batch"], smoothing: float
) -> Float[Tensor, "*batch"]:
    """Return each token's smoothed cross-entropy in nats, given the log-probabilities."""
    right = log_p.gather(-1, target[..., None])[..., 0]  # (*batch)
    if smoothing == 0:
        return -right  # a wrong word's log p may be −∞, and 0 · ∞ is no number
    return -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)


def projected_loss(
    features: Float[Tensor, "*batch d_model"],
    output: nn.Module,
    target: Int[Tensor, "*batch"],
    smoothing: float = 0.1,
    pad_id: int = 0,
) -> Float[Tensor, ""]:
    """Return `label_smoothed_loss(output(features), …)` without storing all logits at once.

    The logits take by far the most memory in a training step: with 2,048 tokens and 8,000 words
    they hold 16 million numbers. This function computes the logits and their gradient for part
    of the tokens at a time; on a CPU, the part is small enough to fit into the cache. If
    `output` is not a plain `nn.Linear`, all logits are computed at once.
    """
    if not is_plain_linear(output):
        return label_smoothed_loss(output(features), target, smoothing, pad_id)
    return _ProjectedLoss.apply(
        features.flatten(0, -2), output.weight, output.bias, target.flatten(), smoothing, pad_id
    )


def is_plain_linear(output: nn.Module) -> bool:
    """Return whether a module is an `nn.Linear` without hooks, adapters or a custom `forward`."""
    hooks = [*output._forward_hooks, *output._forward_pre_hooks]
    return isinstance(output, nn.Linear) and type(output).forward is nn.Linear.forward and not hooks


_LOGITS_AT_ONCE = {"cpu": 2**22}  # 16 MB, about what a processor caches
_LOGITS_AT_ONCE_ELSEWHERE = 2**27  # 512 MB: a GPU wants few, large products


class _ProjectedLoss(torch.autograd.Function):
    """The output layer and the loss as one operation, with the gradient derived by hand.

    The gradient of a token's loss with respect to its logits is softmax(logits) − smoothed target.
    This gradient is known as soon as the logits are, so the forward pass computes all gradients,
    and the backward pass only scales them.
    """

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        target: Tensor,
        smoothing: float,
        pad_id: int,
    ) -> Tensor:
        """Return the loss for features (tokens, d_model) and a weight (vocabulary, d_model)."""
        kind = features.device.type
        if torch.is_autocast_enabled(kind):
            dtype = torch.get_autocast_dtype(kind)
            features, weight, bias = features.to(dtype), weight.to(dtype), bias.to(dtype)
        real, whole = target != pad_id, features
        share = real / real.sum().clamp(min=1)  # how much each token's loss counts
        # Padding needs no logits. (A GPU would have to wait until it is known how many are left.)
        kept = real.nonzero()[:, 0] if kind == "cpu" else slice(None)
        features, target, share = features[kept], target[kept], share[kept]
        d_features = torch.empty_like(features)
        d_weight = torch.zeros_like(weight, dtype=torch.float32)
        d_bias = torch.zeros_like(bias, dtype=torch.float32)
        total = torch.zeros((), device=features.device)
        size = max(1, _LOGITS_AT_ONCE.get(kind, _LOGITS_AT_ONCE_ELSEWHERE) // weight.size(0))
        for at in range(0, len(features), size):
            x, y, w = features[at : at + size], target[at : at + size], share[at : at + size]
            log_p = F.linear(x, weight, bias).float().log_softmax(dim=-1)  # (slice, vocabulary)
            # Padding may be impossible to write, with a log p of −∞; times a share of 0, that is NaN.
            total += (token_losses(log_p, y, smoothing).where(w > 0, 0.0) * w).sum()
            d_logits = log_p.exp_()
            d_logits -= smoothing / weight.size(0)
            d_logits[torch.arange(len(y), device=y.device), y] -= 1 - smoothing
            d_logits *= w[:, None]
            d_bias += d_logits.sum(dim=0)
            d_logits = d_logits.to(x.dtype)
            torch.mm(d_logits, weight, out=d_features[at : at + size])
            d_weight += d_logits.T @ x
        d_whole = torch.zeros_like(whole)
        d_whole[kept] = d_features
        ctx.save_for_backward(d_whole, d_weight, d_bias)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients with respect to features, weight and bias, times `d_loss`."""
        d_features, d_weight, d_bias = ctx.saved_tensors
        return d_features * d_loss, d_weight * d_loss, d_bias * d_loss, None, None, None


def loss_floor(smoothing: float, vocab_size: int) -> float:
    """Return the smallest possible smoothed loss in nats: the entropy of the smoothed target."""
    other = smoothing / vocab_size
    right = 1 - smoothing + other
    rest = -(vocab_size - 1) * other * math.log(other) if other > 0 else 0.0
    return rest - right * math.log(right)
