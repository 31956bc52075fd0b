"""Checks for the exercise of lesson 18 on words that consist of several subwords."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from transformer_lab.course.judge.cases import random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _word_cases() -> list[tuple]:
    first = (np.array([[5, 3, 2], [1, 4, 5], [6, 1, 3]]) / 10, np.array([0, 0, 1]))
    cut = ([0, 0, 0], [*range(130), 129], [0, 0, 0, 0, 1, 2, 2, 3, 4, 4, 5])
    others = [(random_weights(len(c), len(c), seed=n), np.array(c)) for n, c in enumerate(cut, 1)]
    return [first, *others]


def _join_pieces(maps: np.ndarray, words: np.ndarray) -> np.ndarray:
    groups = [np.flatnonzero(words == word) for word in range(words.max() + 1)]
    narrow = np.stack([maps[:, g].sum(axis=1) for g in groups], axis=1)
    joined = np.stack([narrow[g].mean(axis=0) for g in groups])
    return joined


_edit_joining = partial(edit_reference, _join_pieces)


def _join_rows(answer: Callable[..., Any], maps: np.ndarray, words: np.ndarray) -> Any:
    found = answer(maps, words)
    return np.array(found) if isinstance(found, list) else found


def _random_pieces(chance: RandomValues) -> tuple:
    """Return a random case: attention weights between subwords, and each subword's word index.

    There are six words of one to three subwords each.
    """
    words = np.repeat(np.arange(6), [chance.between(1, 3) for _ in range(6)])
    return chance.weights(len(words), len(words)), words


def _work_out_joining(maps: np.ndarray, words: np.ndarray, at: tuple) -> Iterator[Step]:
    asking, asked = (np.flatnonzero(words == word) for word in at)
    received = maps[np.ix_(asking, asked)].sum(axis=1)
    yield f"the pieces of word {at[0]}, the queries", asking
    yield f"the pieces of word {at[1]}, the keys", asked
    yield "what these keys receive in total from each query", received
    yield "the mean of that over the queries", received.mean()


join = Check(
    reference=_join_pieces,
    run=_join_rows,
    cases=_word_cases,
    drawn=_random_pieces,
    arguments=("weights", "words"),
    results=("the weights between words",),
    working=_work_out_joining,
    verified="each word's columns are added, its rows are averaged, and all rows sum to 1",
    mistakes=[
        Mistake(
            _edit_joining(("sum(axis=1)", "mean(axis=1)")),
            "your rows no longer sum to 1. A word should *receive* what all its pieces receive "
            "together.",
        ),
        Mistake(
            _edit_joining(
                ("sum(axis=1)", "mean(axis=1)"),
                ("return joined", "return joined / joined.sum(axis=1, keepdims=True)"),
            ),
            "you averaged the columns and then normalised the rows, so a word of three pieces "
            "receives too little. Add its columns instead.",
        ),
        Mistake(
            _edit_joining(("mean(axis=0)", "sum(axis=0)")),
            "each row sums to the number of pieces in its word. Average a word's rows instead of "
            "adding them.",
        ),
        Mistake(
            _edit_joining(("mean(axis=0)", "sum(axis=0)"), ("sum(axis=1)", "mean(axis=1)")),
            "you swapped the two steps. Add a word's columns, which are keys, and average its "
            "rows, which are queries.",
        ),
        Mistake(
            _edit_joining(("narrow[g].mean(axis=0)", "narrow[g[0]]")),
            "you used only the row of a word's first piece, but you should average the "
            "rows of all its pieces.",
        ),
        Mistake(
            _edit_joining(("maps[:, g].sum(axis=1)", "maps[:, g[0]]")),
            "you counted only what the first piece receives. Add up what all pieces of the word "
            "receive.",
        ),
        Mistake(
            _edit_joining(("sum(axis=1)", "max(axis=1)")),
            "for each word, this counts only the piece with the largest weight, so rows sum to "
            "less than 1. Add up the weights of all pieces.",
        ),
        Mistake(
            _edit_joining(("return joined", "return joined.T")),
            "you swapped the axes: the rows should be queries.",
        ),
    ],
)
