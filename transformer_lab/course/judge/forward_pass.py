"""The Transformer's forward pass, step by step, and common mistakes in it for lessons 07 and 09."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.model import Transformer
from transformer_lab.model.masks import causal_mask, padding_mask


def compute_logits(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """Compute the logits (batch, target, vocabulary), as `Transformer.forward` does."""
    words = padding_mask(source, model.config.pad_id)
    x = model.source_positions(model.embed(model.source_embedding, source))
    memory = model.encoder(x, words)
    y = model.target_positions(model.embed(model.target_embedding, target))
    features = model.decoder(y, memory, causal_mask(target.size(1)), words)
    return model.output(features)


edit_forward_pass = partial(edit_reference, compute_logits)

ENCODER_SEES_PADDING = ("model.encoder(x, words)", "model.encoder(x, None)")
DECODER_SEES_PADDING = ("causal_mask(target.size(1)), words", "causal_mask(target.size(1)), None")


def drop_padding(
    answer: Callable[..., Any], model: Transformer, source: Tensor, target: Tensor
) -> Any:
    """Call the answer and return its logits, set to 0 at the target's padding positions.

    Raises:
        UnusableError: If the answer changes the mode (training or evaluation) of the model or of
            one of its submodules.
    """
    modes = [module.training for module in model.modules()]
    logits = answer(model, source, target)
    if [module.training for module in model.modules()] != modes:
        raise UnusableError(
            "your answer changes the model's mode (training or evaluation), but the mode is the "
            "caller's choice"
        )
    fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape
    is_padding = (target == model.config.pad_id)[..., None]
    return logits.masked_fill(is_padding, 0.0) if fits and logits.ndim == 3 else logits
