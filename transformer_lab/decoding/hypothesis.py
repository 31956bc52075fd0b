"""What a search returns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One translation as ids, without bos; with eos, unless it was cut at the length limit.

    `log_probability` is the sum of the log-probabilities of `ids`, in nats.
    `score` is what the search ranks by: the same, divided by the length penalty.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
