"""Measure how many seconds a call takes, on a CPU or a GPU.

The benchmarks and the studies of costs use this module.
"""

import time
from collections.abc import Callable

import torch

AT_LEAST = 0.05  # a quick call is repeated for this many seconds


def time_fastest_call(call: Callable[[], object], device: torch.device | str = "cpu") -> float:
    """Return the time of the fastest of several calls, in seconds, to four significant digits.

    The function is called at least twice, and then until the total time reaches `AT_LEAST` seconds.
    """
    times: list[float] = []
    while len(times) < 2 or sum(times) < AT_LEAST:
        synchronize(device)
        start = time.perf_counter()
        call()
        synchronize(device)
        times.append(time.perf_counter() - start)
    return float(f"{min(times):.4g}")


def synchronize(device: torch.device | str) -> None:
    """Wait until a GPU has finished its work; otherwise a clock would only time the launch."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
