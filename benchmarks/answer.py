"""What a decoding process does: it says how long decoding took, or how much memory it needed."""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.memory import print_peak


def time_or_peak(what: str, decode: Callable[[int], object], length: Sequence[str]) -> None:
    """Print the seconds for each length that is read, or the peak memory for the length given."""
    if what == "peak":
        decode(2)
        print_peak(partial(decode, int(length[0])))
        return
    for line in sys.stdin:
        start = time.perf_counter()
        decode(int(line))
        print(time.perf_counter() - start, flush=True)
