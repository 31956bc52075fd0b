"""Checks for the exercises of lesson 10: one step of beam search, and the length penalty."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array
from transformer_lab.course.judge.working import Step
from transformer_lab.course.lessons.lesson_10.greedy import as_int
from transformer_lab.decoding import beam

Beginning = tuple[float, tuple[int, ...]]

# ---------------------------------------------------------------- one step of beam search


def _extend_beams(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    every = [
        (value + log_p, (*ids, word))
        for (value, ids), row in zip(beams, rows.tolist(), strict=True)
        for word, log_p in enumerate(row)
    ]
    return sorted(every, reverse=True)[:k]


def _work_out_beams(
    beams: Sequence[Beginning], log_probabilities: Tensor, k: int, at: tuple
) -> Iterator[Step]:
    best, values = _extend_beams(beams, log_probabilities, k), [value for value, _ in beams]
    sums = torch.tensor(values)[:, None].double() + log_probabilities
    parent, word = divmod(int(sums.flatten().argsort(descending=True)[at[0]]), sums.shape[1])
    yield "the log-probabilities of the beginnings", values
    following = f"the log-probabilities of the words that may follow beginning {parent}"
    yield following, log_probabilities[parent]
    yield "each of these plus the log-probability of the beginning", sums[parent]
    yield f"the {k} largest of all such sums", [value for value, _ in best]
    chosen = f"beginning {parent} followed by word {word}"
    yield f"entry {at[0]} (counted from 0), which is {chosen}", best[at[0]][1]


_edit_step = partial(edit_reference, _extend_beams)

BEST_BEAM_ONLY = (
    "zip(beams, rows.tolist(), strict=True)",
    "[max(zip(beams, rows.tolist(), strict=True))]",
)
K_OF_EACH = (
    ("[:k]", ""),
    ("enumerate(row)", "sorted(enumerate(row), key=lambda pair: pair[1])[-k:]"),
)
TOPK_OF_EACH_ROW = ("every = [", "rows.topk(k)  # stops here if a row has fewer\n    every = [")


def _split_pairs(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call the answer and return two arrays: the log-probabilities and the ids of its beams."""
    found = answer(*arguments)
    if found is None:
        return None
    if not isinstance(found, list) or not all(
        isinstance(pair, tuple | list) and len(pair) == 2 for pair in found
    ):
        asked = "but should return a list of pairs (log-probability, ids)"
        raise UnusableError(f"your answer returns {describe_kind(found)}, {asked}")
    values = np.array([float(as_array(value)) for value, _ in found])
    if np.isnan(values).any():
        return values, np.array([], dtype=int)  # NaN has no order, so the beginnings are random
    for _, ids in found:
        if not isinstance(ids, tuple) or any(isinstance(i, Tensor | float) for i in ids):
            said = f"(log-probability, {describe_kind(ids)})"
            raise UnusableError(
                f"a pair is {said}, but should be (log-probability, tuple of whole numbers)"
            )
    rows = [[as_int(i) for i in ids] for _, ids in found]
    if len({len(row) for row in rows}) > 1:
        return values, np.array([" ".join(map(str, row)) for row in rows])
    return values, np.array(rows, dtype=int)


def _make_beams(
    seed: int, beams: int, vocabulary: int, length: int
) -> tuple[list[Beginning], Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, vocabulary, (beams, length), generator=generator).tolist()
    values = torch.randn(beams, generator=generator, dtype=torch.float64).sub(5).tolist()
    rows = torch.randn(beams, vocabulary, generator=generator, dtype=torch.float64) * 2
    return list(zip(values, map(tuple, ids), strict=True)), rows.log_softmax(dim=-1)


def _random_beams(chance: RandomValues) -> tuple:
    beams, length, k = chance.sizes(3)
    return *_make_beams(chance.between(6, 999), beams, chance.between(7, 17), length), k


