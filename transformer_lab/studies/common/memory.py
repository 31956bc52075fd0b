"""Measure the peak memory of a call, on a CPU or a GPU.

On a CPU, this is the resident memory that the operating system reports for a fresh process. On a
GPU, it is the peak that PyTorch reports, and no separate process is needed.
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
MMAP_THRESHOLD = "MALLOC_MMAP_THRESHOLD_"
Answer = TypeVar("Answer")


def run_in_fresh_process(run: Callable[..., Answer], *arguments: object) -> Answer:
    """Run `run(*arguments)` in a new process and return its result.

    `run` must be importable from a module. In the new process, glibc returns large freed blocks to
    the system at once, so memory that is merely kept for reuse does not count.
    """
    before = os.environ.get(MMAP_THRESHOLD)
    os.environ[MMAP_THRESHOLD] = "65536"
    try:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return pool.submit(run, *arguments).result()
    finally:
        if before is None:
            del os.environ[MMAP_THRESHOLD]
        else:
            os.environ[MMAP_THRESHOLD] = before


def measure_peak_bytes(run: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """Return the peak number of bytes that a call adds to the memory already in use.

    On a CPU, this is resident memory. Measure it in a fresh process: an older one may reuse memory
    kept from earlier calls, and the call would then seem to need less.
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
    """Reset the kernel's record of this process's peak memory.

    If that is not possible, nothing happens, and the peak includes memory that the imports used.
    """
    try:
        CLEAR.write_text("5")
    except OSError:
        return


def resident_bytes(field: str) -> int:
    """Return the current resident memory ("VmRSS") or its peak ("VmHWM"), in bytes.

    On systems other than Linux, both give the peak.
    """
    if STATUS.exists():
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith(field):
                return 1024 * int(line.split()[1])
    import resource  # Windows has none, and nothing else here needs it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def available_bytes(device: torch.device | str = "cpu") -> int:
    """Return how many bytes can be allocated on a device without displacing other programs."""
    if torch.device(device).type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if MEMINFO.exists():
        for line in MEMINFO.read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable"):
                return 1024 * int(line.split()[1])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
