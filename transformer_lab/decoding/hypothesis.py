"""What a search returns, and how long it may get."""

from dataclasses import dataclass
from numbers import Integral

from jaxtyping import Bool
from torch import Tensor

from transformer_lab.config import check


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One translation as ids, without bos; with eos, unless it was cut at the length limit.

    `log_probability` is the sum of the log-probabilities of `ids`, in nats.
    `score` is what the search ranks by: in beam search the same, divided by the
    length penalty; greedy decoding ranks nothing and divides by nothing.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float


def at_least_one(name: str, value: int) -> int:
    """The value as an int; a ValueError unless it is an integer, NumPy's or Python's, of at least 1."""
    holds = isinstance(value, Integral) and not isinstance(value, bool) and value >= 1
    check(name, value, "an integer of at least 1", holds)
    return int(value)


def length_limits(
    source_mask: Bool[Tensor, "batch 1 1 source"], max_length: int | None
) -> list[int]:
    """The length at which each sentence is cut: `max_length`, or its own source length + 50 (§6.1)."""
    if max_length is not None:
        return [at_least_one("max_length", max_length)] * len(source_mask)
    return (source_mask.sum(dim=-1).flatten() + 50).tolist()
