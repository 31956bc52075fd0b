"""The parts of documents that tools write: only what is between two marks."""

import os
import platform
from pathlib import Path

from benchmarks.machine import read_cpu_info
from transformer_lab.storage.files import write_atomically

DOCUMENTS = Path(__file__).parents[1] / "docs"


def put(document: Path, name: str, text: str) -> None:
    """Write a text between the marks of this name; raise a ValueError if the document has none."""
    begin, end = f"<!-- {name}: written by a tool -->\n", f"<!-- end of {name} -->"
    before, found, rest = document.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{document.name} has no part {name!r}; expected the two marks around it")
    write_atomically(document, f"{before}{begin}\n{text.strip()}\n\n{end}{after}".encode())


def machine() -> str:
    """Return a description of this machine, without a name that only its owner knows."""
    wide = " with AVX-512" if "avx512f" in read_cpu_info().get("flags", "").split() else ""
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        system = platform.system()
    kind = platform.machine().replace("_", "-") + wide
    return f"{os.cpu_count()} cores, {kind}, {system}, Python {platform.python_version()}"
