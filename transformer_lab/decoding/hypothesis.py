"""What a search returns, and how long it may get."""

import math
from dataclasses import dataclass

from jaxtyping import Bool
from torch import Tensor

from transformer_lab.config import TransformerConfig, at_least_one


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


def length_limits(
    config: TransformerConfig, source_mask: Bool[Tensor, "batch 1 1 source"], max_length: int | None
) -> list[int]:
    """The length at which each sentence is cut: `max_length`, or its own source length + 50 (§6.1).

    A table of learned positions ends at the configuration's `max_length`, and so does the sentence.
    """
    if max_length is not None:
        limits = [at_least_one("max_length", max_length)] * len(source_mask)
    else:
        limits = (source_mask.sum(dim=-1).flatten() + 50).tolist()
    last = config.max_length if config.positions == "learned" else math.inf
    return [int(min(limit, last)) for limit in limits]
