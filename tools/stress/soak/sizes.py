"""How large a process becomes over many acts, and whether its size is flat.

The two processes of `python -m tools.stress soak` use it.
"""

import gc
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

WARM_UP = 0.1
"""The share of the acts after which the size is read that all later ones are compared with."""
MOST = 1.05
"""A size is flat if it never exceeds that first one by more than this factor."""
SAMPLES = 100
"""How often the sizes are read until the number of acts is reached."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of one thing: after the warm-up, the largest later on, the last, and the slope."""

    what: str
    acts: int
    minutes: float
    first: float
    most: float
    last: float
    slope: float
    """The slope by least squares, for a thousand acts."""

    @property
    def growth(self) -> float:
        """How far the largest is above the first, as a share of the first."""
        return self.most / self.first - 1

    @property
    def is_flat(self) -> bool:
        """Whether no later size is more than 5% above the first."""
        return self.most <= MOST * self.first


def soak(
    act: Callable[[int], object],
    read: Callable[[], Mapping[str, float]],
    count: int,
    minutes: float,
) -> list[Sizes]:
    """Act `count` times and until the minutes are over; return the sizes of all that is read."""
    every = max(1, count // SAMPLES)
    begun = time.monotonic()
    seen: list[tuple[int, Mapping[str, float]]] = []
    done = 0
    while done < count or time.monotonic() - begun < 60 * minutes:
        for _ in range(every):
            act(done)
            done += 1
        gc.collect()
        if done >= WARM_UP * count:
            seen.append((done, read()))
    took = (time.monotonic() - begun) / 60
    return [sizes_of(name, seen, took) for name in seen[0][1]]


def sizes_of(name: str, seen: Sequence[tuple[int, Mapping[str, float]]], minutes: float) -> Sizes:
    """Return the sizes of one thing, from pairs of (acts so far, what was read)."""
    acts = [done for done, _ in seen]
    values = [read[name] for _, read in seen]
    middle, mean = sum(acts) / len(acts), sum(values) / len(values)
    spread = sum((x - middle) ** 2 for x in acts) or 1
    slope = sum((x - middle) * (y - mean) for x, y in zip(acts, values, strict=True)) / spread
    later = values[1:] or values
    return Sizes(name, acts[-1], minutes, values[0], max(later), values[-1], 1000 * slope)


def print_sizes(every: Sequence[Sizes]) -> None:
    """Print the sizes as JSON, for the process that started this one."""
    print(json.dumps([asdict(sizes) for sizes in every]))
