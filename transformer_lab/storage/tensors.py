"""Weights and training states on disk: safetensors with a JSON header, never a pickle.

Translators, trainers and studies use it. Each file contains a checksum of its content, so even a
flipped bit is detected when the file is read.
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

from transformer_lab.config import check_dict, join_with_or
from transformer_lab.storage.files import write_atomically

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
"""The dtypes in which weights may be saved."""


GIT_LFS_POINTER = b"version https://git-lfs"
"""The first bytes of a Git LFS pointer, a small text file that stands for a large file."""


class CheckpointError(ValueError):
    """The error for a checkpoint that is missing, damaged or made for a different configuration."""


def save_tensors(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
    """Write tensors and a JSON value as one safetensors file, atomically."""
    write_atomically(path, tensors_as_bytes(tensors, meta))


def tensors_as_bytes(tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> bytes:
    """Return tensors, a JSON value and a checksum of both as the bytes of a safetensors file."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry only: the library writes several in an order that changes from run to run.
    header = {"meta": json.dumps({**meta, "sha256": compute_checksum(whole, meta)})}
    return bytes(safetensors.torch.save(whole, metadata=header))


def load_tensors(path: Path, sha256: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a file that `save_tensors` wrote; return the tensors, on the CPU, and the JSON value.

    Args:
        path: The path of the file.
        sha256: The expected SHA-256 of the file. If it is None, the content is checked against
            the file's own checksum, if there is one; older files have none.

    Raises:
        CheckpointError: If the file is missing or damaged; the message names it.
    """
    if not path.is_file():
        raise CheckpointError(f"the checkpoint {path} does not exist")
    check_not_git_lfs_pointer(path)
    check_sha256(path, sha256)
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if "meta" not in metadata:
                raise ValueError("its metadata has no 'meta'")
            meta: dict[str, Any] = json.loads(metadata["meta"])
            check_dict("its description", meta)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (safetensors.SafetensorError, ValueError, OSError, RecursionError) as error:
        raise CheckpointError(
            f"{path} is damaged, or is not a checkpoint from this course: {error}"
        ) from error
    own = meta.pop("sha256", None)
    if sha256 is None and own is not None and own != compute_checksum(tensors, meta):
        raise CheckpointError(f"{path} is damaged: its content has changed since it was saved")
    return tensors, meta


def check_not_git_lfs_pointer(path: Path) -> None:
    """Raise a CheckpointError if the file is a Git LFS pointer instead of the large file itself."""
    with path.open("rb") as file:
        if file.read(len(GIT_LFS_POINTER)) == GIT_LFS_POINTER:
            raise CheckpointError(
                f"{path} is a Git LFS pointer, which only stands for the file itself. To fetch the "
                "file, run `git lfs pull`"
            )


def is_checkpoint(path: Path) -> bool:
    """Return whether a file has the header that `save_tensors` writes."""
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            return "meta" in (file.metadata() or {})
    except (safetensors.SafetensorError, OSError):
        return False


def compute_checksum(tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> str:
    """Return one SHA-256 for a JSON value and CPU tensors, with their names, dtypes and shapes."""
    whole = hashlib.sha256(json.dumps(meta).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        whole.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        whole.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return whole.hexdigest()


def check_sha256(path: Path, sha256: str | None) -> None:
    """Raise a CheckpointError unless a file has this SHA-256; None skips the check."""
    if sha256 is None:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise CheckpointError(f"{path} is damaged: its content has changed since it was saved")


def check_tensors(
    found: Mapping[str, Tensor],
    expected: Mapping[str, Sequence[int]],
    path: Path,
    dtypes: Sequence[torch.dtype] = FLOATS,
) -> None:
    """Raise a CheckpointError unless these are the expected tensors, with usable numbers.

    The message names the first tensor that is missing or unexpected, has the wrong shape or dtype,
    or contains NaN or infinity (see `describe_unusable_numbers`).

    Args:
        found: The tensors, by name.
        expected: Their shapes, by name.
        path: The path of the file, for the message.
        dtypes: The allowed dtypes.
    """
    for name in sorted(expected.keys() | found.keys()):
        have = tuple(found[name].shape) if name in found else None
        want = tuple(expected[name]) if name in expected else None
        if have != want:
            if have is None:
                fault = f"{name} is missing; expected a tensor of shape {want}"
            elif want is None:
                fault = f"it contains {name!r}; expected no tensor of that name"
            else:
                fault = f"the shape of {name} is {have}; expected {want}"
            raise CheckpointError(f"{path} was made for a different configuration: {fault}")
        tensor = found[name]
        if tensor.dtype not in dtypes:
            kind, *kinds = (str(d).removeprefix("torch.") for d in (tensor.dtype, *dtypes))
            raise CheckpointError(f"{path}: {name} holds {kind}; expected {join_with_or(kinds)}")
        if message := describe_unusable_numbers(name, tensor):
            raise CheckpointError(f"{path}: {message}")


def describe_unusable_numbers(name: str, tensor: Tensor) -> str | None:
    """Return an error message if a weight contains NaN or infinity, and None otherwise.

    The output bias may contain −∞ for words that are never written, as long as some of its numbers
    are finite.
    """
    usable = tensor.isfinite()
    if name.endswith("output.bias") and usable.any():
        usable |= tensor == -torch.inf
    if usable.all():
        return None
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{name} contains NaN or infinity; expected finite numbers in {dtype}"


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Copy weights into a model, by name.

    Raises:
        CheckpointError: If a weight does not fit; the message names the first that does not.
    """
    own = weights_of(model)
    check_tensors(weights, {name: tensor.shape for name, tensor in own.items()}, path)
    for name, tensor in own.items():
        tensor.copy_(weights[name])


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the model's parameters by name, detached; a tied matrix appears once."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}
