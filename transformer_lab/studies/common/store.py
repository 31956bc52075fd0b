"""Results of studies, stored as JSON next to the module that computed them.

Studies write the results. Lessons, tests and the list of findings read them, so a page can show at
once what took hours to compute.
"""

import json
from pathlib import Path
from typing import Any

from transformer_lab.config import check_choice
from transformer_lab.storage.files import write_atomically

STUDIES = Path(__file__).parents[1]


def load(name: str, folder: Path | None = None) -> dict[str, Any]:
    """Read the stored result of a study.

    Args:
        name: The study's name, for example "distance".
        folder: The folder of the JSON file; by default, the folder of the study.

    Raises:
        ValueError: If there is no stored result with this name; the message lists the valid names.
    """
    names = sorted(
        path.stem for path in (folder or STUDIES).glob("*.json" if folder else "*/*.json")
    )
    check_choice("name", name, names)
    stored: dict[str, Any] = json.loads(result_path(name, folder).read_text(encoding="utf-8"))
    return stored


def save(name: str, result: dict[str, Any], folder: Path | None = None) -> None:
    """Write a study's result atomically, so the file is never incomplete."""
    text = json.dumps(result, ensure_ascii=False)
    write_atomically(result_path(name, folder), f"{text}\n".encode())


def result_path(name: str, folder: Path | None = None) -> Path:
    """Return the path of a study's JSON file in `folder`, by default next to the study's module."""
    if folder is not None:
        return folder / f"{name}.json"
    (module,) = STUDIES.glob(f"*/{name}.py")
    return module.with_suffix(".json")


def study_command(name: str) -> str:
    """Return the command line that runs a study."""
    module = next(STUDIES.glob(f"*/{name}.py"), None)
    place = f"{module.parent.name}.{name}" if module else name
    return f"python -m transformer_lab.studies.{place}"
