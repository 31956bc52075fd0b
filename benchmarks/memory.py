"""Peak memory of some work, measured in a process of its own."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_megabytes(*command: str) -> float:
    """What a command of ours prints by `print_peak`."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(json.loads(done.stdout.splitlines()[-1]))


def forget_peak() -> None:
    """Let the kernel count the peak from now on; where it cannot, it includes the imports'."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def kilobytes(field: str) -> int:
    """VmRSS or VmHWM, the memory now or at its peak; elsewhere than on Linux always the peak."""
    if STATUS.exists():
        return status_of("self", field)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def status_of(process: int | str, field: str) -> int:
    """What Linux says of a process in kilobytes; a ValueError if it says nothing of that name."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise ValueError(f"field is {field!r}; expected one of /proc/{process}/status")


def print_peak(work: Callable[[], object]) -> None:
    """Work, and print how many megabytes it adds at most to what this process has now."""
    forget_peak()
    before = kilobytes("VmRSS")
    work()
    print(json.dumps((kilobytes("VmHWM") - before) / 1024))
