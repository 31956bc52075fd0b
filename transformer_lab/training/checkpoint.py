"""Weights and training states on disk: safetensors with a JSON header, never a pickle.

Every file is written beside its place and then moved there in one step, so
that a crash or a full disk leaves the old file as it was.
"""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or made for another configuration."""


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file or nothing; OSError if there is no room or no permission."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)  # mkstemp's own mode would hide the file from everyone else
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def save_tensors(path: Path, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
    """Write tensors and a JSON value as one safetensors file, atomically."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    header = {"meta": json.dumps(meta)}
    write_atomically(path, safetensors.torch.save(whole, metadata=header))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote, onto the CPU; a CheckpointError names a file that is damaged."""
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file; expected a checkpoint")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            meta = json.loads((file.metadata() or {})["meta"])
            return {name: file.get_tensor(name) for name in file.keys()}, meta  # noqa: SIM118
    except (safetensors.SafetensorError, KeyError, ValueError, OSError) as error:
        raise CheckpointError(
            f"{path}: damaged or not a checkpoint of this course: {error}"
        ) from error


def load_weights(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """Copy weights into a model; a CheckpointError names the first one that does not fit."""
    own = weights_of(model)
    for name in sorted(own.keys() | weights.keys()):
        have = tuple(weights[name].shape) if name in weights else "nothing"
        want = tuple(own[name].shape) if name in own else "nothing"
        if have != want:
            raise CheckpointError(
                f"{path}: made for another configuration: {name} has {have}; expected {want}"
            )
    for name, tensor in own.items():
        tensor.copy_(weights[name])


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters by name, each once: a tied matrix has one name."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}
