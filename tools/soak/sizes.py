"""How large a process has become in the course of many acts, and whether that is flat."""

import gc
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

WARM_UP = 0.1
"""The share of the acts after which the size counts with which all later ones are compared."""
MOST = 1.05
"""Flat: no later size is above so many times that one."""
SAMPLES = 100
"""So often the sizes are read while the count is reached."""


@dataclass(frozen=True)
class Sizes:
    """What was read of one thing: after the warm-up, the most later on, the last, and the slope."""

    what: str
    acts: int
    minutes: float
    first: float
    most: float
    last: float
    slope: float
    """By least squares, for each thousand acts."""

    @property
    def growth(self) -> float:
        """How far the largest is above the first, as a share."""
        return self.most / self.first - 1

    @property
    def is_flat(self) -> bool:
        """Whether no later size is more than 5 % above the first."""
        return self.most <= MOST * self.first


def soak(
    act: Callable[[int], object],
    read: Callable[[], Mapping[str, float]],
    count: int,
    minutes: float,
) -> list[Sizes]:
    """Act so often, and on until so many minutes have gone; the sizes of each thing that is read."""
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
    """Those of one thing, from (acts so far, what was read)."""
    acts = [done for done, _ in seen]
    values = [read[name] for _, read in seen]
    middle, mean = sum(acts) / len(acts), sum(values) / len(values)
    spread = sum((x - middle) ** 2 for x in acts) or 1
    slope = sum((x - middle) * (y - mean) for x, y in zip(acts, values, strict=True)) / spread
    later = values[1:] or values
    return Sizes(name, acts[-1], minutes, values[0], max(later), values[-1], 1000 * slope)


def tell(every: Sequence[Sizes]) -> None:
    """Print them for the process that started this one."""
    print(json.dumps([asdict(sizes) for sizes in every]))
