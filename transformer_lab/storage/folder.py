"""A translator's folder: its file names, its config.json, and the checksums in that file.

`Translator` reads and writes it. A training run checks whether a folder holds a translator.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from transformer_lab.config import check, check_dict
from transformer_lab.storage.files import locate_file
from transformer_lab.storage.tensors import CheckpointError

FORMAT = "transformer_lab 1"
DESCRIPTION = {"config.json", "source_tokenizer.json", "target_tokenizer.json"}
"""The files of a translator that are written before its first weights."""
WEIGHTS = "model.safetensors"


def read_description(folder: Path) -> dict[str, Any]:
    """Return the content of a folder's config.json.

    Raises:
        CheckpointError: If the file is missing or damaged, or has a format other than `FORMAT`,
            such as that of Transformers.
    """
    path = locate_file(folder, "config.json")
    if not path.is_file():
        raise CheckpointError(
            f"{folder} has no config.json; expected the folder of a trained model"
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict) and "model_type" in found and "format" not in found:
            raise CheckpointError(
                f"{folder} holds a Transformers model; expected one that this package saved. "
                "To convert a MarianMT model, import load_marian from "
                f"transformer_lab.formats.marian and call load_marian({str(folder)!r}).save(…)"
            )
        description = check_description(found)
        own = description.get("sha256", {}).get("config.json")  # older folders have no checksum
        if own is not None and own != compute_own_checksum(description):
            raise ValueError("its content has changed since it was saved")
    except CheckpointError:
        raise
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    return description


def check_description(description: Any) -> dict[str, Any]:
    """Return a translator's description unchanged if it is a dict in the format `FORMAT`.

    Raises:
        ValueError: If it is not, or if its field "about" or "sha256" is not a dict.
    """
    check_dict("the JSON value", description)
    form = description.get("format")
    check("its format", form, repr(FORMAT), form == FORMAT)
    for name in ("about", "sha256"):
        check_dict(repr(name), description.get(name, {}))
    return cast(dict[str, Any], description)


def add_own_checksum(description: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a description with its own checksum added to "sha256", as "config.json"."""
    plain = json.loads(json.dumps(description, allow_nan=False))
    return {**plain, "sha256": {**plain["sha256"], "config.json": compute_own_checksum(plain)}}


def compute_own_checksum(description: dict[str, Any]) -> str:
    """Return the SHA-256 of a description, leaving out the checksum stored in it."""
    sums = {name: said for name, said in description["sha256"].items() if name != "config.json"}
    return hash_bytes(json.dumps({**description, "sha256": sums}, sort_keys=True).encode())


def holds_translator(folder: Path) -> bool:
    """Return whether the folder holds a translator, with or without weights.

    Raises:
        ValueError: If the folder contains one of a translator's files, but no valid config.json.
    """
    for name in (*sorted(DESCRIPTION), WEIGHTS):
        if locate_file(folder, name).exists():
            try:
                read_description(folder)
            except CheckpointError as error:
                raise ValueError(
                    f"{folder} contains {name}, but no translator that can be loaded. "
                    "Choose another folder, or remove the file"
                ) from error
            return True
    return False


def hash_bytes(content: bytes) -> str:
    """Return the SHA-256 of these bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
