"""What a study has found, kept beside it as JSON, so that a page can show it at once."""

import json
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.files import write_atomically

RESULTS = Path(__file__).parent / "results"


def load(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    """The stored result of a study; a ValueError names those there are."""
    names = sorted(path.stem for path in folder.glob("*.json"))
    check("name", name, f"one of {names}", name in names)
    stored: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return stored


def save(name: str, result: dict[str, Any], folder: Path = RESULTS) -> None:
    """Write a result, whole or not at all."""
    text = json.dumps(result, ensure_ascii=False)
    write_atomically(folder / f"{name}.json", f"{text}\n".encode())
