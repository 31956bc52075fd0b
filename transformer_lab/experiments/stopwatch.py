"""Seconds of a call."""

import time
from collections.abc import Callable

import torch

AT_LEAST = 0.05  # seconds that a quick call is repeated for


def seconds(call: Callable[[], object], device: torch.device | str = "cpu") -> float:
    """The fastest of some calls: as many as fill `AT_LEAST` seconds, and two at least."""
    times: list[float] = []
    while len(times) < 2 or sum(times) < AT_LEAST:
        wait_for(device)
        start = time.perf_counter()
        call()
        wait_for(device)
        times.append(time.perf_counter() - start)
    return float(f"{min(times):.4g}")


def wait_for(device: torch.device | str) -> None:
    """A GPU is asked and not waited for; a clock that is read at once would measure the asking."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)
