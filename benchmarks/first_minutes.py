"""What a newcomer waits for: the environment, JupyterLab, an import, and lesson 00's first picture."""

import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

import nbformat
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from nbclient import NotebookClient

from benchmarks.machine import describe_run
from benchmarks.memory import peak_megabytes, read_status
from benchmarks.report import table

ROOT = Path(__file__).resolve().parent.parent
LESSON = "00_start_here.ipynb"
STATEMENTS = {
    "`import transformer_lab`": "import transformer_lab",
    "`import transformer_lab.translator`": "import transformer_lab.translator",
    '`transformer_lab translate "the cat sleeps"`': (
        "import runpy, sys\n"
        "sys.argv = ['transformer_lab', 'translate', 'the cat sleeps']\n"
        "runpy.run_module('transformer_lab', run_name='__main__')"
    ),
}
TELL_PEAK = """import atexit
from benchmarks.memory import read_kilobytes
atexit.register(lambda: print(read_kilobytes("VmHWM") / 1024))
"""
LISTENS = re.compile(r"(http://127\.0\.0\.1:\d+)/\S*(token=\w+)")
PICTURES = ("image/png", "image/svg+xml", "text/html")


def run_statement(statement: str) -> tuple[float, float]:
    """Run a statement in a new interpreter; return its seconds and its peak in megabytes."""
    start = time.perf_counter()
    megabytes = peak_megabytes(sys.executable, "-c", TELL_PEAK + statement)
    return time.perf_counter() - start, megabytes


def make_environment(folder: Path) -> tuple[float, float]:
    """Run `make` in a fresh clone until all is installed; return its seconds and megabytes on disk."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)  # noqa: S603, S607
    start = time.perf_counter()
    subprocess.run(["make", "--silent", "-C", str(clone), ".venv/.ready"], check=True)  # noqa: S603, S607
    seconds = time.perf_counter() - start
    files = [path for path in (clone / ".venv").rglob("*") if not path.is_symlink()]
    return seconds, sum(path.stat().st_size for path in files) / 1e6


def start_jupyter(folder: Path) -> tuple[float, float]:
    """Return the seconds until JupyterLab answers a browser, and its process's megabytes by then."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--port=0"]
    log = folder / "jupyter.log"
    with (
        log.open("w") as said,
        subprocess.Popen(command, stderr=said, cwd=ROOT) as server,  # noqa: S603
    ):
        try:
            while not (found := LISTENS.search(log.read_text())):
                if server.poll() is not None:
                    raise RuntimeError(f"JupyterLab ended before it listened:\n{log.read_text()}")
                time.sleep(0.02)
            with urllib.request.urlopen(f"{found[1]}/lab?{found[2]}") as page:  # noqa: S310
                page.read()
            return time.perf_counter() - start, read_status(server.pid, "VmHWM") / 1024
        finally:
            server.terminate()


def is_picture(output: dict[str, Any]) -> bool:
    """Return whether a cell's output shows more than text."""
    return any(kind in output.get("data", {}) for kind in PICTURES)


def open_lesson() -> dict[str, tuple[float, float]]:
    """Run lesson 00 in a kernel; return seconds and megabytes at each stage."""
    notebook = nbformat.read(ROOT / "notebooks" / LESSON, as_version=4)
    client = NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(ROOT / "notebooks")}}
    )
    found: dict[str, tuple[float, float]] = {}
    start = time.perf_counter()
    with client.setup_kernel():
        assert client.km
        provisioner = client.km.provisioner
        assert isinstance(provisioner, LocalProvisioner)
        assert provisioner.pid
        process = provisioner.pid

        def tell() -> tuple[float, float]:
            return time.perf_counter() - start, read_status(process, "VmHWM") / 1024

        for place, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            done = client.execute_cell(cell, place)
            if not found and any(map(is_picture, done.outputs)):
                found["lesson 00, to its first picture"] = tell()
        found["lesson 00, to its end"] = tell()
    return found


def measure_round(folder: Path) -> dict[str, tuple[float, float]]:
    """Measure seconds and megabytes of everything but the environment once."""
    return {
        **{name: run_statement(statement) for name, statement in STATEMENTS.items()},
        "JupyterLab, until it answers": start_jupyter(folder),
        **open_lesson(),
    }


def section(rounds: int) -> str:
    """Return the table; the environment is made once, and all else is measured `rounds` times."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, size = make_environment(Path(folder))
        rounds_of = [measure_round(Path(folder)) for _ in range(rounds)]
    rows = [
        (
            "`make lab` from nothing, until JupyterLab starts",
            f"{seconds:.0f} s",
            f"{size / 1000:.1f} GB on the disk",
        )
    ]
    for name in rounds_of[0]:
        times, memory = zip(*(one[name] for one in rounds_of), strict=True)
        rows.append((name, f"{median(times):.1f} s", f"{max(memory):.0f} MB"))
    words = (
        "What a newcomer waits for, starting with a fresh clone. The first line is shorter if the "
        f"package index is close. Median seconds, and the most memory. {describe_run(rounds)}\n"
    )
    return "\n".join([words, table(["", "time", "memory"], rows)])
