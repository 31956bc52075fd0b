"""Weights and training states on disk: safetensors with a JSON header, never a pickle.

Each file says what its content adds up to, so that a flipped bit is found when it is read.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from transformer_lab.files import write_atomically

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
"""The kinds of numbers in which weights may be saved."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, damaged or made for another configuration."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
    """Write tensors and a JSON value as one safetensors file, atomically."""
    write_atomically(path, tensors_as_bytes(tensors, meta))


def tensors_as_bytes(tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> bytes:
    """The safetensors file of these tensors and this JSON value, with the sum of both."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry alone: the library writes several in an order that changes from run to run.
    header = {"meta": json.dumps({**meta, "sha256": sum_of(whole, meta)})}
    return bytes(safetensors.torch.save(whole, metadata=header))


def load_tensors(path: Path, sha256: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote, onto the CPU.

    `sha256` is that of the file, where somebody knows it; without, the file's own word for its
    content counts. Older files have none.

    Raises:
        CheckpointError: Naming a file that is missing or damaged.
    """
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file; expected a checkpoint")
    check_sum(path, sha256)
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            meta: dict[str, Any] = json.loads((file.metadata() or {})["meta"])
            if not isinstance(meta, dict):
                raise ValueError(f"its description is {meta!r:.60}; expected a dict")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, KeyError, ValueError, OSError, RecursionError) as error:
        raise CheckpointError(
            f"{path}: damaged or not a checkpoint of this course: {error}"
        ) from error
    own = meta.pop("sha256", None)
    if sha256 is None and own is not None and own != sum_of(tensors, meta):
        raise CheckpointError(f"{path}: damaged: its content is not what was saved")
    return tensors, meta


def is_checkpoint(path: Path) -> bool:
    """Whether a file begins as `save_tensors` writes it."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return "meta" in (file.metadata() or {})
    except (safetensors.SafetensorError, OSError):
        return False


def sum_of(tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> str:
    """SHA-256 of tensors on the CPU, with names, kinds and shapes, and of a JSON value."""
    whole = hashlib.sha256(json.dumps(meta).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        whole.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        whole.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return whole.hexdigest()


def check_sum(path: Path, sha256: str | None) -> None:
    """A CheckpointError if a file's bytes are not those of this SHA-256; None asks for nothing."""
    if sha256 is None:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise CheckpointError(f"{path}: damaged: its content is not what was saved")


def check_tensors(
    found: Mapping[str, Tensor],
    expected: Mapping[str, Sequence[int]],
    path: Path,
    dtypes: Sequence[torch.dtype] = FLOATS,
) -> None:
    """A CheckpointError names the first tensor that is missing, too many, or does not fit.

    Each is of finite floats and has the expected shape. Only in the last bias may a number be −∞:
    that of a word which is never written.
    """
    for name in sorted(expected.keys() | found.keys()):
        have = tuple(found[name].shape) if name in found else "nothing"
        want = tuple(expected[name]) if name in expected else "nothing"
        if have != want:
            raise CheckpointError(
                f"{path}: made for another configuration: {name} has {have}; expected {want}"
            )
        tensor = found[name]
        if tensor.dtype not in dtypes:
            kind, *kinds = (str(d).removeprefix("torch.") for d in (tensor.dtype, *dtypes))
            raise CheckpointError(f"{path}: {name} holds {kind}; expected {' or '.join(kinds)}")
        if not is_usable(name, tensor):
            raise CheckpointError(f"{path}: {name} holds NaN or infinity; expected finite numbers")


def is_usable(name: str, tensor: Tensor) -> bool:
    """Are these numbers that a model can compute with?"""
    usable = tensor.isfinite()
    if name.endswith("output.bias") and usable.any():
        usable |= tensor == -torch.inf
    return bool(usable.all())


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Copy weights into a model; a CheckpointError names the first one that does not fit."""
    own = weights_of(model)
    check_tensors(weights, {name: tensor.shape for name, tensor in own.items()}, path)
    for name, tensor in own.items():
        tensor.copy_(weights[name])


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters by name, each once: a tied matrix has one name."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}
