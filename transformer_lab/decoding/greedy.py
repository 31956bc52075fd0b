"""Greedy decoding: write the most probable word at each step."""

from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.decoding.generate import generate
from transformer_lab.decoding.hypothesis import Hypothesis
from transformer_lab.model import Transformer


def greedy(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    max_length: int | None = None,
) -> list[Hypothesis]:
    """Return the greedy translation of each row of `source`; finished sentences leave the batch.

    By default, `max_length` is the length of each source + 50, as in the paper (§6.1).
    """

    def best(_: Tensor, log_probabilities: Tensor) -> Tensor:
        return log_probabilities.argmax(dim=-1)  # on a CPU, twice as fast as max with its index

    return generate(model, source, source_mask, max_length, best)
