"""The parts of docs/trust.md that tools write: what stands between two marks, and nothing else."""

import os
import platform
from pathlib import Path

from transformer_lab.files import write_atomically

DOCUMENT = Path(__file__).parents[1] / "docs" / "trust.md"


def put(name: str, text: str, document: Path = DOCUMENT) -> None:
    """Write a text between the marks of this name; a ValueError if the document has none."""
    begin, end = f"<!-- {name}: written by a tool -->\n", f"<!-- end of {name} -->"
    before, found, rest = document.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{document.name} has no part {name!r}; expected its two marks")
    write_atomically(document, f"{before}{begin}\n{text.strip()}\n\n{end}{after}".encode())


def table(head: str, rows: list[list[str]]) -> str:
    """A table in Markdown, from its first line as it stands there and the cells of the others."""
    columns = head.strip("| ").split(" | ")
    lines = [head, "|---" * len(columns) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def machine() -> str:
    """What it was measured on, without a name that only its owner knows."""
    flags = Path("/proc/cpuinfo")
    wide = flags.exists() and "avx512f" in flags.read_text("utf-8")
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        system = platform.system()
    kind = platform.machine().replace("_", "-") + (" with AVX-512" if wide else "")
    return f"{os.cpu_count()} cores, {kind}, {system}, Python {platform.python_version()}"
