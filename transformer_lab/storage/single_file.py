"""A translator in a single safetensors file that also holds its configuration and tokenizers.

The page that trains a model in the browser reads and writes such files too.
"""

from pathlib import Path
from typing import Any

from torch import Tensor

from transformer_lab.storage.folder import check_description
from transformer_lab.storage.tensors import CheckpointError, load_tensors

PARTS = ("model", "source_tokenizer", "target_tokenizer")
"""The fields that the description in a single file must have, in addition to its format."""


def is_single_file(path: Path) -> bool:
    """Return whether a path refers to a single file rather than to a translator's folder."""
    return path.is_file() or (path.suffix == ".safetensors" and not path.is_dir())


def read_single_file(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights and the description of a translator in a single file.

    Raises:
        CheckpointError: If the file is missing or damaged, or holds nothing but weights.
    """
    tensors, description = load_tensors(path)
    try:
        check_description(description)
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    for name in PARTS:
        if name not in description:
            expected = "a saved translator, which is one file or a folder"
            raise CheckpointError(f"{path} has no {name!r} in its metadata; expected {expected}")
    return tensors, description


def check_replaceable(path: Path, overwrite: bool) -> None:
    """Raise a ValueError if the file exists, unless it is a translator and `overwrite` is True."""
    if not path.exists():
        return
    if not overwrite:
        raise ValueError(f"{path} already exists. Choose another name, or pass overwrite=True")
    try:
        read_single_file(path)
    except CheckpointError as error:
        raise ValueError(
            f"{path} exists and holds no translator that can be loaded, so it is not replaced. "
            "Choose another name, or remove the file"
        ) from error
