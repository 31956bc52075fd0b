"""Decode word by word: each word is chosen from the logits and never revised."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.decoding.hypothesis import Hypothesis, length_limits
from transformer_lab.model import Transformer
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.masks import mask_of_source


@torch.inference_mode()
def generate(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"] | None,
    max_length: int | None,
    choose: Callable[[Tensor, Tensor], Tensor],
) -> list[Hypothesis]:
    """Return one hypothesis for each row of `source`, written word by word with `choose`.

    `choose` takes the logits and the log-probabilities, both (rows, vocabulary) in float32, and
    returns the next word of each row. Finished sentences leave the batch. By default, `max_length`
    is the length of each source + 50, as in the paper (§6.1).
    """
    config = model.config
    source_mask = mask_of_source(source, source_mask, config.pad_id)
    if len(source) == 0:
        return []
    limits = length_limits(model, source_mask, max_length)
    cache = prefill(model, source, source_mask)
    ids: list[list[int]] = [[] for _ in source]
    total = [0.0] * len(source)
    rows = torch.arange(len(source), device=source.device)  # the sentence of each live row
    last = torch.full_like(rows, config.bos_id)
    limit = torch.tensor(limits, device=source.device)
    for length in range(1, max(limits) + 1):
        logits, cache = decode_step(model, last, cache)
        logits = logits.float()
        log_probabilities = logits.log_softmax(dim=-1)  # (rows, vocabulary)
        last = choose(logits, log_probabilities)
        chosen = log_probabilities.gather(1, last[:, None])[:, 0]
        for row, word, value in zip(rows.tolist(), last.tolist(), chosen.tolist(), strict=True):
            ids[row].append(word)
            total[row] += value
        alive = ((last != config.eos_id) & (limit[rows] > length)).nonzero()[:, 0]
        if len(alive) == 0:
            break
        if len(alive) < len(rows):
            rows, last, cache = rows[alive], last[alive], cache.select(alive)
    return [Hypothesis(tuple(i), t, t) for i, t in zip(ids, total, strict=True)]
