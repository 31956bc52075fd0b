"""Checks for the exercise of lesson 09 on the unigram loss, the entropy of the word frequencies."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _compute_entropy(counts: Tensor) -> Tensor:
    p = counts[counts > 0] / counts.sum()
    return -(p * p.log()).sum()


def _work_out_entropy(counts: Tensor, at: tuple) -> Iterator[Step]:
    occurring = counts[counts > 0]
    p = occurring / counts.sum()
    yield "the counts of the words that occur", occurring
    yield f"their shares, each count divided by {counts.sum():g}", p
    yield "the natural logarithms of the shares", p.log()
    yield "each share times its logarithm", p * p.log()
    yield "their sum, with the sign changed", -(p * p.log()).sum()


def _compute_mean_log(p: Tensor) -> Tensor:
    return -(p * p.log()).sum()


def _random_counts(chance: RandomValues) -> tuple:
    counts = torch.tensor([float(chance.between(0, 9)) for _ in range(chance.between(3, 30))])
    counts[chance.between(0, len(counts) - 1)] = chance.between(1, 5000)
    return (counts.double(),)


unigram_loss = Check(
    reference=_compute_entropy,
    cases=lambda: [
        (torch.tensor([3.0, 3.0], dtype=torch.float64),),
        (torch.tensor([6.0, 1.0, 3.0], dtype=torch.float64),),
        (torch.tensor([7.0, 0.0, 2.0, 11.0, 0.0], dtype=torch.float64),),
        (torch.tensor([0.0, 5.0, 0.0], dtype=torch.float64),),
        (torch.tensor([1.0, 1e6, 0.0, 1.0, 3.0, 1.0, 1.0], dtype=torch.float64),),
    ],
    drawn=_random_counts,
    arguments=("counts",),
    results=("the loss",),
    working=_work_out_entropy,
    verified="the entropy of the word frequencies in nats, to which an absent word adds nothing",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda counts: _compute_entropy(counts) / math.log(2),
            "your loss is in bits, but it should be in nats. Use the natural logarithm.",
        ),
        Mistake(
            lambda counts: -_compute_entropy(counts),
            "the sign is wrong: a loss is never negative.",
        ),
        Mistake(
            lambda counts: -(counts / counts.sum() * (counts / counts.sum()).log()).sum(),
            "a word that never occurs makes your loss NaN, because 0 · log 0 is NaN in PyTorch. "
            "Such a word should add nothing.",
        ),
        Mistake(
            lambda counts: torch.tensor(math.log(len(counts)), dtype=torch.float64),
            "this is the loss if all words are equally probable. Use their frequencies instead.",
        ),
        Mistake(
            lambda counts: (counts > 0).sum().double().log(),
            "this is the logarithm of the number of words that occur, as if they were all equally "
            "frequent. Use their frequencies instead.",
        ),
        Mistake(
            lambda counts: _compute_entropy(counts) / counts.count_nonzero().double().log(),
            "you divide the entropy by its largest possible value. Return the entropy itself, "
            "which is in nats.",
        ),
        Mistake(
            lambda counts: _compute_mean_log(counts.softmax(dim=0)),
            "you take a softmax of the counts, which gives nearly all of the probability to the "
            "most frequent word. Divide each count by the sum of the counts instead.",
        ),
        Mistake(
            lambda counts: _compute_mean_log(counts[counts > 0].softmax(dim=0)),
            "you take a softmax of the counts that are not 0, which gives nearly all of the "
            "probability to the most frequent word. Divide each count by the sum of the counts "
            "instead.",
        ),
        Mistake(
            lambda counts: _compute_entropy(counts + 1),
            "you add 1 to every count, so even words that never occur get a share. Use the counts "
            "as they are.",
        ),
        Mistake(
            lambda counts: 1 - (counts / counts.sum()).square().sum(),
            "this is 1 minus the sum of the squared shares, but the entropy needs logarithms.",
        ),
        Mistake(
            lambda counts: -(counts / counts.sum()).square().sum().log(),
            "you take the logarithm of a sum of squares. Take the logarithm of each share first, "
            "and then the mean of these logarithms, weighted by the shares.",
        ),
        Mistake(
            lambda counts: -(counts / counts.sum()).max().log(),
            "you use only the most frequent word, but every word should count, weighted by its "
            "share.",
        ),
        Mistake(
            lambda counts: -(counts[counts > 0] / counts.sum()).min().log(),
            "you use only the rarest word, but every word should count, weighted by its share.",
        ),
        Mistake(
            lambda counts: -(counts[counts > 0] / counts.sum() * counts[counts > 0].log()).sum(),
            "you take the logarithm of the counts. Take the logarithm of the shares instead.",
        ),
        Mistake(
            lambda counts: _compute_entropy(counts) / (counts > 0).sum(),
            "you divide by the number of different words. The shares already weight the words, so "
            "sum the terms instead of averaging them.",
        ),
        Mistake(
            lambda counts: -(counts[counts > 0] / counts.sum()).log().mean(),
            "you give every word the same weight. Weight each word by its frequency.",
        ),
        Mistake(
            lambda counts: _compute_entropy(counts) * counts.sum(),
            "this is the sum over the text, but the loss should be the mean per token.",
        ),
        Mistake(
            lambda counts: _compute_entropy(counts).exp(),
            "this is the perplexity, e to the power of the loss. Return the loss itself.",
        ),
    ],
)
