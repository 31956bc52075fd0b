"""Serialise a model's weights, after checking that they can be loaded again.

`Translator.save` and the trainer's snapshots use it.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.model import Transformer
from transformer_lab.model.build import build_model
from transformer_lab.model.skip_init import SkipInit
from transformer_lab.storage.files import write_atomically
from transformer_lab.storage.folder import FORMAT
from transformer_lab.storage.tensors import (
    describe_unusable_numbers,
    tensors_as_bytes,
    weights_of,
)


def check_plain(model: Transformer) -> None:
    """Raise a ValueError unless a model has exactly the parameters that its configuration implies.

    The message names the first parameter that differs in name or shape. A loader builds the model
    from its configuration alone, so the weights of adapters or of a quantised model would not fit.
    """
    own, described = shapes_of(model), described_shapes(model.config)
    for name in sorted(own.keys() | described.keys()):
        has, said = own.get(name), described.get(name)
        if has == said:
            continue
        if has is None:
            fault = f"the model lacks the weight {name}, which its configuration describes"
        elif said is None:
            fault = f"the model has the weight {name}, which its configuration does not describe"
        else:
            expected = f"{said}, as its configuration describes"
            fault = f"shape of the model's weight {name} is {has}; expected {expected}"
        cause = "Was the model quantised, compiled or wrapped? If so, save it before that step"
        raise ValueError(f"{fault}. {cause}")


def shapes_of(model: Transformer) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter by name; a tied matrix appears under one name."""
    return {name: tuple(tensor.shape) for name, tensor in weights_of(model).items()}


@lru_cache(maxsize=1)
def described_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each parameter, by name, in a model with this configuration.

    The model is built with uninitialised weights, because sampling random ones takes time.
    """
    with SkipInit():
        return shapes_of(build_model(config))


def weights_as_bytes(
    model: Transformer, dtype: torch.dtype, description: Mapping[str, Any] | None = None
) -> bytes:
    """Return the bytes of a safetensors file that holds a model's weights in the given dtype.

    `description` holds fields to store in the file in addition to the format.

    Raises:
        ValueError: If the model differs from its configuration (see `check_plain`), or a weight is
            not finite in this dtype.
    """
    check_plain(model)
    tensors = {name: tensor.to(dtype) for name, tensor in weights_of(model).items()}
    for name, tensor in tensors.items():
        if message := describe_unusable_numbers(name, tensor):
            raise ValueError(message)
    return tensors_as_bytes(tensors, {"format": FORMAT, **(description or {})})


def save_weights(model: Transformer, path: Path, dtype: torch.dtype = torch.float32) -> None:
    """Write a snapshot: a file of a model's weights, without configuration or tokenizers.

    Raises:
        ValueError: If `weights_as_bytes` refuses the weights.
    """
    write_atomically(path, weights_as_bytes(model, dtype))
