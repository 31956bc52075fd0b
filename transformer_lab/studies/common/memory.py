"""Memory as the system counts it: what a call adds to the peak of a fresh process.

On a GPU it is what the call adds to PyTorch's own peak there, and no process is needed.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import torch

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MEMINFO = Path("/proc/meminfo")
AT_ONCE = "MALLOC_MMAP_THRESHOLD_"
Answer = TypeVar("Answer")


def run_in_fresh_process(run: Callable[..., Answer], *arguments: object) -> Answer:
    """The result of `run(*arguments)` in a new process; `run` must be a function of a module.

    There glibc gives freed blocks back to the system at once: holes that it would keep for later
    are no part of what an algorithm needs.
    """
    before = os.environ.get(AT_ONCE)
    os.environ[AT_ONCE] = "65536"
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return pool.submit(run, *arguments).result()
    finally:
        if before is None:
            del os.environ[AT_ONCE]
        else:
            os.environ[AT_ONCE] = before


def measure_peak_bytes(run: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """The most bytes that a call adds to the memory in use before it.

    On a CPU it is resident memory, so that only a fresh process gives a true answer: an older one
    may hold room that it has used before.
    """
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        run()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    reset_peak()
    before = resident_bytes("VmRSS")
    run()
    return max(resident_bytes("VmHWM") - before, 0)


def reset_peak() -> None:
    """Reset the kernel's count of peak memory.

    Where that is not possible, the peak includes the imports.
    """
    try:
        CLEAR.write_text("5")
    except OSError:
        return


def resident_bytes(field: str) -> int:
    """The bytes of VmRSS (resident now) or VmHWM (its peak).

    Other systems than Linux give the peak for both.
    """
    if STATUS.exists():
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith(field):
                return 1024 * int(line.split()[1])
    import resource  # Windows has none, and nothing else here needs it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def available_bytes(device: torch.device | str = "cpu") -> int:
    """The bytes that can be allocated on a device without pushing other programs out."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if MEMINFO.exists():
        for line in MEMINFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable"):
                return 1024 * int(line.split()[1])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
