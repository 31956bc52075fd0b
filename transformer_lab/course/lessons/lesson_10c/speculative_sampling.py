"""Checks for the exercise of lesson 10c on speculative sampling: keep or redraw a sampled word."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _keep_or_redraw(p: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    kept = (p / q).clamp(max=1)
    missing = (p - q).clamp(min=0)
    total = missing.sum(dim=-1, keepdim=True)
    return kept, missing / total.where(total > 0, 1.0)


_edit_chances = partial(edit_reference, _keep_or_redraw)


def _ignore_undrawn_words(answer: Callable[..., Any], p: Tensor, q: Tensor) -> Any:
    """Call the answer and set its `kept` to 1 where q is 0, because any value is allowed there."""
    found = answer(p, q)
    if not isinstance(found, tuple | list) or len(found) != 2:
        return found
    kept, redrawn = found
    if isinstance(kept, Tensor) and kept.shape == q.shape and kept.is_floating_point():
        kept = kept.where(q > 0, 1.0)
    return kept, redrawn


def _work_out_chances(p: Tensor, q: Tensor, at: tuple) -> Iterator[Step]:
    row, missing = at[0], (p[at[0]] - q[at[0]]).clamp(min=0)
    kept, redrawn = _ignore_undrawn_words(_keep_or_redraw, p, q)
    yield f"p divided by q in row {row} (counted from 0)", p[row] / q[row]
    yield "the chance of being kept, which is p divided by q, but at most 1", kept[row]
    yield "by how much p exceeds q, which is p − q, or 0 where that is negative", missing
    yield "the sum of these", missing.sum()
    yield "the chance of being redrawn, the excess divided by that sum (if not 0)", redrawn[row]


def _make_rows(seed: int, batch: int, vocabulary: int, sharp: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(batch, vocabulary, generator=generator, dtype=torch.float64)
    return (sharp * logits).softmax(dim=-1)


def _cases() -> list[tuple[Tensor, Tensor]]:
    never = torch.tensor([[0.25, 0.0, 0.5, 0.25, 0.0], [0.0, 0.5, 0.0, 0.0, 0.5]]).double()
    some = torch.tensor([[0.5, 0.25, 0.25, 0.0, 0.0], [0.25, 0.0, 0.5, 0.25, 0.0]]).double()
    alike = _make_rows(6, 3, 7)
    other = torch.cat([alike[:2], _make_rows(7, 1, 7)])  # in the first row, p and q are equal,
    other[1, 2] += 1e-6  # and in the second, nearly equal
    other[1, 5] -= 1e-6
    return [
        (
            torch.tensor([[0.6, 0.1, 0.3]], dtype=torch.float64),
            torch.tensor([[0.3, 0.5, 0.2]], dtype=torch.float64),
        ),
        (_make_rows(0, 2, 5), _make_rows(1, 2, 5)),
        (_make_rows(2, 5, 11), _make_rows(3, 5, 11, sharp=0.5)),
        (never, some),  # words that one of the models never writes
        (alike, other),
    ]


def _random_rows(chance: RandomValues) -> tuple[Tensor, Tensor]:
    rows, words = chance.sizes(2)
    return torch.tensor(chance.weights(rows, words)), torch.tensor(chance.weights(rows, words))


keep_or_redraw = Check(
    reference=_keep_or_redraw,
    run=_ignore_undrawn_words,
    cases=_cases,
    drawn=_random_rows,
    results=("the chance of being kept", "what is drawn instead"),
    working=_work_out_chances,
    verified="kept or redrawn, every word comes out as often as the large model would draw it",
    mistakes=[
        Mistake(
            _edit_chances((".clamp(max=1)", "")),
            "some of these probabilities are above 1. A word that the large model finds more "
            "probable than the draft does should always be kept.",
        ),
        Mistake(
            _edit_chances(("p / q", "q / p")),
            "the ratio is upside down. It should be below 1 for a word that the draft finds more "
            "probable than the large model does.",
        ),
        Mistake(
            _edit_chances(("(p / q).clamp(max=1)", "torch.minimum(p, q)")),
            "this is the probability that a word is drawn *and* kept, but the question is about a "
            "word that has already been drawn.",
        ),
        Mistake(
            _edit_chances(("(p / q).clamp(max=1)", "p.clone()")),
            "you keep a word with the large model's own probability, so it has to be chosen "
            "twice: once by the draft and once here.",
        ),
        Mistake(
            _edit_chances(("(p / q).clamp(max=1)", "(p >= q).to(p.dtype)")),
            "this is all or nothing, but a word that the draft proposes too often should "
            "sometimes be kept, with probability p/q.",
        ),
        Mistake(
            _edit_chances(
                (
                    "(p / q).clamp(max=1)",
                    "(p.argmax(-1, True) == q.argmax(-1, True)).to(p.dtype).expand_as(p)",
                )
            ),
            "you compare the most probable words, as greedy decoding does, but here words are "
            "sampled.",
        ),
        Mistake(
            _edit_chances(("(p / q).clamp(max=1)", "torch.minimum(p, q).sum(-1)")),
            "this is only one number per row, the total probability that the drawn word is kept. "
            "Return a separate probability for each word.",
        ),
        Mistake(
            _edit_chances(("missing / total.where(total > 0, 1.0)", "p.clone()")),
            "you draw the replacement from p, but the words that are kept already account for part "
            "of p. Draw only from what is missing, which is p − q where that is positive.",
        ),
        Mistake(
            _edit_chances(("missing / total.where(total > 0, 1.0)", "missing")),
            "this is p − q, but you have not divided it by its sum. Probabilities should sum to 1.",
        ),
        Mistake(
            _edit_chances(("(p - q).clamp(min=0)", "(p - q).abs()")),
            "you use the absolute difference, but a word that the draft proposes too often should "
            "not be drawn again.",
        ),
        Mistake(
            _edit_chances(
                ("(p - q).clamp(min=0)", "1 - kept"),
                ("total.where(total > 0, 1.0)", "total.clamp(min=1e-12)"),
            ),
            "you draw each word in proportion to 1 − kept. Draw from p − q instead, where that is "
            "positive.",
        ),
        Mistake(
            _edit_chances(("p - q", "q - p")),
            "the difference for the second draw is the wrong way round. Draw from the words that "
            "the draft proposes too rarely.",
        ),
        Mistake(
            _edit_chances(("missing / total.where(total > 0, 1.0)", "(p - q).softmax(-1)")),
            "you take a softmax, but differences of probabilities are not logits. Set negative "
            "differences to 0, and divide by the sum.",
        ),
        Mistake(
            _edit_chances(("total.where(total > 0, 1.0)", "total")),
            "you divide 0 by 0 in rows where p and q are equal. There the result should be 0, "
            "because there is nothing to redraw.",
        ),
        Mistake(
            _edit_chances(("missing.sum(dim=-1, keepdim=True)", "missing.sum()")),
            "you divide by the sum of the whole batch, but each row should sum to 1.",
        ),
        Mistake(
            _edit_chances(("(p - q).clamp(min=0)", "p * (p > q)")),
            "these are the right words, but with their full probability p. They already get part "
            "of it from the draft, so use p − q.",
        ),
        Mistake(
            _edit_chances((".clamp(min=0)", "")),
            "some of these probabilities are negative. Set p − q to 0 for the words that the draft "
            "proposes too often, and then divide by the sum.",
        ),
        Mistake(
            lambda p, q: _keep_or_redraw(q, p),
            "p and q are swapped: p belongs to the large model, and q to the draft.",
        ),
    ],
)
