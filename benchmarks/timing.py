"""Interleaved rounds: the candidates take turns, so that a busy minute slows all of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

from torch.profiler import ProfilerActivity, profile

PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::_scaled_dot_product_flash_attention")


@dataclass(frozen=True)
class Times:
    """The seconds of one candidate, one entry per round."""

    seconds: list[float]

    @property
    def median(self) -> float:
        """The median round: what a user can expect."""
        return median(self.seconds)

    @property
    def best(self) -> float:
        """The fastest round: what the machine can do when nobody else uses it."""
        return min(self.seconds)


def interleave(candidates: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, Times]:
    """Call every candidate once per round, with the round's number, and time each call."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            run(number)
            seconds[name].append(time.perf_counter() - start)
    return {name: Times(values) for name, values in seconds.items()}


def median_ratio(slow: Times, fast: Times) -> float:
    """Return how many times as fast `fast` is: the median of slow / fast over the rounds.

    In each round, the two ran right after each other, so that what slows one slows the other.
    """
    return median(s / f for s, f in zip(slow.seconds, fast.seconds, strict=True))


def measure_shares(run: Callable[[], object]) -> dict[str, float]:
    """Return the share of a run's time, from 0 to 1, that each of PyTorch's operations takes itself."""
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        run()
    own = {event.key: event.self_cpu_time_total for event in recorded.key_averages()}
    return {key: time / sum(own.values()) for key, time in own.items()}


def sum_products(shares: dict[str, float]) -> float:
    """Return the share of matrix products and fused attention.

    All candidates have to compute these, so this time cannot be avoided.
    """
    return sum(share for key, share in shares.items() if key.startswith(PRODUCTS))


def name_the_rest(shares: dict[str, float], most: int = 4) -> str:
    """Return the operations that take most of the time besides products, with their shares."""
    rest = {key: share for key, share in shares.items() if not key.startswith(PRODUCTS)}
    largest = sorted(rest, key=rest.__getitem__, reverse=True)[:most]
    return ", ".join(f"`{key.removeprefix('aten::')}` {rest[key]:.0%}" for key in largest)


def explain_miss(reached: float, share: float) -> str:
    """Return the sentence for a missed target: the ratio that matrix products alone would allow."""
    return (
        f"Matrix products take {share:.0%} of our time; with nothing else, the ratio would be "
        f"{reached / share:.1f}."
    )
