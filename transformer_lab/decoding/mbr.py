"""Minimum Bayes risk: sample translations and choose the one that agrees best with the others.

Sources: Kumar and Byrne 2004, and Eikema and Aziz 2020, who use the model's own samples both as
candidates and as references.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.config import check_positive_integer
from transformer_lab.decoding.hypothesis import Hypothesis
from transformer_lab.decoding.sampling import sample
from transformer_lab.model import Transformer
from transformer_lab.model.masks import mask_of_source

Candidate = TypeVar("Candidate", bound=Hashable)
Ids = tuple[int, ...]


def mean_utilities(
    candidates: Sequence[Candidate], utility: Callable[[Candidate, Candidate], float]
) -> list[float]:
    """Return each candidate's mean utility, with every other candidate as the reference in turn.

    A candidate that was sampled twice counts twice, so the mean over the samples estimates the
    expected utility under the model. If there is just one candidate, its mean is 0.

    Args:
        candidates: The samples; equal ones are scored only once.
        utility: A function that scores its first argument against its second, the reference;
            larger is better.
    """
    drawn = Counter(candidates)
    others = max(1, len(candidates) - 1)
    means = {
        one: sum((n - (one == other)) * utility(one, other) for other, n in drawn.items()) / others
        for one in drawn
    }
    return [means[one] for one in candidates]


def minimum_bayes_risk(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    *,
    utility: Callable[[Ids, Ids], float],
    generator: torch.Generator,
    candidates: int = 16,
    temperature: float = 1.0,
    top_p: float | None = None,
    max_length: int | None = None,
) -> list[Hypothesis]:
    """Sample translations of each row of `source`; return the one with the highest mean utility.

    `candidates` is the number of translations to sample. `utility` compares two of them, given as
    ids without eos, for instance by the chrF of their texts. In the result, `score` is the mean
    utility (see `mean_utilities`), and `log_probability` is the log-probability under the model. If
    several candidates are equally good, the first one is returned. For `temperature`, `top_p` and
    `max_length`, see `sample`.

    At temperature 1 without top-p, the mean estimates the expected utility under the model. With
    other settings, it estimates the expected utility under a sharper or flatter distribution.

    Raises:
        ValueError: If `candidates` is not an integer of at least 1, or `sample` refuses an
            argument.
    """
    count = check_positive_integer("candidates", candidates)
    eos = model.config.eos_id
    mask = mask_of_source(source, source_mask, model.config.pad_id).repeat_interleave(count, dim=0)
    repeated = source.repeat_interleave(count, dim=0)  # (batch * candidates, source)
    drawn = sample(
        model,
        repeated,
        mask,
        generator=generator,
        temperature=temperature,
        top_p=top_p,
        max_length=max_length,
    )
    chosen = []
    for start in range(0, len(drawn), count):
        group = drawn[start : start + count]
        means = mean_utilities([tuple(i for i in h.ids if i != eos) for h in group], utility)
        best = max(range(count), key=means.__getitem__)
        chosen.append(replace(group[best], score=means[best]))
    return chosen
