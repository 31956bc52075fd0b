"""A translator as one file: safetensors that also hold its configuration and tokenizers.

The page that trains a model in the browser reads and writes such files too.
"""

from pathlib import Path
from typing import Any

from torch import Tensor

from transformer_lab.storage.folder import check_description
from transformer_lab.storage.tensors import CheckpointError, load_tensors

PARTS = ("model", "source_tokenizer", "target_tokenizer")
"""What a single file's description holds in addition to its format: the contents of JSON files."""


def is_single_file(path: Path) -> bool:
    """Return whether a path stands for a translator in one file rather than in a folder."""
    return path.is_file() or (path.suffix == ".safetensors" and not path.is_dir())


def read_single_file(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the weights of a translator in one file, and its description.

    Raises:
        CheckpointError: If the file is missing or damaged, or holds nothing but weights.
    """
    tensors, description = load_tensors(path)
    try:
        check_description(description)
    except ValueError as error:
        raise CheckpointError(f"{path}: damaged: {error}") from error
    for name in PARTS:
        if name not in description:
            expected = "a translator saved as one file or as a folder"
            raise CheckpointError(f"{path}: its metadata has no {name!r}; expected {expected}")
    return tensors, description


def check_replaceable(path: Path, overwrite: bool) -> None:
    """Raise a ValueError if a file exists that is not a translator, or may not be overwritten."""
    if not path.exists():
        return
    if not overwrite:
        raise ValueError(f"{path} already exists; expected another name, or overwrite=True")
    try:
        read_single_file(path)
    except CheckpointError as error:
        expected = "another name, or a translator that this package wrote"
        raise ValueError(f"{path} is a file of another kind; expected {expected}") from error
