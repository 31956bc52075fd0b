"""What a process that decodes does: it answers how long it took, or how much memory."""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.memory import print_peak


def time_or_peak(what: str, decode: Callable[[int], object], length: Sequence[str]) -> None:
    """For each length that is read, print the seconds; or the peak for the one that is given."""
    if what == "peak":
        decode(2)
        print_peak(partial(decode, int(length[0])))
        return
    for line in sys.stdin:
        start = time.perf_counter()
        decode(int(line))
        print(time.perf_counter() - start, flush=True)
