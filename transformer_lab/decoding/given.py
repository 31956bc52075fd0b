"""The probability of a given translation, computed in one parallel pass, as in training."""

from collections.abc import Sequence

import torch

from transformer_lab.config.device import device_of
from transformer_lab.data.batching import Example, pad
from transformer_lab.model import Transformer
from transformer_lab.model.masks import length_mask


@torch.inference_mode()
def log_probabilities(model: Transformer, examples: Sequence[Example]) -> list[float]:
    """Return each target's log-probability given its source, in nats, including eos.

    Masks are computed from lengths, because an imported model may start its decoder with the
    padding token. The caller must put the model in evaluation mode, as for all decoding.
    """
    if not examples:
        return []
    device, pad_id = device_of(model), model.config.pad_id
    source, target = (
        pad(side, pad_id).to(device)
        for side in ([e.source for e in examples], [e.target for e in examples])
    )
    read, written = target[:, :-1], target[:, 1:]
    lengths = torch.tensor([len(e.source) for e in examples], device=device)
    steps = torch.tensor([len(e.target) - 1 for e in examples], device=device)
    logits = model(source, read, length_mask(lengths, source.size(1)))
    log_p = logits.float().log_softmax(dim=-1).gather(-1, written[..., None])[..., 0]
    real = length_mask(steps, written.size(1))[:, 0, 0]  # (batch, steps)
    # The padding token itself may have a probability of 0, whose logarithm is −∞.
    sums: list[float] = log_p.where(real, 0.0).sum(dim=-1).tolist()
    return sums
