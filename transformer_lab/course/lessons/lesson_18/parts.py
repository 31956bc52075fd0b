"""Checks of the exercises of lesson 18: 8-bit weights, and words of several pieces."""

from collections.abc import Callable
from typing import Any

import numpy as np

from transformer_lab.course.judge.cases import random_array, random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array

# ---------------------------------------------------------------- 8 bits


def _matrices() -> list[tuple]:
    few = np.array([[0.5, -1.27, 0.254], [0.01, -0.014, 0.996]])
    return [
        (few,),
        (random_array(3, 7, seed=1, scale=0.2),),
        (-np.abs(random_array(5, 2, seed=2)),),
        (random_array(11),),
    ]


def _whole(matrix: np.ndarray, scale: float) -> np.ndarray:
    return np.round(matrix * scale).astype(np.int8)


def _largest(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).max())


def _by_row(matrix: np.ndarray) -> tuple:
    scale = 127 / np.abs(matrix).max(axis=-1, keepdims=True)
    return np.round(matrix * scale).astype(np.int8), scale


def _from_zero(matrix: np.ndarray) -> tuple:
    scale = 255 / (matrix.max() - matrix.min())
    return np.round((matrix - matrix.min()) * scale).astype(np.uint8), scale


def _with_bits(answer: Callable[..., Any], weights: np.ndarray) -> Any:
    found = answer(weights)
    is_pair = isinstance(found, tuple | list) and len(found) == 2
    return (*found, 8 * as_array(found[0]).itemsize) if is_pair else found


def _random_matrix(chance: RandomValues) -> tuple:
    return (chance.numbers(*chance.sizes(2), scale=chance.one_of(0.02, 1.0, 50.0)),)


eight_bits = Check(
    reference=lambda weights: (_whole(weights, s := 127 / _largest(weights)), s),
    run=_with_bits,
    cases=_matrices,
    drawn=_random_matrix,
    arguments=("weights",),
    results=("the array of whole numbers", "the scale", "the number of bits of a whole number"),
    verified="the largest weight becomes 127 or −127, and none is off by more than half a step",
    mistakes=[
        Mistake(
            lambda w: (_whole(w, s := 128 / _largest(w)), s),
            "the largest becomes 128; 8 bits with a sign end at 127.",
        ),
        Mistake(
            lambda w: ((w * (s := 127 / _largest(w))).astype(np.int8), s),
            "the numbers are cut off, not rounded: `astype` drops what stands behind the point.",
        ),
        Mistake(
            lambda w: (_whole(w, 127 / _largest(w)), _largest(w) / 127),
            "the scale is turned round: whole / scale is to give the weight back.",
        ),
        Mistake(
            lambda w: (_whole(w, s := 127 / w.max()), s),
            "the largest weight was looked for without its sign left away: -1.27 is larger than 1.",
        ),
        Mistake(
            lambda w: (np.round(w * (s := 127 / _largest(w))).astype(np.int64), s),
            "the whole numbers have 64 bits each, twice as many as a float of 32; int8 has 8.",
        ),
        Mistake(
            lambda w: (np.round(w).astype(np.int8), 1.0),
            "nothing is scaled: each weight below a half becomes 0.",
        ),
        Mistake(_by_row, "each row has a scale of its own; this file has one for a matrix."),
        Mistake(
            _from_zero,
            "the numbers run from 0 to 255: a weight of 0 would no longer be a 0.",
        ),
        Mistake(
            lambda w: (np.round(w * 127).astype(np.int8), 127.0),
            "the scale is 127 whatever the weights are: small ones use a few numbers only.",
        ),
    ],
)

# ---------------------------------------------------------------- words of several pieces


def _joined_cases() -> list[tuple]:
    cut = ([0, 0, 1], [0, 1, 1, 1, 2], [0, 1, 1, 2, 3, 3, 4], [0, 0, 0, 0, 1, 2, 2, 3, 4, 4, 5])
    return [(random_weights(len(c), len(c), seed=n), np.array(c)) for n, c in enumerate(cut)]


def _first(block: np.ndarray, axis: int) -> np.ndarray:
    return block.take(0, axis)


WAYS: dict[str, Callable[..., np.ndarray]] = {
    "mean": np.mean,
    "sum": np.sum,
    "max": np.max,
    "first": _first,
}


def _joined(
    maps: np.ndarray, words: np.ndarray, rows: str = "mean", columns: str = "sum"
) -> np.ndarray:
    groups = [np.flatnonzero(words == word) for word in range(words.max() + 1)]
    narrow = np.stack([WAYS[columns](maps[:, g], axis=1) for g in groups], axis=1)
    return np.stack([WAYS[rows](narrow[g], axis=0) for g in groups])


def _one_map(answer: Callable[..., Any], maps: np.ndarray, words: np.ndarray) -> Any:
    found = answer(maps, words)
    return np.array(found) if isinstance(found, list) else found


def _random_pieces(chance: RandomValues) -> tuple:
    """A random case: words of one to three pieces."""
    words = np.repeat(np.arange(6), [chance.between(1, 3) for _ in range(6)])
    return chance.weights(len(words), len(words)), words


join = Check(
    reference=_joined,
    run=_one_map,
    cases=_joined_cases,
    drawn=_random_pieces,
    arguments=("weights", "words"),
    results=("the weights between words",),
    verified="what a word receives is added, what it asks is averaged, and each row sums to 1",
    mistakes=[
        Mistake(
            lambda w, n: _joined(w, n, "mean", "mean"),
            "rows no longer sum to 1: a word *receives* what all its pieces receive together.",
        ),
        Mistake(
            lambda w, n: (m := _joined(w, n, "mean", "mean")) / m.sum(axis=1, keepdims=True),
            "rows sum to 1 because they were made to: a word of three pieces then receives too little.",
        ),
        Mistake(
            lambda w, n: _joined(w, n, "sum", "sum"),
            "rows sum to the number of pieces: average over the pieces that *ask*.",
        ),
        Mistake(
            lambda w, n: _joined(w, n, "sum", "mean"),
            "the two are exchanged: columns (keys) are added, rows (queries) are averaged.",
        ),
        Mistake(
            lambda w, n: _joined(w, n, "first", "sum"),
            "only the first piece of a word asks; the others have rows, too.",
        ),
        Mistake(
            lambda w, n: _joined(w, n, "mean", "first"),
            "only what the first piece receives is counted.",
        ),
        Mistake(
            lambda w, n: _joined(w, n, "mean", "max"),
            "of each word the strongest piece is taken: rows sum to less than 1.",
        ),
        Mistake(
            lambda w, n: _joined(w, n).T,
            "the axes have changed places: rows are queries.",
        ),
    ],
)
