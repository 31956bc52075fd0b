"""How long `import` takes, in fresh interpreters."""

import subprocess
import sys

from benchmarks.machine import describe_run
from benchmarks.report import Target, table, target_table
from benchmarks.timing import interleave, median_ratio

MODULES = ("torch", "transformer_lab", "transformer_lab.translator")


def import_in_process(module: str) -> None:
    """Import the module in an interpreter of its own."""
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)  # noqa: S603


def section(rounds: int) -> str:
    """Return the times of the imports, taken in turn; all include the start of an interpreter."""
    for module in MODULES:
        import_in_process(module)  # the first import reads from the disk and compiles
    rounds = max(rounds, 5)
    runs = {module: lambda _, module=module: import_in_process(module) for module in MODULES}
    times = interleave(runs, rounds)
    torch_alone = times["torch"]
    rows = [
        (
            f"`import {name}`",
            f"{t.median:.2f} s",
            f"{t.best:.2f} s",
            f"{median_ratio(t, torch_alone):.2f}",
        )
        for name, t in times.items()
    ]
    targets = [
        Target(
            f"`import {name}` to `import torch`", median_ratio(times[name], torch_alone), 1.1, True
        )
        for name in MODULES[1:]
    ]
    head = ["", "median", "fastest", "to torch"]
    return "\n".join([describe_run(rounds) + "\n", table(head, rows), target_table(targets)])
