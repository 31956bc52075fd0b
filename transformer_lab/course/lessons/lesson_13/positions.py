"""Checks for the exercises of lesson 13: sinusoids that make a full turn, and trained positions."""

from collections.abc import Iterator

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- which pairs have turned


def _find_full_turns(last: int, d_model: int, turn: float = 2 * np.pi) -> np.ndarray:
    return last * 10_000.0 ** (-np.arange(0, d_model, 2) / d_model) >= turn


def _random_last(chance: RandomValues) -> tuple:
    return int(3000 ** chance.real(0, 1)), 2 * chance.between(1, 50)  # small as often as large


def _work_out_turns(last: int, d_model: int, at: tuple) -> Iterator[Step]:
    pair = at[0]
    angle = 10_000.0 ** (-2 * pair / d_model)
    yield f"10000^(−{2 * pair}/{d_model}), the angle of pair {pair} at position 1", angle
    yield f"how far the pair has turned by position {last}", last * angle
    yield "a whole turn, 2π", 2 * np.pi
    yield "whether the pair has turned at least that far", last * angle >= 2 * np.pi


full_turns = Check(
    reference=_find_full_turns,
    cases=lambda: [
        (7, 6),
        (39, 10),
        (48, 64),
        (300, 22),
        (164, 96),
        (1987, 16),
    ],  # in the last two, some angle is close to a whole turn
    drawn=_random_last,
    arguments=("last", "d_model"),
    results=("the list of answers",),
    working=_work_out_turns,
    verified="pair i turns by 10000^(−2i/d_model) per position, and 2π is a whole turn",
    mistakes=[
        Mistake(
            lambda last, d: _find_full_turns(last, d, np.pi),
            "this tests for half a turn, but it should test for a whole turn, 2π.",
        ),
        Mistake(
            lambda last, d: _find_full_turns(last, d, 360.0),
            "you compared the angle with 360, but it is in radians, so a whole turn is 2π.",
        ),
        Mistake(
            lambda last, d: last * 10_000.0 ** (-np.arange(d // 2) / d) >= 2 * np.pi,
            "you used i/d_model in the exponent instead of 2i/d_model, where 2i is 0, 2, 4 and so "
            "on.",
        ),
        Mistake(
            lambda last, d: _find_full_turns(last, d).repeat(2),
            "you returned one answer for each number in the vector, but there should be only one "
            "for each pair.",
        ),
        Mistake(
            lambda last, d: ~_find_full_turns(last, d),
            "this is True for the pairs that have *not* made a full turn. It should be True for "
            "those that have.",
        ),
        Mistake(
            lambda last, d: _find_full_turns(last, d).sum(),
            "this is the number of pairs that have turned. Return a truth value for each pair "
            "instead.",
        ),
        Mistake(
            lambda last, d: last * 10_000.0 ** (np.arange(0, d, 2) / d) >= 2 * np.pi,
            "the exponent lacks its minus sign: pair 0 should be the fastest, and later pairs "
            "slower.",
        ),
    ],
)

# ---------------------------------------------------------------- rows of a learned table


def _table_cases() -> list[tuple]:
    first = np.array([[3, 1], [4, 2], [5, 9], [2, 6], [8, 7]])
    moved = np.array([[1, 6], [2, 4], [7, 7], [2, 6], [8, -7]])
    cases = [(first.astype(float), moved.astype(float))]
    for seed, (rows, width, last) in enumerate(((11, 3, 7), (13, 7, 5)), start=1):
        before = random_array(rows, width, seed=seed)
        after = before.copy()
        after[:last] += random_array(last, width, seed=seed + 10)
        after[1] = before[1]
        after[1, -1] += 1.0  # one number of this row moved
        after[2] = before[2]
        after[2, :2] += (0.5, -0.5)  # two moves that cancel
        if last > 4:
            after[3] = before[3]  # a gap
        cases.append((before, after))
    table = random_array(13, 3, seed=20)
    exchanged, turned = table.copy(), table.copy()
    exchanged[4] = table[4, [1, 0, 2]]  # neither sum nor length of this row moved,
    exchanged[12] = table[12, ::-1]  # nor its largest number
    turned[[0, 7]] *= -1  # of these only the signs
    turned[5, 1] *= -1
    cases += [(table, exchanged), (table, turned)]
    faint = np.zeros((7, 3))
    moved = faint.copy()
    moved[3, 1], moved[6, 2], moved[4] = 1e-12, -1e-6, (0, -2, 2)  # faint, not starting at row 0
    return [*cases, (faint, moved), (random_array(3, 2), random_array(3, 2))]


def _random_table(chance: RandomValues) -> tuple:
    rows, width = chance.sizes(2)
    before = chance.numbers(rows, width)
    moved = chance.flips(rows, 1) & chance.flips(rows, width)
    after = before + np.where(moved, chance.numbers(rows, width, scale=1e-3), 0.0)
    row = chance.between(0, rows - 1)
    after[row] = chance.one_of(before[row, ::-1], -before[row])  # as long as it was
    return before, after


def _work_out_rows(before: np.ndarray, after: np.ndarray, at: tuple) -> Iterator[Step]:
    moved = (before != after).any(axis=1)
    yield "how many numbers have changed in each row", (before != after).sum(axis=1)
    yield "whether at least one number in the row has changed", moved
    yield "the positions of the rows where one has, counted from 0", np.flatnonzero(moved)


reached_rows = Check(
    reference=lambda before, after: np.flatnonzero((before != after).any(axis=1)),
    cases=_table_cases,
    drawn=_random_table,
    results=("the rows",),
    working=_work_out_rows,
    verified="the positions of the rows in which at least one number changed",
    mistakes=[
        Mistake(
            lambda before, after: np.flatnonzero((before != after).all(axis=1)),
            "you require all numbers in a row to have changed, but a change in *any* of them "
            "should be enough.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero((before == after).all(axis=1)),
            "these are the rows that no gradient reached. Return the other rows.",
        ),
        Mistake(
            lambda before, after: (before != after).any(axis=1),
            "this is a truth value for each row, but you should return positions. Use "
            "np.flatnonzero to get them.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero(
                ~np.isclose(before.sum(axis=1), after.sum(axis=1))
            ),
            "you compared the sums of the rows, but two changes of opposite sign can cancel.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero(
                ~np.isclose(
                    np.linalg.norm(before, axis=1),
                    np.linalg.norm(after, axis=1),
                    rtol=1e-14,
                    atol=0,
                )
            ),
            "you compared the lengths of the rows, but a row can change direction and keep its "
            "length.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero(
                (np.sort(before, axis=1) != np.sort(after, axis=1)).any(axis=1)
            ),
            "you compared the numbers in a row regardless of position. If two of them swap "
            "places, the row has changed.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero((np.abs(before) != np.abs(after)).any(axis=1)),
            "you dropped the signs before comparing the rows, but a number whose sign flips has "
            "changed.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero((before != after).any(axis=0)),
            "you swapped rows and columns. Each row should give one answer, so combine its "
            "numbers along axis 1.",
        ),
        Mistake(
            lambda before, after: (before != after).any(axis=1).sum(),
            "this is the number of rows that have changed. Return their positions instead.",
        ),
    ],
)
