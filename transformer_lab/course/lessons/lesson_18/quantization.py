"""Checks for the exercise of lesson 18 on 8-bit weights."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array
from transformer_lab.course.judge.working import Step


def _matrix_cases() -> list[tuple]:
    few = np.array([[0.5, -1.27, 0.254], [0.01, -0.014, 0.996]])
    return [
        (few,),
        (random_array(3, 7, seed=1, scale=0.2),),
        (-np.abs(random_array(5, 2, seed=2)),),
        (random_array(11),),
    ]


def _round_to_int8(matrix: np.ndarray, scale: float) -> np.ndarray:
    return np.round(matrix * scale).astype(np.int8)


def _find_largest(matrix: np.ndarray) -> float:
    return float(np.abs(matrix).max())


def _scale_rows(matrix: np.ndarray) -> tuple:
    scale = 127 / np.abs(matrix).max(axis=-1, keepdims=True)
    return np.round(matrix * scale).astype(np.int8), scale


def _shift_to_zero(matrix: np.ndarray) -> tuple:
    scale = 255 / (matrix.max() - matrix.min())
    return np.round((matrix - matrix.min()) * scale).astype(np.uint8), scale


def _count_bits(answer: Callable[..., Any], weights: np.ndarray) -> Any:
    found = answer(weights)
    is_pair = isinstance(found, tuple | list) and len(found) == 2
    return (*found, 8 * as_array(found[0]).itemsize) if is_pair else found


def _random_matrix(chance: RandomValues) -> tuple:
    return (chance.numbers(*chance.sizes(2), scale=chance.one_of(0.02, 1.0, 50.0)),)


def _work_out_rounding(weights: np.ndarray, at: tuple) -> Iterator[Step]:
    row, scale = weights[at[:-1]], 127 / _find_largest(weights)
    yield "the largest absolute weight", _find_largest(weights)
    yield "127 divided by it, which is the scale", scale
    yield f"row {at[0]} of weights" if at[:-1] else "the weights", row
    yield "these times the scale", row * scale
    yield "rounded, as int8", _round_to_int8(row, scale)
    yield "the number of bits of each", 8


eight_bits = Check(
    reference=lambda weights: (_round_to_int8(weights, s := 127 / _find_largest(weights)), s),
    run=_count_bits,
    cases=_matrix_cases,
    drawn=_random_matrix,
    arguments=("weights",),
    results=("the array of whole numbers", "the scale", "the number of bits of a whole number"),
    working=_work_out_rounding,
    verified="the largest weight becomes 127 or −127, and none is off by more than half a step",
    mistakes=[
        Mistake(
            lambda w: (_round_to_int8(w, s := 128 / _find_largest(w)), s),
            "the largest weight becomes 128, but signed 8-bit numbers only go up to 127.",
        ),
        Mistake(
            lambda w: ((w * (s := 127 / _find_largest(w))).astype(np.int8), s),
            "you truncate the numbers instead of rounding them: `astype` drops everything after "
            "the decimal point.",
        ),
        Mistake(
            lambda w: (_round_to_int8(w, 127 / _find_largest(w)), _find_largest(w) / 127),
            "your scale is upside down. Dividing a whole number by the scale should give the "
            "weight back.",
        ),
        Mistake(
            lambda w: (_round_to_int8(w, s := 127 / w.max()), s),
            "you compared signed weights, but −1.27 should count as larger than 1. Take absolute "
            "values.",
        ),
        Mistake(
            lambda w: (np.round(w * (s := 127 / _find_largest(w))).astype(np.int64), s),
            "your whole numbers have 64 bits each, twice as many as a 32-bit float. Use int8, "
            "which has 8.",
        ),
        Mistake(
            lambda w: (np.round(w).astype(np.int8), 1.0),
            "you did not scale the weights, so each weight between −0.5 and 0.5 becomes 0.",
        ),
        Mistake(
            _scale_rows,
            "you gave each row its own scale, but there should be one for the whole matrix.",
        ),
        Mistake(
            _shift_to_zero,
            "your whole numbers run from 0 to 255, so a weight of 0 would not be stored as 0. "
            "Multiply the weights by the scale without shifting them.",
        ),
        Mistake(
            lambda w: (np.round(w * 127).astype(np.int8), 127.0),
            "your scale is 127 whatever the weights are, so small weights use only a few of the "
            "available numbers.",
        ),
    ],
)
