"""Checks for the exercise of lesson 10c on top-p sampling."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.decoding import sampling


def _keep_top_p(logits: Tensor, p: float) -> Tensor:
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    with_it = probabilities.cumsum(dim=-1)
    before = with_it - probabilities
    kept = ordered.where(before < p, -math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


_edit_top_p = partial(edit_reference, _keep_top_p)


def _compute_log_probabilities(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call the answer and apply log_softmax, so adding a constant to all logits changes nothing.

    If only some of several equally probable words are kept, the first ones count as kept.
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


def _work_out_top_p(logits: Tensor, p: float, at: tuple) -> Iterator[Step]:
    row = logits[at[0]]
    sorted_p, words = row.softmax(dim=-1).sort(descending=True)
    kept = sampling.keep_top_p(logits, p)[at[0]]
    yield f"the words of row {at[0]}, the most probable first", words
    yield "their probabilities", sorted_p
    yield (
        "for each word, the sum of the probabilities before it",
        sorted_p.cumsum(dim=-1) - sorted_p,
    )
    yield f"the words kept, because that sum is less than {p:g}", words[kept[words] > -math.inf]
    yield "the logits of the row, with −∞ for all other words", kept
    yield (
        "their log_softmax, which is compared here",
        _compute_log_probabilities(sampling.keep_top_p, logits, p)[at[0]],
    )


def _random_case(chance: RandomValues) -> tuple:
    rows, words = chance.sizes(2)
    logits = chance.tensor(rows, words, scale=chance.one_of(0.5, 3.0))
    return logits + chance.real(-2_000, 2_000), chance.real(0.05, 0.95)


keep_top_p = Check(
    reference=lambda logits, p: sampling.keep_top_p(logits, p),
    own=(sampling.keep_top_p,),
    run=_compute_log_probabilities,
    cases=lambda: [
        (torch.tensor([[0.15, 0.5, 0.05, 0.3]], dtype=torch.float64).log(), 0.7),
        (_make_logits(0, 3, 7), 0.6),
        (_make_logits(1, 5, 11), 0.95),
        (_make_logits(2, 2, 5), 0.05),
        (_make_logits(3, 3, 5) * 100 - 200, 0.9),
        (_make_logits(5, 3, 7) + 2_000, 0.7),  # their exponentials are infinite,
        (_make_logits(6, 2, 5) - 2_000, 0.7),  # and those of these are 0
        (_make_logits(4, 2, 7), 1.0),
        # Some words are equally probable, and some sums are exactly p.
        (torch.tensor([[3.0, 3.0, 3.0, 3.0], [0.0, 5.0, 0.0, 5.0]], dtype=torch.float64), 0.5),
        (torch.tensor([[1.0, 2.0, 2.0], [2.0, 2.0, 2.0]], dtype=torch.float64), 0.4),
    ],
    drawn=_random_case,
    arguments=("logits", "p"),
    results=("log_softmax of the logits",),
    working=_work_out_top_p,
    verified="the fewest words that reach p keep their logits, and all other words get −∞",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            _edit_top_p(
                ("ordered.softmax(dim=-1)", "ordered.exp() / ordered.exp().sum(-1, keepdim=True)")
            ),
            "this is right only for logits near 0. The exponentials of large logits are infinite, "
            "and those of very negative ones are 0, so the division gives NaN. Use `softmax`, "
            "which subtracts the largest logit first.",
        ),
        Mistake(
            _edit_top_p(("before < p", "with_it <= p")),
            "you drop the word that takes the sum past p, but it should be kept. Without it, the "
            "kept words have a total probability of less than p, and sometimes no word is left.",
        ),
        Mistake(
            _edit_top_p(("before < p", "with_it < p")),
            "you drop the word that brings the sum up to p, but it should be kept. Compare p "
            "with the sum before each word, not with the sum that includes it.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= p, -math.inf),
            "you keep each word whose own probability reaches p, but the kept words should reach "
            "p together.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= 1 - p, -math.inf),
            "you keep words above a fixed probability, but the kept words should reach p together.",
        ),
        Mistake(
            _edit_top_p(("-math.inf", "0.0")),
            "you give the dropped words a logit of 0, but then they can still be drawn, because e⁰ "
            "= 1. Set their logits to −∞.",
        ),
        Mistake(_edit_top_p(("before < p", "before >= p")), "kept and dropped words are swapped."),
        Mistake(
            _edit_top_p(("torch.empty_like(logits).scatter(-1, words, kept)", "kept")),
            "the logits are still sorted. Put each logit back in its word's place.",
        ),
        Mistake(
            _edit_top_p(("descending=True", "descending=False")),
            "your sum starts with the least probable words, but it should start with the most "
            "probable ones.",
        ),
        Mistake(
            _edit_top_p(("before < p", "before[:1] < p")),
            "you keep as many words in every row as in the first, but the number should be found "
            "separately for each row.",
        ),
        Mistake(
            lambda logits, p: sampling.keep_top_p(logits, p).softmax(dim=-1),
            "these are probabilities, but you should return logits.",
        ),
        Mistake(
            _edit_top_p(("before < p", "ordered.cumsum(dim=-1) < p")),
            "you add up logits, but p is a sum of probabilities, so take the softmax first.",
        ),
        Mistake(
            _edit_top_p(("before < p", "(with_it <= p) | (before == 0)")),
            "you always keep the most probable word, but otherwise you drop the word that takes "
            "the sum past p. Keep that word as well.",
        ),
        Mistake(
            _edit_top_p(("-math.inf", "-1e9")),
            "−1e9 is only a large negative number, and half precision cannot represent it. Use −∞.",
        ),
        Mistake(
            _edit_top_p(
                (
                    "before < p",
                    "ordered >= ordered.where(before < p, math.inf).amin(dim=-1, keepdim=True)",
                )
            ),
            "this is right except for equally probable words. You keep all of them, although "
            "fewer would be enough to reach p.",
        ),
        Mistake(
            _edit_top_p(("before < p", "before <= p")),
            "you keep one word too many where the sum is exactly p. Keep a word only if the sum "
            "before it is less than p.",
        ),
        Mistake(
            _edit_top_p(
                (
                    "torch.empty_like(logits).scatter(-1, words, kept)",
                    "logits.where(before < p, -math.inf)",
                )
            ),
            "your mask is in sorted order, but the logits are not. Scatter the mask back to the "
            "words' positions first.",
        ),
        Mistake(
            _edit_top_p(
                ("torch.empty_like(logits).scatter(-1, words, kept)", "kept.gather(-1, words)")
            ),
            "`gather` reorders the logits once more. Use `scatter` to undo a sort.",
        ),
        Mistake(
            _edit_top_p(("softmax(dim=-1)", "softmax(dim=0)")),
            "your softmax runs down the columns of the batch (dim 0), but it should run along "
            "each row (dim −1).",
        ),
        Mistake(
            _edit_top_p(
                (
                    "ordered, words = logits.sort",
                    "probabilities, words = logits.softmax(dim=0).sort",
                ),
                ("probabilities = ordered.softmax(dim=-1)", "ordered = logits.gather(-1, words)"),
            ),
            "your softmax runs over the batch (dim 0), so the columns sum to 1, not the rows. Use "
            "dim −1.",
        ),
        Mistake(
            lambda logits, p: _keep_top_p(logits.softmax(dim=-1), p),
            "you take the softmax twice and return probabilities. Sort the logits, and take the "
            "softmax only once.",
        ),
        Mistake(
            _edit_top_p(("softmax(dim=-1)", "softmax(dim=-1).softmax(dim=-1)")),
            "you take the softmax twice, which makes all words nearly equally probable, so you "
            "keep too many.",
        ),
    ],
)


def _make_logits(seed: int, rows: int, words: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scale = torch.linspace(0.5, 4, rows, dtype=torch.float64)[:, None]  # rows differ in certainty
    return scale * torch.randn(rows, words, generator=generator, dtype=torch.float64)
