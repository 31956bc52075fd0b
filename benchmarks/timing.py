"""Interleaved rounds: what is compared runs by turns, so that a busy minute slows all alike."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """Seconds of one candidate, one entry a round."""

    seconds: list[float]

    @property
    def median(self) -> float:
        """The middle round: what a user may expect."""
        return median(self.seconds)

    @property
    def best(self) -> float:
        """The fastest round: what the machine can do when nobody else asks for it."""
        return min(self.seconds)


def interleave(candidates: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, Times]:
    """Call every candidate once a round, with the number of the round, and time each call."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            run(number)
            seconds[name].append(time.perf_counter() - start)
    return {name: Times(values) for name, values in seconds.items()}


def ratio(slow: Times, fast: Times) -> float:
    """How many times as fast: the median over the rounds of slow / fast, pair by pair.

    The two of a pair ran right after each other, so that what slows one slows the other.
    """
    return median(s / f for s, f in zip(slow.seconds, fast.seconds, strict=True))
