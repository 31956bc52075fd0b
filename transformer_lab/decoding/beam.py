"""Beam search with a length penalty (§6.1): keep the best few partial hypotheses instead of one.

The translator and lesson 10 use it.
"""

import math
import sys
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.config import TransformerConfig, check, check_positive_integer, is_number
from transformer_lab.config.device import total_memory
from transformer_lab.decoding.hypothesis import Hypothesis, length_limits
from transformer_lab.model import Transformer
from transformer_lab.model.decoder_cache import DecoderCache, decode_step, prefill
from transformer_lab.model.kv_cache import INITIAL_CAPACITY
from transformer_lab.model.masks import mask_of_source


def length_penalty(length: int, alpha: float) -> float:
    """Return ((5 + length) / 6)^α, the length penalty of §6.1 (Wu et al. 2016, equation 14).

    Log-probabilities are divided by it, so a larger α favours longer sentences.
    """
    return ((5 + length) / 6) ** alpha


def bytes_per_hypothesis(config: TransformerConfig) -> int:
    """Return the minimum memory that one partial hypothesis needs, in bytes.

    The logits, the log-probabilities and the KV cache are counted.
    """
    heads = config.num_key_value_heads or config.num_heads
    kept = heads * (config.key_size + config.value_size) * INITIAL_CAPACITY
    return 4 * (2 * config.target_vocab_size + config.num_decoder_layers * kept)


class Candidates(NamedTuple):
    """Partial hypotheses extended by one word: several for each sentence, best first."""

    value: Float[Tensor, "sentences candidates"]
    """The log-probability of each candidate, or −∞ where there is none."""
    row: Int[Tensor, "sentences candidates"]
    """The index of the partial hypothesis that each candidate extends, within its sentence."""
    word: Int[Tensor, "sentences candidates"]

    def take(self, order: Int[Tensor, "sentences taken"]) -> "Candidates":
        """Return each sentence's candidates at these indices, in this order."""
        return Candidates(*(part.gather(1, order) for part in self))


def split_narrowing(
    ends: Bool[Tensor, "sentences candidates"], places: Int[Tensor, "sentences 1"]
) -> tuple[Bool[Tensor, "sentences candidates"], Bool[Tensor, "sentences candidates"]]:
    """Return two masks of the candidates to keep: those that end, and those that continue.

    The best `places` candidates are kept, so each one that ends takes up a place in the beam.
    `ends` marks the candidates whose last word ends the sentence.
    """
    best = torch.arange(ends.size(1), device=ends.device) < places
    return best & ends, best & ~ends


def split_keeping_width(
    ends: Bool[Tensor, "sentences candidates"], places: Int[Tensor, "sentences 1"]
) -> tuple[Bool[Tensor, "sentences candidates"], Bool[Tensor, "sentences candidates"]]:
    """Return two masks of the candidates to keep: those that end, and those that continue.

    Candidates that end are kept if they are among the best `places`. Among those that do not end,
    the best `places` continue, so the beam keeps its width. `ends` marks the candidates whose last
    word ends the sentence.
    """
    best = torch.arange(ends.size(1), device=ends.device) < places
    return best & ends, ~ends & ((~ends).cumsum(dim=1) <= places)


@torch.inference_mode()
def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "#batch 1 1 source"] | None = None,
    *,
    beam_size: int = 4,
    n_best: int = 1,
    alpha: float = 0.6,
    max_length: int | None = None,
    narrow: bool = True,
) -> list[list[Hypothesis]]:
    """Return up to `beam_size` translations of each row of `source`, sorted by score, best first.

    A hypothesis that ends keeps its place in the beam, so the beam narrows. In this mode, a beam of
    size 1 is greedy decoding. With `narrow=False`, the next best hypothesis takes that place, so
    the beam keeps its width, as in Hugging Face's `generate`.

    A sentence leaves the batch when its beam is empty, or when no partial hypothesis can still
    become one of the `n_best` best. The list for that sentence begins with the `n_best` best
    hypotheses, followed by any others that have ended by then. By default, `max_length` is the
    length of each source + 50 (§6.1); a hypothesis that is unfinished at that length is cut off.
    `alpha` is the exponent of `length_penalty`.

    Raises:
        ValueError: If the beam does not fit into memory, `n_best` exceeds `beam_size`, or `alpha`
            is negative or too large.
    """
    beam_size, n_best = (
        check_positive_integer("beam_size", beam_size),
        check_positive_integer("n_best", n_best),
    )
    expected = f"at most {beam_size}, because beam_size is {beam_size}"
    check("n_best", n_best, expected, n_best <= beam_size)
    holds = is_number(alpha) and 0 <= alpha < math.inf
    check("alpha", alpha, "a finite number of at least 0", holds)
    config = model.config
    source_mask = mask_of_source(source, source_mask, config.pad_id)
    if len(source) == 0:
        return []
    limits = length_limits(model, source_mask, max_length)
    most = total_memory() // (len(source) * bytes_per_hypothesis(config))
    expected = f"at most {most:,.0f}, because no more fit into memory"
    check("beam_size", beam_size, expected, beam_size <= most)
    fits = alpha * math.log((5 + max(limits)) / 6) < math.log(sys.float_info.max)
    expected = (
        f"a smaller number, because the length penalty for {max(limits)} words would be infinite"
    )
    check("alpha", alpha, expected, fits)
    found: list[list[Hypothesis]] = [[] for _ in source]
    bar = [-math.inf] * len(source)  # the score of the n-th best finished hypothesis

    # The partial hypotheses of a sentence are one row of `total` (sentences, width) and `ids`; the cache
    # holds them one after the other. `live` says which source sentence each row belongs to.
    cache = prefill(model, source, source_mask)
    live = list(range(len(source)))
    total = torch.zeros(len(source), 1, device=source.device)
    ids = torch.empty(len(source), 1, 0, dtype=torch.int64, device=source.device)
    last = torch.full((len(source), 1), config.bos_id, device=source.device)

    for length in range(1, max(limits) + 1):
        logits, cache = decode_step(model, last.flatten(), cache)
        candidates = top_candidates(total, logits.float().log_softmax(dim=-1), beam_size + 1)
        cut = torch.tensor([limits[s] == length for s in live], device=source.device)[:, None]
        ends = (candidates.word == config.eos_id) | cut
        places = [beam_size - len(found[s]) if narrow else beam_size for s in live]
        choose = split_narrowing if narrow else split_keeping_width
        ended, goes_on = choose(ends, torch.tensor(places, device=source.device)[:, None])
        there = candidates.value > -math.inf
        ended, goes_on = ended & there, goes_on & there & ~cut

        for row, place in ended.nonzero().tolist():
            one = [part[row, place].item() for part in candidates]
            words = (*ids[row, int(one[1])].tolist(), int(one[2]))
            finished = found[live[row]]
            finished.append(Hypothesis(words, one[0], one[0] / length_penalty(length, alpha)))
            if len(finished) >= n_best:
                bar[live[row]] = sorted((h.score for h in finished), reverse=True)[n_best - 1]
        # Log-probabilities only fall and the penalty only grows, so this
        # is the highest score that a partial hypothesis can still reach.
        best = candidates.value.masked_fill(~goes_on, -math.inf).amax(dim=1).tolist()
        stay = [
            row
            for row, (s, value) in enumerate(zip(live, best, strict=True))
            if value > -math.inf and bar[s] < value / length_penalty(limits[s], alpha)
        ]
        if not stay:
            break
        going = Candidates(*(part[stay] for part in candidates))
        before = (total.size(0), total.size(1))
        total, parent, last = next_beam(going, goes_on[stay], before[1])
        ids = torch.cat(
            [ids[stay].take_along_dim(parent[..., None], dim=1), last[..., None]], dim=2
        )
        cache = reorder_cache(cache, parent, stay, before)
        live = [live[row] for row in stay]
    return [sorted(h, key=lambda h: -h.score)[:beam_size] for h in found]