beam_step = Check(
    reference=_extend_beams,
    run=_split_pairs,
    cases=lambda: [
        ([(-0.5, (1,))], torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64).log(), 2),
        (*_make_beams(0, 3, 7, 2), 3),
        (*_make_beams(1, 2, 11, 5), 5),
        (*_make_beams(3, 5, 7, 3), 4),
        (*_make_beams(4, 2, 5, 3), 7),  # more than the vocabulary has words
        (*_make_beams(5, 3, 11, 1), 1),
    ],
    drawn=_random_beams,
    arguments=("beams", "log_probabilities", "k"),
    results=("the log-probabilities", "the beginnings"),
    working=_work_out_beams,
    verified="the k best of all continuations of all beginnings, best first",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            _edit_step(
                (
                    "for word, log_p in enumerate(row)",
                    "for log_p, word in [max((p, n) for n, p in enumerate(row))]",
                )
            ),
            "you continue each beginning with its best word only, but two continuations of the "
            "same beginning may both be among the best k.",
        ),
        Mistake(
            _edit_step(*K_OF_EACH),
            "you keep k continuations of each beginning, k·k in total, so the beam grows with "
            "every step. Keep only the best k of all of them.",
        ),
        Mistake(
            _edit_step(("value + log_p", "log_p")),
            "you use only the last word's log-probability. Add it to the log-probability of the "
            "beginning.",
        ),
        Mistake(
            _edit_step(
                ("(value + log_p,", "(log_p, value + log_p,"),
                (
                    "return sorted(every, reverse=True)[:k]",
                    "return [pair for _, *pair in sorted(every, reverse=True)[:k]]",
                ),
            ),
            "you sort by the last word's log-probability only. Sort by the log-probability of the "
            "whole beginning.",
        ),
        Mistake(
            _edit_step(("value + log_p", "value * log_p")),
            "you multiply log-probabilities, but you should add them, because log(a·b) = log a + "
            "log b.",
        ),
        Mistake(
            _edit_step(("value + log_p", "value + math.exp(log_p)")),
            "you add a log-probability and a probability. Add two log-probabilities instead.",
        ),
        Mistake(
            _edit_step((", reverse=True", "")),
            "these are the worst k. The nearer a log-probability is to 0, the better.",
        ),
        Mistake(
            _edit_step(("[:k]", "[:k][::-1]")),
            "these are the right beginnings in the wrong order. The best should come first.",
        ),
        Mistake(
            _edit_step(("(*ids, word)", "(word,)")),
            "you return only the new word. Append it to the beginning that it continues.",
        ),
        Mistake(
            _edit_step(BEST_BEAM_ONLY),
            "you continue only the best beginning, but you should continue all of them.",
        ),
        Mistake(
            _edit_step(BEST_BEAM_ONLY, TOPK_OF_EACH_ROW),
            "you continue only the best beginning, but you should continue all of them. Also, "
            "`topk` of one row raises an error if k is larger than the vocabulary.",
        ),
        Mistake(
            _edit_step(*K_OF_EACH, TOPK_OF_EACH_ROW),
            "you keep k continuations of each beginning, k·k in total, so the beam grows with "
            "every step. Keep only the best k of all of them. Also, `topk` of one row raises an "
            "error if k is larger than the vocabulary.",
        ),
        Mistake(
            _edit_step(TOPK_OF_EACH_ROW),
            "this is right unless k is larger than the vocabulary. Then `topk` of one row raises "
            "an error. Choose the best k of all rows together, or the best min(k, vocabulary) of "
            "each row.",
        ),
        Mistake(
            lambda beams, rows, k: [(math.nan, ())] * k,
            "the sums are NaN. Do you take a logarithm twice? `log_probabilities` already holds "
            "logarithms.",
        ),
        Mistake(
            _edit_step(("(*ids, word)", "(word, *ids)")),
            "you put the new word in front of the earlier ones, but it should come after them.",
        ),
        Mistake(
            _edit_step(("value + log_p", "(value + log_p) / 2")),
            "this is the mean of two log-probabilities. The beginning's log-probability is "
            "already a sum, so just add the new word's to it.",
        ),
        Mistake(
            _edit_step(("value + log_p", "(value + log_p) / (len(ids) + 1)")),
            "you divide by the number of ids, but this should be a plain sum. The length is taken "
            "into account later.",
        ),
        Mistake(
            _edit_step(("value + log_p", "(value + log_p) / len(ids)")),
            "you divide by the number of words, but this should be a plain sum. The length is "
            "taken into account later.",
        ),
    ],
)

