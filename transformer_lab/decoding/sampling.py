"""Sample the next word instead of taking the best one: temperature, top-k and top-p."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab import config
from transformer_lab.config import check_positive_integer
from transformer_lab.decoding.generate import generate
from transformer_lab.decoding.hypothesis import Hypothesis
from transformer_lab.model import Transformer


def keep_top_k(
    logits: Float[Tensor, "*batch vocabulary"], k: int
) -> Float[Tensor, "*batch vocabulary"]:
    """Keep the k largest logits of each row and set the others to −∞.

    This is top-k sampling (Fan et al. 2018). If k is larger than the vocabulary, all logits are
    kept.
    """
    best = logits.topk(min(check_positive_integer("k", k), logits.size(-1)), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, best.indices, best.values)


def keep_top_p(
    logits: Float[Tensor, "*batch vocabulary"], p: float
) -> Float[Tensor, "*batch vocabulary"]:
    """Keep the smallest set of words with total probability at least p; set other logits to −∞.

    This is nucleus sampling (Holtzman et al. 2020), and it always keeps the most probable word. A
    sum that falls short of p by less than a millionth of p counts as p, so 0.5 + 0.3 reaches 0.8 in
    both float32 and float64.
    """
    config.check("p", p, "a number above 0 and at most 1", config.is_number(p) and 0 < p <= 1)
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities  # what the better words have together
    # 0.5 + 0.3 may come out as 0.7999999999999999; a p near 0 may be 0 in float32.
    reached = (before >= p * (1 - 1e-6)) & (before > 0)
    # Rounding may bring the sum to 1 before the last word; p = 1 keeps all the same.
    kept = ordered.masked_fill(reached & (p < 1), -torch.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def next_word(
    logits: Float[Tensor, "batch vocabulary"],
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Int[Tensor, " batch"]:
    """Sample one word for each row of logits, applying temperature, then top-k, then top-p."""
    holds = config.is_number(temperature) and 0 < temperature < torch.inf
    config.check("temperature", temperature, "a finite number above 0", holds)
    # The best logit becomes 0 and stays 0, however small T is; the others may fall to −∞.
    smallest = torch.finfo(logits.dtype).tiny
    logits = (logits - logits.amax(dim=-1, keepdim=True)) / max(float(temperature), smallest)
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]


def sample(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    *,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    max_length: int | None = None,
) -> list[Hypothesis]:
    """Sample a translation of each row of `source`, word by word; finished ones leave the batch.

    Logits are divided by `temperature` (below 1 is safer, above 1 is bolder). Then only the `top_k`
    best words are kept, and of these, only the smallest set whose total probability reaches
    `top_p`. The log-probability of a hypothesis comes from the original logits, before these three
    steps. `generator` must be on the source's device; the same seed gives the same words. By
    default, `max_length` is the length of each source + 50 (§6.1).
    """

    def draw(logits: Tensor, _: Tensor) -> Tensor:
        return next_word(logits, generator, temperature, top_k, top_p)

    return generate(model, source, source_mask, max_length, draw)
