"""Peak memory of some work, measured in a process of its own."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_megabytes(*command: str) -> float:
    """Run a command that ends with `print_peak`, and return the megabytes it prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(json.loads(done.stdout.splitlines()[-1]))


def reset_peak() -> None:
    """Reset the kernel's count of peak memory.

    If that is not possible, the peak includes the imports.
    """
    if CLEAR.exists():
        CLEAR.write_text("5")


def read_kilobytes(field: str) -> int:
    """Return a field of this process's memory in kilobytes, such as VmRSS.

    Outside Linux, this is always the peak.
    """
    if STATUS.exists():
        return read_status("self", field)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def read_status(process: int | str, field: str) -> int:
    """Return a field of `/proc/PROCESS/status` in kilobytes; a missing one raises a ValueError."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise ValueError(f"field is {field!r}; expected one of /proc/{process}/status")


def print_peak(work: Callable[[], object]) -> None:
    """Call `work`, and print how many megabytes it adds at its peak to what this process has now."""
    reset_peak()
    before = read_kilobytes("VmRSS")
    work()
    print(json.dumps((read_kilobytes("VmHWM") - before) / 1024))
