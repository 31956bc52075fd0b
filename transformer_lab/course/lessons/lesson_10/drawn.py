"""Checks of the exercises of lesson 10: speculative decoding where words are drawn."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

Pair = tuple[Tensor, Tensor]


def _normal(rest: Tensor) -> Tensor:
    total = rest.sum(dim=-1, keepdim=True)
    return rest / total.where(total > 0, 1.0)


def _kept(p: Tensor, q: Tensor) -> Tensor:
    return (p / q).clamp(max=1)


def _redrawn(p: Tensor, q: Tensor) -> Tensor:
    return _normal((p - q).clamp(min=0))


def _keep_or_redraw(p: Tensor, q: Tensor) -> Pair:
    return _kept(p, q), _redrawn(p, q)


def _where_it_matters(answer: Callable[..., Any], p: Tensor, q: Tensor) -> Any:
    """The results with the words that the draft never draws set to 0, because they do not matter."""
    found = answer(p, q)
    if not isinstance(found, tuple | list) or len(found) != 2:
        return found
    kept, redrawn = found
    if isinstance(kept, Tensor) and kept.shape == q.shape and kept.is_floating_point():
        kept = kept.where(q > 0, 1.0)
    return kept, redrawn


def _rows(seed: int, batch: int, vocabulary: int, sharp: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(batch, vocabulary, generator=generator, dtype=torch.float64)
    return (sharp * logits).softmax(dim=-1)


def _cases() -> list[tuple[Tensor, Tensor]]:
    never = torch.tensor([[0.25, 0.0, 0.5, 0.25, 0.0], [0.0, 0.5, 0.0, 0.0, 0.5]]).double()
    some = torch.tensor([[0.5, 0.25, 0.25, 0.0, 0.0], [0.25, 0.0, 0.5, 0.25, 0.0]]).double()
    alike = _rows(6, 3, 7)
    other = torch.cat([alike[:1], _rows(7, 2, 7)])  # in the first row both say the same
    return [
        (torch.tensor([[0.6, 0.1, 0.3]]).double(), torch.tensor([[0.3, 0.5, 0.2]]).double()),
        (_rows(0, 2, 5), _rows(1, 2, 5)),
        (_rows(2, 5, 11), _rows(3, 5, 11, sharp=0.5)),
        (never, some),  # words that the one or the other never says
        (alike, other),
    ]


def _pair(kept: Callable[..., Tensor], redrawn: Callable[..., Tensor], hint: str) -> Mistake:
    return Mistake(lambda p, q: (kept(p, q), redrawn(p, q)), hint)


def _in_the_wrong_order(p: Tensor, q: Tensor) -> Pair:
    return _keep_or_redraw(q, p)


def _random_rows(chance: RandomValues) -> tuple[Tensor, Tensor]:
    rows, words = chance.sizes(2)
    return torch.tensor(chance.weights(rows, words)), torch.tensor(chance.weights(rows, words))


keep_or_redraw = Check(
    reference=_keep_or_redraw,
    run=_where_it_matters,
    cases=_cases,
    drawn=_random_rows,
    results=("the chance to be kept", "what is drawn instead"),
    verified="kept or drawn anew, every word comes out as often as the large model says",
    mistakes=[
        _pair(
            lambda p, q: p / q,
            _redrawn,
            "a chance above 1: where the large model likes a word better than the draft does, it "
            "is always kept.",
        ),
        _pair(
            lambda p, q: _kept(q, p),
            _redrawn,
            "the ratio is turned round: a word is suspect where the draft says it more often.",
        ),
        _pair(
            torch.minimum,
            _redrawn,
            "this is the chance that a word is drawn *and* kept; asked is that of a drawn word.",
        ),
        _pair(
            lambda p, q: p.clone(),
            _redrawn,
            "kept with the probability of the large model: then a word must win twice, once with "
            "the draft and once here.",
        ),
        _pair(
            lambda p, q: (p >= q).to(p.dtype),
            _redrawn,
            "all or nothing: a word that the draft says too often is kept now and then, with p/q.",
        ),
        _pair(
            lambda p, q: (
                (p.argmax(-1, keepdim=True) == q.argmax(-1, keepdim=True)).to(p.dtype).expand_as(p)
            ),
            _redrawn,
            "this compares the best words, as greedy decoding does; here words are drawn.",
        ),
        _pair(
            lambda p, q: torch.minimum(p, q).sum(-1),
            _redrawn,
            "this is how often any word is kept, one number a row; asked is each word's chance.",
        ),
        _pair(
            _kept,
            lambda p, q: p.clone(),
            "drawn anew from p: words that the draft says, too, would come out too often, once "
            "kept and once drawn. What is missing to p is drawn.",
        ),
        _pair(
            _kept,
            lambda p, q: (p - q).clamp(min=0),
            "what is missing to p, not yet divided by its sum: probabilities sum to 1.",
        ),
        _pair(
            _kept,
            lambda p, q: _normal((p - q).abs()),
            "the size of the difference: a word that the draft says too often must not be drawn "
            "once more.",
        ),
        _pair(
            _kept,
            lambda p, q: (
                (1 - _kept(p, q)) / (1 - _kept(p, q)).sum(-1, keepdim=True).clamp(min=1e-12)
            ),
            "1 − kept says how often a word is refused, once drawn. Drawn anew is what is missing to "
            "p: p − q, where that is above 0.",
        ),
        _pair(
            _kept,
            lambda p, q: _redrawn(q, p),
            "what is drawn instead is turned round: it should be what the draft says too seldom.",
        ),
        _pair(
            _kept,
            lambda p, q: (p - q).softmax(-1),
            "these are probabilities already, no logits: cut off below 0, divide by the sum.",
        ),
        _pair(
            _kept,
            lambda p, q: (p - q).clamp(min=0) / (p - q).clamp(min=0).sum(-1, keepdim=True),
            "right but for a row in which p and q are equal: 0/0. Nothing is missing there: 0.",
        ),
        _pair(
            _kept,
            lambda p, q: (p - q).clamp(min=0) / (p - q).clamp(min=0).sum(),
            "divided by the sum of the whole batch; each row sums to 1 by itself.",
        ),
        _pair(
            _kept,
            lambda p, q: _normal(p * (p > q)),
            "the right words, with all of their p; part of it they get from the draft: p − q.",
        ),
        _pair(
            _kept,
            lambda p, q: _normal(p - q),
            "negative probabilities: what the draft says too often is cut off at 0.",
        ),
        Mistake(
            _in_the_wrong_order,
            "p and q have changed places: p is the large model, q the draft.",
        ),
    ],
)
