"""One training step: the loss, its gradient, and one step of the optimizer (§5.3).

The trainer, lesson 09 and the studies use it.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import Batch
from transformer_lab.model import Transformer
from transformer_lab.training.loss import projected_loss

AnyBatch = TypeVar("AnyBatch")


class BatchLoss(nn.Module):
    """The label-smoothed loss of a model on a batch, in nats per real token (§5.4).

    It is a module because PyTorch's distributed package wraps modules. Matrix products are computed
    in `dtype`, and everything else in float32.
    """

    def __init__(
        self,
        model: Transformer,
        label_smoothing: float = 0.1,
        dtype: torch.dtype = torch.float32,
    ):
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing
        self.dtype = dtype

    def forward(self, batch: Batch) -> Float[Tensor, ""]:
        """Return the mean loss over all target tokens except padding (the model's `pad_id`)."""
        with autocast(batch.source.device, self.dtype):
            features = self.model.features(batch.source, batch.target_input)
            return projected_loss(
                features,
                self.model.output,
                batch.target_output,
                self.label_smoothing,
                self.model.config.pad_id,
            )


def build_adam(
    model: nn.Module,
    config: TrainingConfig,
    kind: Callable[..., torch.optim.Optimizer] = torch.optim.AdamW,
) -> torch.optim.Optimizer:
    """Return an Adam optimizer (§5.3) with weight decay, for a model that is already on its device.

    `config.weight_decay` applies to matrices but not to vectors, because nothing else in the model
    could make up for a bias or a LayerNorm gain that shrinks. The learning rate is 0 until
    `training_step` sets it.

    Args:
        model: The model whose parameters are optimized.
        config: Adam's betas and epsilon, and the weight decay.
        kind: AdamW, or a function that builds another optimizer from the same arguments, such as
            `distributed.build_sharded_optimizer`.
    """
    parameters = list(model.parameters())
    matrices: dict[str, Any] = {"params": [p for p in parameters if p.dim() > 1]}
    vectors = {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0}
    return kind(
        [matrices, vectors],
        lr=0.0,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=parameters[0].device.type in ("cpu", "cuda"),
    )


def training_step(
    loss_of: Callable[[AnyBatch], Tensor],
    optimizer: torch.optim.Optimizer,
    batch: AnyBatch,
    rate: float,
    clip_norm: float = 1.0,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Take one optimizer step on a batch, with the learning rate `rate`.

    If the gradient's norm is above `clip_norm`, the gradient is scaled down to that norm.

    Args:
        loss_of: A function that returns the loss of a batch as a differentiable scalar tensor.
        optimizer: The optimizer, which changes its parameters in place.
        batch: A batch that `loss_of` accepts.
        rate: The learning rate of this step.
        clip_norm: The maximum norm of the gradient.

    Returns:
        The loss before the step, and the gradient's norm before clipping. Both stay on the device,
        because reading them would make the CPU wait for it.
    """
    for group in optimizer.param_groups:
        group["lr"] = rate
    loss = loss_of(batch)
    optimizer.zero_grad()
    loss.backward()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    norm = torch.nn.utils.clip_grad_norm_(parameters, clip_norm)
    optimizer.step()
    return loss.detach(), norm


def autocast(device: torch.device, dtype: torch.dtype) -> torch.autocast:
    """Return a context manager in which matrix products use `dtype` and the rest uses float32."""
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)
