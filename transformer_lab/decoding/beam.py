"""Keep the few best beginnings instead of one: beam search with a length penalty (§6.1)."""

import math
import sys
from collections.abc import Sequence
from itertools import groupby

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.config import at_least_one, check, is_number
from transformer_lab.decoding.hypothesis import Hypothesis, length_limits
from transformer_lab.model import Transformer
from transformer_lab.model.cache import decode_step, start_cache
from transformer_lab.model.masks import padding_mask


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α (Wu et al. 2016, equation 14), the penalty the paper names in §6.1.

    A log-probability is divided by it: a larger α favours longer sentences.
    """
    return ((5 + length) / 6) ** alpha


Candidate = tuple[float, int, int]
"""A beginning and one word more: their log-probability, the beginning's row, the word."""


def narrowing(
    ranked: Sequence[Candidate], places: int, eos_id: int
) -> tuple[list[Candidate], list[Candidate]]:
    """Which candidates end and which go on: what ends takes its place in the beam with it."""
    best = ranked[:places]
    return [c for c in best if c[2] == eos_id], [c for c in best if c[2] != eos_id]


def keeping_width(
    ranked: Sequence[Candidate], places: int, eos_id: int
) -> tuple[list[Candidate], list[Candidate]]:
    """Which candidates end and which go on: what ends leaves its place to the next best."""
    ended = [c for c in ranked[:places] if c[2] == eos_id]
    return ended, [c for c in ranked if c[2] != eos_id][:places]


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch 1 1 source"] | None = None,
    *,
    beam_size: int = 4,
    n_best: int = 1,
    alpha: float = 0.6,
    max_length: int | None = None,
    narrow: bool = True,
) -> list[list[Hypothesis]]:
    """The hypotheses found for each row of `source`, best first; at most `beam_size` of them.

    A beginning that ends takes its place in the beam with it, so that the beam
    narrows and a beam of 1 is greedy decoding. A sentence leaves the batch
    when its beam is empty or when no beginning that is left can come among the
    `n_best` that are finished. `max_length` is by default each sentence's source
    length + 50 (§6.1); what has not ended by then is cut there.

    With `narrow=False` the place of a beginning that ends goes to the next best one instead, and
    the beam keeps its width, as in Hugging Face's `generate`.
    """
    beam_size, n_best = at_least_one("beam_size", beam_size), at_least_one("n_best", n_best)
    check("n_best", n_best, f"at most beam_size={beam_size}", n_best <= beam_size)
    holds = is_number(alpha) and 0 <= alpha < math.inf
    check("alpha", alpha, "a finite number of at least 0", holds)
    config = model.config
    if len(source) == 0:
        return []
    if source_mask is None:
        source_mask = padding_mask(source, config.pad_id)
    limits = length_limits(model, source_mask, max_length)
    fits = alpha * math.log((5 + max(limits)) / 6) < math.log(sys.float_info.max)
    check("alpha", alpha, f"one whose penalty of {max(limits)} words is a finite number", fits)
    found: list[list[Hypothesis]] = [[] for _ in source]

    # The beams of all live sentences lie one after the other in one batch;
    # `sentence[r]`, `ids[r]` and `total[r]` say what row r has written so far.
    cache = start_cache(model, source, source_mask)
    sentence = list(range(len(source)))
    ids: list[tuple[int, ...]] = [() for _ in source]
    total = torch.zeros(len(source), device=source.device)
    last = torch.full((len(source),), config.bos_id, device=source.device)

    for length in range(1, max(limits) + 1):
        logits, cache = decode_step(model, last, cache)
        log_probabilities = logits.float().log_softmax(dim=-1)  # (rows, vocabulary)
        candidates = best_words(total, log_probabilities, beam_size + 1)
        kept: list[Candidate] = []
        for s, rows in groupby(range(len(sentence)), key=sentence.__getitem__):
            ranked = sorted((c for row in rows for c in candidates[row]), reverse=True)
            places = beam_size - len(found[s]) if narrow else beam_size
            alive: list[Candidate] = []
            if length == limits[s]:
                ended = ranked[:places]
            elif narrow:
                ended, alive = narrowing(ranked, places, config.eos_id)
            else:
                ended, alive = keeping_width(ranked, places, config.eos_id)
            for value, row, word in ended:
                score = value / length_penalty(length, alpha)
                found[s].append(Hypothesis((*ids[row], word), value, score))
            # Log-probabilities only fall and the penalty only grows, so this
            # is the highest score that a beginning can still reach.
            hope = max((c[0] for c in alive), default=-math.inf) / length_penalty(limits[s], alpha)
            if sum(h.score >= hope for h in found[s]) < n_best:
                kept += alive
        if not kept:
            break
        sentence = [sentence[row] for _, row, _ in kept]
        ids = [(*ids[row], word) for _, row, word in kept]
        keep = torch.tensor([row for _, row, _ in kept], device=source.device)
        last = torch.tensor([word for _, _, word in kept], device=source.device)
        total = total[keep] + log_probabilities[keep, last]
        cache = cache.select(keep)
    return [sorted(h, key=lambda h: -h.score)[:beam_size] for h in found]


def best_words(
    total: Float[Tensor, " rows"],
    log_probabilities: Float[Tensor, "rows vocabulary"],
    most: int,
) -> list[list[Candidate]]:
    """For each row its best candidates: the best of a sentence are among those of its rows.

    One of a row may be eos, so a beam that keeps its width asks for one more than its size.
    """
    best = log_probabilities.topk(min(most, log_probabilities.size(1)), dim=-1)
    scores = (total[:, None] + best.values).tolist()
    return [
        [(value, row, word) for value, word in zip(values, words, strict=True)]
        for row, (values, words) in enumerate(zip(scores, best.indices.tolist(), strict=True))
    ]
