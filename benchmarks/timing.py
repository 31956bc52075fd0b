"""Interleaved rounds: what is compared runs by turns, so that a busy minute slows all alike."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from torch.profiler import ProfilerActivity, profile

PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::_scaled_dot_product_flash_attention")


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


def median_ratio(slow: Times, fast: Times) -> float:
    """How many times as fast: the median over the rounds of slow / fast, round by round.

    The two of a pair ran right after each other, so that what slows one slows the other.
    """
    return median(s / f for s, f in zip(slow.seconds, fast.seconds, strict=True))


def measure_product_share(run: Callable[[], object]) -> float:
    """The share of a run's time, from 0 to 1, that is spent in matrix products and fused attention.

    All sides have to compute them: it is what cannot be avoided.
    """
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        run()
    own = {event.key: event.self_cpu_time_total for event in recorded.key_averages()}
    products = sum(time for key, time in own.items() if key.startswith(PRODUCTS))
    return products / sum(own.values())


def explain_miss(reached: float, share: float) -> str:
    """The sentence that stands beside a missed target: how far matrix products alone would allow."""
    return (
        f"Matrix products are {share:.0%} of our time; with nothing else the ratio would be "
        f"{reached / share:.1f}."
    )
