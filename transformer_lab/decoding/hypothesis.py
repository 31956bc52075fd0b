"""The hypothesis that every decoding method returns, and the limit on its length."""

from dataclasses import dataclass

from jaxtyping import Bool
from torch import Tensor

from transformer_lab.config import EXTRA_TOKENS, check_positive_integer
from transformer_lab.model import Transformer
from transformer_lab.model.positions import longest


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One translation as token ids, without bos, and with eos unless it was cut off.

    `log_probability` is the sum of the log-probabilities of `ids`, in nats. `score` is the number
    used for ranking: in beam search, it is the log-probability divided by the length penalty.
    In greedy decoding and sampling, which do not rank, it is the log-probability itself.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float


def length_limits(
    model: Transformer, source_mask: Bool[Tensor, "#batch 1 1 source"], max_length: int | None
) -> list[int]:
    """Return the maximum number of words to write for each sentence.

    The maximum is `max_length`, or by default the source's length + 50 (§6.1), but never more than
    the model's table of positions allows.
    """
    if max_length is not None:
        limits = [check_positive_integer("max_length", max_length)] * len(source_mask)
    else:
        limits = (source_mask.sum(dim=-1).flatten() + EXTRA_TOKENS).tolist()
    return [int(min(limit, longest(model))) for limit in limits]