def top_candidates(
    total: Float[Tensor, "sentences width"],
    log_probabilities: Float[Tensor, "rows vocabulary"],
    most: int,
) -> Candidates:
    """Return the best `most` extensions of each partial hypothesis, sorted within each sentence.

    `total` holds the log-probabilities of the partial hypotheses, and `log_probabilities` those of
    each possible next word. For a beam that keeps its width, `most` must be the beam size + 1,
    because one of the words may be eos.
    """
    best = log_probabilities.topk(min(most, log_probabilities.size(1)), dim=-1)
    values = total[:, :, None] + best.values.unflatten(0, total.shape)  # (sentences, width, words)
    ranked, order = values.flatten(1).sort(dim=1, descending=True, stable=True)
    row = order.div(values.size(2), rounding_mode="floor")
    return Candidates(ranked, row, best.indices.reshape(order.shape).gather(1, order))


def next_beam(
    candidates: Candidates, goes_on: Bool[Tensor, "sentences candidates"], width: int
) -> Candidates:
    """Return the partial hypotheses that `goes_on` marks, ready for the next step.

    A sentence that has fewer hypotheses than the others is padded with hypotheses of value −∞. If
    the beam is as wide as before (`width`), each hypothesis takes the position of the one that it
    extends, where possible, so few rows of the cache have to move.
    """
    widest = int(goes_on.sum(dim=1).max())
    order = goes_on.byte().argsort(dim=1, descending=True, stable=True)[:, :widest]
    if widest == width:
        order = order.gather(1, order_in_place(candidates.row.gather(1, order)))
    value, row, word = candidates.take(order)
    return Candidates(value.masked_fill(~goes_on.gather(1, order), -math.inf), row, word)


def order_in_place(parent: Int[Tensor, "sentences width"]) -> Int[Tensor, "sentences width"]:
    """Return the index of the candidate to put at each position in the beam.

    `parent` holds the position of the hypothesis that each candidate extends. Each position gets
    the first candidate that extends the hypothesis there. If there is none, it gets a candidate
    whose parent's position is already taken.
    """
    younger = (parent[:, :, None] == parent[:, None, :]).tril(-1).any(dim=2)
    free = (
        torch.ones_like(parent).scatter(1, parent, 0).argsort(dim=1, descending=True, stable=True)
    )
    place = torch.where(younger, free.gather(1, (younger.cumsum(dim=1) - 1).clamp(min=0)), parent)
    return place.argsort(dim=1)


def reorder_cache(
    cache: DecoderCache,
    parent: Int[Tensor, "sentences width"],
    stay: list[int],
    before: tuple[int, int],
) -> DecoderCache:
    """Return a cache whose rows belong to the new partial hypotheses.

    Args:
        cache: The cache before this step.
        parent: For each new hypothesis, the index of the one that it extends, within its sentence.
        stay: The indices of the sentences that remain.
        before: The number of sentences and the width of the beam in `cache`.
    """
    sentences = torch.tensor(stay, device=parent.device)
    rows = (sentences[:, None] * before[1] + parent).flatten()
    if len(stay) < before[0]:
        return cache.select(rows, sentences)
    if parent.shape != before:
        return cache.reorder(rows)
    places = (rows != torch.arange(len(rows), device=rows.device)).nonzero()[:, 0]
    return cache.copy_rows_(rows[places], places)
