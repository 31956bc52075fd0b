"""The folder of a translator: the names of its files, the sums that seal them, and whose they are."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TransformerConfig, check
from transformer_lab.files import current, write_atomically
from transformer_lab.model import Transformer
from transformer_lab.model.later.recurrence import transformer_of
from transformer_lab.model.undrawn import Undrawn
from transformer_lab.training.checkpoint import (
    CheckpointError,
    is_usable,
    tensors_as_bytes,
    weights_of,
)

FORMAT = "transformer_lab 1"
DESCRIPTION = {"config.json", "source_tokenizer.json", "target_tokenizer.json"}
"""The files of a translator that are there before its first weights."""
WEIGHTS = "model.safetensors"


def described(folder: Path) -> dict[str, Any]:
    """What the config.json of a folder says; a CheckpointError if it is none of ours."""
    path = current(folder, "config.json")
    if not path.is_file():
        raise CheckpointError(f"{folder}: no config.json; expected the folder of a trained model")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        check("its JSON", type(description).__name__, "a dict", isinstance(description, dict))
        check("format", description.get("format"), repr(FORMAT), description["format"] == FORMAT)
        for name in ("about", "sha256"):
            value = description.get(name, {})
            check(name, type(value).__name__, "a dict", isinstance(value, dict))
        own = description.get("sha256", {}).get("config.json")  # older ones have none
        if own is not None and own != own_sum(description):
            raise ValueError("its content is not what was saved")
    except (ValueError, KeyError, RecursionError) as error:
        raise CheckpointError(f"{path}: damaged: {error}") from error
    return description


def sealed(description: dict[str, Any]) -> dict[str, Any]:
    """A description with the sum of itself among its sums, as JSON has it."""
    plain = json.loads(json.dumps(description, allow_nan=False))
    return {**plain, "sha256": {**plain["sha256"], "config.json": own_sum(plain)}}


def own_sum(description: dict[str, Any]) -> str:
    """The SHA-256 of all that a description says but this sum."""
    sums = {name: said for name, said in description["sha256"].items() if name != "config.json"}
    return sha256(json.dumps({**description, "sha256": sums}, sort_keys=True).encode())


def is_ours(folder: Path) -> bool:
    """Whether there is a translator of ours, if only its description; False if there is nothing.

    A ValueError names a file that is in the way and that this package did not write.
    """
    for name in (*sorted(DESCRIPTION), WEIGHTS):
        if current(folder, name).exists():
            try:
                described(folder)
            except CheckpointError as error:
                expected = "a folder without it, or one that this package wrote"
                raise ValueError(
                    f"{folder} holds a {name} of another kind; expected {expected}"
                ) from error
            return True
    return False


def check_plain(model: Transformer) -> None:
    """A ValueError names the first weight in which a model is not what its configuration describes.

    Whoever loads it builds the plain one: without an adapter, and not quantised.
    """
    own, described = shapes_of(model), described_shapes(model.config)
    for name in sorted(own.keys() | described.keys()):
        has, said = own.get(name, "nothing"), described.get(name, "nothing")
        cause = "Was it quantised, compiled or wrapped? Save the model as it was before"
        expected = f"{said}, as its configuration describes. {cause}"
        check(f"weight {name} of the model", has, expected, has == said)


def shapes_of(model: Transformer) -> dict[str, tuple[int, ...]]:
    """The shape of each parameter by name; a tied matrix has one name."""
    return {name: tuple(tensor.shape) for name, tensor in weights_of(model).items()}


@lru_cache(maxsize=1)
def described_shapes(config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """The shapes of the model that a configuration describes; its weights are never written."""
    with Undrawn():
        return shapes_of(transformer_of(config))


def weights_as_bytes(model: Transformer, dtype: torch.dtype) -> bytes:
    """The file of a model's weights in this precision; a ValueError if it cannot be read again."""
    check_plain(model)
    tensors = {name: tensor.to(dtype) for name, tensor in weights_of(model).items()}
    for name, tensor in tensors.items():
        expected = f"finite numbers in {str(dtype).removeprefix('torch.')}"
        check(f"weights of {name}", "NaN or infinite", expected, is_usable(name, tensor))
    return tensors_as_bytes(tensors, {"format": FORMAT})


def save_weights(model: Transformer, path: Path, dtype: torch.dtype = torch.float32) -> None:
    """Write the weights alone, in this precision: a snapshot."""
    write_atomically(path, weights_as_bytes(model, dtype))


def sha256(content: bytes) -> str:
    """The sum by which a damaged file is known."""
    return hashlib.sha256(content).hexdigest()


def sha256_of(path: Path) -> str:
    """That of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
