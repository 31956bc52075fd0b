"""Hypotheses, which every search returns, and how long they may get."""

from dataclasses import dataclass

from jaxtyping import Bool
from torch import Tensor

from transformer_lab.config import EXTRA_TOKENS, check_positive_integer
from transformer_lab.model import Transformer
from transformer_lab.model.positions import longest


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
    model: Transformer, source_mask: Bool[Tensor, "#batch 1 1 source"], max_length: int | None
) -> list[int]:
    """Return the greatest number of words to write for each sentence.

    It is `max_length`, or by default the source's length + 50 (§6.1), and never more than the
    model's table of positions has.
    """
    if max_length is not None:
        limits = [check_positive_integer("max_length", max_length)] * len(source_mask)
    else:
        limits = (source_mask.sum(dim=-1).flatten() + EXTRA_TOKENS).tolist()
    return [int(min(limit, longest(model))) for limit in limits]