# ---------------------------------------------------------------- length penalty


def _score_beam(log_probability: float, length: int, alpha: float) -> float:
    return log_probability / ((5 + length) / 6) ** alpha


def _work_out_score(log_probability: float, length: int, alpha: float, at: tuple) -> Iterator[Step]:
    yield f"5 + {length}, divided by 6", (5 + length) / 6
    yield f"that to the power alpha ({alpha:g}), the penalty", ((5 + length) / 6) ** alpha
    yield "log_probability divided by the penalty", _score_beam(log_probability, length, alpha)


def _random_beginning(chance: RandomValues) -> tuple:
    return chance.real(-30, -0.1), chance.between(1, 60), chance.real(0, 2)


beam_score = Check(
    reference=_score_beam,
    cases=lambda: [
        (-18.0, 13, 2.0),
        (-2.83, 9, 0.6),
        (-2.41, 8, 2.0),
        (-6.0, 4, 1.0),
        (-1.5, 3, 0.0),
    ],
    drawn=_random_beginning,
    arguments=("log_probability", "length", "alpha"),
    results=("the score",),
    working=_work_out_score,
    verified="the log-probability divided by the penalty, so longer sentences come nearer to 0",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            lambda v, n, a: v * beam.length_penalty(n, a),
            "you multiply, but log-probabilities are negative, so this favours short sentences "
            "even more. Divide instead.",
        ),
        Mistake(
            lambda v, n, a: v - beam.length_penalty(n, a),
            "you subtract the penalty, but you should divide by it.",
        ),
        Mistake(
            lambda v, n, a: v / n**a,
            "you raise the plain length to the power α. Some programs do that, but here the base "
            "should be (5 + length)/6.",
        ),
        Mistake(
            lambda v, n, a: v / ((5 + n) ** a / 6),
            "you raise only 5 + length to the power α, but the power should apply to the whole "
            "fraction: ((5 + length)/6)^α.",
        ),
        Mistake(
            lambda v, n, a: v / (a * (5 + n) / 6),
            "you use α as a factor, but it should be an exponent, so that α = 0 means no penalty.",
        ),
        Mistake(
            lambda v, n, a: -v / beam.length_penalty(n, a),
            "the sign is wrong, so the least probable sentence would get the best score.",
        ),
        Mistake(
            lambda v, n, a: v / beam.length_penalty(n, a) / n,
            "you divide by the length as well as by the penalty. Divide only by the penalty.",
        ),
        Mistake(
            lambda v, n, a: v,
            "you do not use the length. Divide by the penalty, ((5 + length)/6)^α.",
        ),
        Mistake(
            lambda v, n, a: v / (5 + n / 6) ** a,
            "the brackets are wrong: this should be (5 + length)/6, not 5 + length/6.",
        ),
        Mistake(
            lambda v, n, a: v / (5 + n) ** a,
            "the 6 is missing: the penalty is ((5 + length)/6)^α, which is 1 for one word.",
        ),
        Mistake(
            lambda v, n, a: v / ((5 + n) / 6**a),
            "you apply the power only to the 6, but it should apply to the whole fraction: ((5 + "
            "length)/6)^α.",
        ),
        Mistake(
            lambda v, n, a: v / (5 + n) / 6**a,
            "you write two divisions in a row, by 5 + length and by 6^α. Divide once, by the "
            "whole penalty, ((5 + length)/6)^α.",
        ),
        Mistake(
            lambda v, n, a: math.exp(v) / beam.length_penalty(n, a),
            "you divide the probability. Divide its logarithm instead.",
        ),
        Mistake(
            lambda v, n, a: v / ((4 + n) / 6) ** a,
            "the length that you use is too small by 1. `length` includes eos, and eos should count.",
        ),
    ],
)
