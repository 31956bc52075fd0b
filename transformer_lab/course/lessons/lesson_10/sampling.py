"""Checks of the exercises of lesson 10: top-p."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.decoding import sampling


def _cut(
    logits: Tensor, p: float, keeps: Callable[[Tensor, Tensor], Tensor], fill: float = -math.inf
) -> Tensor:
    """Cut logits to −∞ unless `keeps(sum before the word, sum with it)` is True."""
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    with_it = probabilities.cumsum(dim=-1)
    kept = ordered.where(keeps(with_it - probabilities, with_it), fill)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _as_log_probabilities(answer: Callable[..., Any], *arguments: Any) -> Any:
    """The log-probabilities of the kept words, since a constant added to logits changes nothing.

    Of equally probable words, the first ones count as kept.
    """
    logits = answer(*arguments)
    if not isinstance(logits, Tensor):
        return logits
    asked, kept = arguments[0], logits.log_softmax(dim=-1)
    if kept.shape != asked.shape:
        return kept
    for row, given in zip(kept, asked, strict=True):
        for value in given.unique():
            equals = (given == value).nonzero()[:, 0]
            row[equals] = row[equals].sort(descending=True).values
    return kept


def _all_equals(logits: Tensor, p: float) -> Tensor:
    """A variant that also keeps all words as probable as the last one kept."""
    least = sampling.keep_top_p(logits, p).masked_fill(sampling.keep_top_p(logits, p).isinf(), 1e9)
    return logits.masked_fill(logits < least.amin(dim=-1, keepdim=True), -math.inf)


def _softmax_twice(logits: Tensor, p: float) -> Tensor:
    ordered, words = logits.sort(dim=-1, descending=True)
    flat = ordered.softmax(dim=-1).softmax(dim=-1)
    kept = ordered.masked_fill(flat.cumsum(dim=-1) - flat >= p, -math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _softmax_of_columns(logits: Tensor, p: float) -> Tensor:
    """A mistake: the softmax of the sorted logits runs over the rows."""
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=0)
    kept = ordered.masked_fill(probabilities.cumsum(dim=-1) - probabilities >= p, -math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _softmax_of_unsorted_columns(logits: Tensor, p: float) -> Tensor:
    """A mistake: the softmax runs over the rows, before sorting."""
    probabilities, words = logits.softmax(dim=0).sort(dim=-1, descending=True)
    dropped = probabilities.cumsum(dim=-1) - probabilities >= p
    return logits.masked_fill(torch.empty_like(dropped).scatter(-1, words, dropped), -math.inf)


def _mask_not_put_back(logits: Tensor, p: float) -> Tensor:
    dropped = _in_sorted_order(logits, p).isinf()
    return logits.masked_fill(dropped, -math.inf)


def _gathered(logits: Tensor, p: float) -> Tensor:
    words = logits.argsort(dim=-1, descending=True)
    return _in_sorted_order(logits, p).gather(-1, words)


def _in_sorted_order(logits: Tensor, p: float) -> Tensor:
    return sampling.keep_top_p(logits, p).sort(dim=-1, descending=True).values


def _all_rows_alike(logits: Tensor, p: float) -> Tensor:
    first = int(sampling.keep_top_p(logits[:1], p).isfinite().sum())
    return sampling.keep_top_k(logits, first)


def _draw_logits(chance: RandomValues) -> tuple:
    rows, words = chance.sizes(2)
    logits = chance.tensor(rows, words, scale=chance.one_of(0.5, 3.0))
    return logits + chance.real(-200, 200), chance.real(0.05, 0.95)


keep_top_p = Check(
    reference=lambda logits, p: sampling.keep_top_p(logits, p),
    own=(sampling.keep_top_p,),
    run=_as_log_probabilities,
    cases=lambda: [
        (torch.tensor([[0.15, 0.5, 0.05, 0.3]], dtype=torch.float64).log(), 0.7),
        (_random_logits(0, 3, 7), 0.6),
        (_random_logits(1, 5, 11), 0.95),
        (_random_logits(2, 2, 5), 0.05),
        (_random_logits(3, 3, 5) * 100 - 200, 0.9),
        (_random_logits(4, 2, 7), 1.0),
        # Words that are equally probable, and reach p to the last digit.
        (torch.tensor([[3.0, 3.0, 3.0, 3.0], [0.0, 5.0, 0.0, 5.0]], dtype=torch.float64), 0.5),
        (torch.tensor([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]], dtype=torch.float64), 0.4),
    ],
    drawn=_draw_logits,
    arguments=("logits", "p"),
    results=("log_softmax of the logits",),
    verified="the fewest words that reach p, in their old places, the others at −∞",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: with_it <= p),
            "the word with which the sum reaches p belongs to them; without it the kept ones have "
            "less than p, and sometimes none is left.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: with_it < p),
            "the word that crosses p must stay: ask what stands before it, not the sum with it.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= p, -math.inf),
            "this keeps words that have p each; p is what the kept words have together.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= 1 - p, -math.inf),
            "this keeps words above a fixed probability; p is what the kept words have together.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before < p, fill=0.0),
            "a logit of 0 is not nothing: e⁰ = 1. Take −∞.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before >= p),
            "kept and dropped have changed places.",
        ),
        Mistake(
            _in_sorted_order,
            "sorted, and not put back: each logit must stand in its word's place again.",
        ),
        Mistake(
            lambda logits, p: -_cut_from_below(logits, p),
            "the sum begins with the least probable words; begin with the most probable.",
        ),
        Mistake(
            _all_rows_alike,
            "all rows keep as many words as the first; each row has its own number.",
        ),
        Mistake(
            lambda logits, p: sampling.keep_top_p(logits, p).softmax(dim=-1),
            "these are probabilities; logits are asked for.",
        ),
        Mistake(
            lambda logits, p: _cut(
                logits, p, lambda before, with_it: logits.sort(descending=True)[0].cumsum(-1) < p
            ),
            "logits are added up; p is a sum of probabilities, so take the softmax first.",
        ),
        Mistake(
            lambda logits, p: _cut(
                logits, p, lambda before, with_it: (with_it <= p) | (before == 0)
            ),
            "the first word is kept in any case, but the word with which the sum reaches p is not.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before < p, fill=-1e9),
            "−1e9 is a large negative number, and no −∞: in half precision it does not exist.",
        ),
        Mistake(
            _all_equals,
            "right but for equally probable words: all of them stay, though fewer reach p.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before <= p),
            "one word too many where the sum reaches p to the last digit: a word stays while "
            "*before* is less than p.",
        ),
        Mistake(
            _mask_not_put_back,
            "the mask is in sorted order and the logits are not: scatter it back to the words first.",
        ),
        Mistake(
            _gathered,
            "`gather` sorts once more; `scatter` is what undoes a sort.",
        ),
        Mistake(
            _softmax_of_columns,
            "the softmax goes down the columns of the batch (dim 0); each row has its own: dim −1.",
        ),
        Mistake(
            _softmax_of_unsorted_columns,
            "the softmax goes over the batch (dim 0), so that rows share one sum; take dim −1.",
        ),
        Mistake(
            lambda logits, p: _cut(logits.softmax(dim=-1), p, lambda before, with_it: before < p),
            "the softmax is taken twice, and probabilities come back: sort the logits, then once.",
        ),
        Mistake(
            _softmax_twice,
            "the softmax is taken twice: that makes all words nearly alike, and too many are kept.",
        ),
    ],
)


def _cut_from_below(logits: Tensor, p: float) -> Tensor:
    """A mistake: keep the least probable words that reach p."""
    ordered, words = logits.sort(dim=-1)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = (-ordered).masked_fill(before >= p, math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _random_logits(seed: int, rows: int, words: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scale = torch.linspace(0.5, 4, rows, dtype=torch.float64)[:, None]  # rows unequally sure
    return scale * torch.randn(rows, words, generator=generator, dtype=torch.float64)
