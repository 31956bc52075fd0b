"""Lesson 13, longer than it was trained on: the checks of its exercises, and its quiz."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz

# ---------------------------------------------------------------- which pairs have turned


def _turned(last: int, d_model: int, turn: float = 2 * np.pi) -> np.ndarray:
    return last * 10_000.0 ** (-np.arange(0, d_model, 2) / d_model) >= turn


full_turns = Check(
    reference=_turned,
    cases=lambda: [(7, 6), (39, 10), (48, 64), (300, 22)],
    arguments=("last", "d_model"),
    results=("which pairs have turned",),
    verified="pair i turns by 10000^(−2i/d_model) a place, and 2π is a whole turn",
    mistakes=[
        Mistake(
            lambda last, d: _turned(last, d, np.pi),
            "this asks for half a turn; a whole one is 2π.",
        ),
        Mistake(
            lambda last, d: _turned(last, d, 360.0),
            "the angle is in radians: a whole turn is 2π, not 360.",
        ),
        Mistake(
            lambda last, d: last * 10_000.0 ** (-np.arange(d // 2) / d) >= 2 * np.pi,
            "the exponent is 2i/d_model, with 2i = 0, 2, 4, …; you used i/d_model.",
        ),
        Mistake(
            lambda last, d: _turned(last, d).repeat(2),
            "one answer for each pair, not for each number of the vector.",
        ),
        Mistake(
            lambda last, d: ~_turned(last, d),
            "this is True for the pairs that have *not* been all the way round.",
        ),
        Mistake(
            lambda last, d: _turned(last, d).sum(),
            "this is how many there are; which ones is asked.",
        ),
        Mistake(
            lambda last, d: last * 10_000.0 ** (np.arange(0, d, 2) / d) >= 2 * np.pi,
            "the exponent has a minus: pair 0 is the fastest, later pairs are slower.",
        ),
    ],
)

# ---------------------------------------------------------------- rows of a learned table


def _table_cases() -> list[tuple]:
    cases = []
    for seed, (rows, width, last) in enumerate(((5, 2, 3), (11, 3, 7), (13, 7, 5))):
        before = draw(rows, width, seed=seed)
        after = before.copy()
        after[:last] += draw(last, width, seed=seed + 10)
        after[1] = before[1]
        after[1, -1] += 1.0  # one number of this row moved
        after[2] = before[2]
        after[2, :2] += (0.5, -0.5)  # two moves that cancel
        if last > 4:
            after[3] = before[3]  # a gap
        cases.append((before, after))
    return cases


reached_rows = Check(
    reference=lambda before, after: np.flatnonzero((before != after).any(axis=1)),
    cases=_table_cases,
    results=("the rows",),
    verified="the rows with at least one number that moved, by their places",
    mistakes=[
        Mistake(
            lambda before, after: np.flatnonzero((before != after).all(axis=1)),
            "a row was reached if *any* of its numbers moved; you ask that all did.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero((before == after).all(axis=1)),
            "these are the rows that no gradient reached; the others are asked.",
        ),
        Mistake(
            lambda before, after: (before != after).any(axis=1),
            "this is a truth value for each row; np.flatnonzero gives their places.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero(
                ~np.isclose(before.sum(axis=1), after.sum(axis=1))
            ),
            "the sums of the rows are compared: two moves of opposite sign cancel.",
        ),
        Mistake(
            lambda before, after: np.flatnonzero((before != after).any(axis=0)),
            "rows and columns are swapped: a place of the sentence is a row, axis 1 runs along it.",
        ),
        Mistake(
            lambda before, after: (before != after).any(axis=1).sum(),
            "this is how many there are; their places are asked.",
        ),
    ],
)

# ---------------------------------------------------------------- in what way does it fail?

EOS = 2


def _first_difference(got: Sequence[int], want: Sequence[int]) -> int:
    pairs = enumerate(zip(got, want, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(got), len(want)))


def _failure(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    same = _first_difference(got, want)
    if same < len(got) and got[same] == EOS:
        return "stopped"
    if same >= len(want) or want[same] == EOS:
        return "went on"
    return "word"


def _by_length(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    if len(got) != len(want):
        return "stopped" if len(got) < len(want) else "went on"
    return "word"


def _exchanged(got: Sequence[int], want: Sequence[int]) -> str:
    return {"stopped": "went on", "went on": "stopped"}.get(
        _failure(got, want), _failure(got, want)
    )


def _prefix_is_enough(got: Sequence[int], want: Sequence[int]) -> str:
    same = _first_difference(got, want)
    return "exact" if same == min(len(got), len(want)) else _failure(got, want)


def _no_word(got: Sequence[int], want: Sequence[int]) -> str:
    found = _failure(got, want)
    return "went on" if found == "word" else found


def _last_word(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    if EOS in got and got.index(EOS) < len(want) - 1:
        return "stopped"
    return "went on" if len(got) > len(want) else "word"


failure = Check(
    reference=_failure,
    cases=lambda: [
        ([5, 6, 7, EOS], [5, 6, 7, EOS]),
        ([5, 6, EOS], [5, 6, 7, EOS]),
        ([5, 6, 7, 8, EOS], [5, 6, 7, EOS]),
        ([5, 9, 7, EOS], [5, 6, 7, EOS]),
        ([5, 9, EOS], [5, 6, 7, 8, EOS]),
        ([5, 9, 7, 8, 8, EOS], [5, 6, 7, EOS]),
        ([EOS], [5, 6, EOS]),
        ([5, 6, 6, 6, 9, 9], [5, 6, EOS]),
        ([5, 6, 7], [5, 6, 7, EOS]),
        ([5, 6, 7, EOS], [5, 6, EOS]),
        ([5, 6, 7, 9, 9, 9, 9, EOS], [5, 6, 7, 8, EOS]),
        ([5, 9, 7, 7, 7, 7], [5, 6, 7, EOS]),
    ],
    arguments=("written", "right"),
    results=("the kind of failure",),
    verified="the first wrong word decides: an early eos, a word for eos, or a word for a word",
    mistakes=[
        Mistake(
            _by_length,
            "this compares the lengths. What stands at the first wrong word decides: an answer that "
            "goes wrong early and also ends early has failed by a word.",
        ),
        Mistake(
            _exchanged,
            "“stopped” and “went on” are exchanged: eos written where a word is due is “stopped”.",
        ),
        Mistake(
            _prefix_is_enough,
            "an answer that is a beginning of the right one, or the other way round, is not exact.",
        ),
        Mistake(
            _no_word,
            "a word for another word is “word”; “went on” is a word where eos is due.",
        ),
        Mistake(
            _last_word,
            "this looks at where eos stands, not at the first place that differs.",
        ),
    ],
)

# ---------------------------------------------------------------- how far does it reach?


def _reach(lengths: Sequence[int], exact: Sequence[float]) -> int:
    found = 0
    for length, share in zip(lengths, exact, strict=True):
        if share < 0.5:
            break
        found = length
    return found


def _strictly(lengths: Sequence[int], exact: Sequence[float]) -> int:
    return _reach(lengths, [share - 1e-9 for share in exact])


def _first_below(lengths: Sequence[int], exact: Sequence[float]) -> int:
    return next((n for n, share in zip(lengths, exact, strict=True) if share < 0.5), lengths[-1])


def _place(lengths: Sequence[int], exact: Sequence[float]) -> int:
    found = _reach(lengths, exact)
    return list(lengths).index(found) if found else 0


reach = Check(
    reference=_reach,
    cases=lambda: [
        ([2, 4, 6], [1.0, 0.5, 0.1]),
        ([2, 4, 5, 6, 8], [1.0, 0.9, 0.2, 0.7, 0.0]),
        ([1, 2, 3], [0.3, 0.6, 0.0]),
        ([3, 5, 7, 11], [1.0, 1.0, 0.9, 0.8]),
    ],
    results=("the length",),
    verified="the last length before the first that is less than half right; 0 if there is none",
    mistakes=[
        Mistake(
            lambda lengths, exact: max(
                (n for n, share in zip(lengths, exact, strict=True) if share >= 0.5), default=0
            ),
            "this is the longest length that is half right, even if a shorter one is not. Stop at "
            "the first that falls below.",
        ),
        Mistake(_strictly, "a share of exactly 0.5 is half: it still counts."),
        Mistake(
            _first_below, "this is the first length that is too long; the one before it is asked."
        ),
        Mistake(_place, "this is the place in the list; the length that stands there is asked."),
        Mistake(
            lambda lengths, exact: sum(share >= 0.5 for share in exact),
            "this is how many lengths are half right; the length itself is asked.",
        ),
        Mistake(
            lambda lengths, exact: _reach(lengths, [share - 0.49 for share in exact]),
            "this asks for (nearly) all right; half is enough.",
        ),
    ],
)

# ---------------------------------------------------------------- what could have been seen?


def _smallest(one: np.ndarray, other: np.ndarray) -> float:
    pooled = (np.var(one, ddof=1) + np.var(other, ddof=1)) / 2
    return 2 * np.sqrt(pooled) * np.sqrt(2 / len(one))


smallest_difference = Check(
    reference=_smallest,
    cases=lambda: [
        (np.array([1.0, 3.0]), np.array([5.0, 5.0])),
        (np.array([12.0, 13.0, 17.0]), np.array([11.0, 18.0, 22.0])),
        (draw(5, seed=1), 3 * draw(5, seed=2) + 1),
    ],
    arguments=("one", "other"),
    results=("the difference",),
    verified="2 · sd · √(2/n), with the mean of the two variances, each divided by n − 1",
    mistakes=[
        Mistake(
            lambda a, b: 2 * np.sqrt((np.var(a) + np.var(b)) / 2) * np.sqrt(2 / len(a)),
            "the variances are divided by n. With so few seeds n − 1 matters: ddof=1.",
        ),
        Mistake(
            lambda a, b: _smallest(a, b) / 2,
            "this is one standard error of the difference; two are asked.",
        ),
        Mistake(
            lambda a, b: _smallest(a, b) / np.sqrt(2),
            "this is the uncertainty of one mean. A difference has that of both: √(2/n).",
        ),
        Mistake(
            lambda a, b: 2 * np.std(np.concatenate([a, b]), ddof=1) * np.sqrt(2 / len(a)),
            "the two groups are thrown together: then the difference between them counts as spread.",
        ),
        Mistake(
            lambda a, b: abs(np.mean(a) - np.mean(b)),
            "this is the difference that was found; asked is how large one must be to be seen.",
        ),
        Mistake(
            lambda a, b: (np.var(a, ddof=1) + np.var(b, ddof=1)) * np.sqrt(2 / len(a)),
            "this is made of variances; the standard deviation is their root.",
        ),
        Mistake(
            lambda a, b: 2 * np.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2),
            "this does not get smaller with more seeds: the √(2/n) is missing.",
        ),
    ],
)

check = SimpleNamespace(
    full_turns=full_turns,
    reached_rows=reached_rows,
    failure=failure,
    reach=reach,
    smallest_difference=smallest_difference,
)

quiz = Quiz(
    [
        Question(
            "Sinusoids are defined for every place. What does that say about long inputs?",
            (
                ("the model can use them at any length", "That is the hypothesis, not the test."),
                (
                    "only that there is a vector",
                    "Not that the model has learned what it means: a vector that training never "
                    "showed is only an input like another.",
                ),
                (
                    "that nothing breaks at any length",
                    "No error is raised; the answers are another matter.",
                ),
            ),
            right=1,
        ),
        Question(
            "A learned table has 512 rows; training saw 13 tokens at most. What stands in row 20?",
            (
                ("zeros", "Rows begin as small random numbers."),
                ("what the rows before it suggest", "No row knows its neighbours."),
                ("the random numbers it began with", "No gradient has ever reached it."),
            ),
            right=2,
        ),
        Question(
            "A model writes 12 letters of 16 and then eos. How did it fail?",
            (
                ("it stopped", "Eos stands where a word was due."),
                ("it went on", "That would be a word where eos was due."),
                ("by a wrong word", "The first wrong thing it wrote was the end."),
            ),
            right=0,
        ),
        Question(
            "Why let the model read the right words when one asks which place fails?",
            (
                (
                    "so that a mistake stays where it is",
                    "It has no consequences for later places. In free writing, all that comes "
                    "after a mistake is the answer to another question.",
                ),
                ("it is how the model will be used", "In use it reads its own words."),
                (
                    "so that the accuracies are high enough to compare",
                    "They may be higher, and that is not why.",
                ),
            ),
            right=0,
        ),
        Question(
            "Two kinds differ by less than the smallest difference that could be seen. What may you say?",
            (
                ("they are equal", "A small difference would look the same."),
                (
                    "that these seeds cannot tell",
                    "What was found, give or take that much, remains possible; more seeds narrow it.",
                ),
                ("the one with the higher mean is better", "The seeds alone can do that."),
            ),
            right=1,
        ),
        Question(
            "A model without positions sorts 16 numbers, one with sinusoids does not. What follows?",
            (
                (
                    "positions do harm: without them all goes better",
                    "Without them it cannot tell the order of two letters.",
                ),
                (
                    "sorting does not ask where a number stands",
                    "What a task does not need cannot be new to it at a new length.",
                ),
                ("it has learned the true algorithm of sorting", "It fails too, later."),
            ),
            right=1,
        ),
        Question(
            "ALiBi's authors report that it extrapolates; a small model may not. Who is wrong?",
            (
                (
                    "they are: here is a counterexample",
                    "They measured language models, on another task.",
                ),
                (
                    "we are: too small a model shows nothing",
                    "It shows what it does: the numbers are in the cell, with their seeds.",
                ),
                (
                    "neither: task and model are not the same",
                    "Theirs are decoder-only language models, ours is not: a claim travels with "
                    "its task and its model.",
                ),
            ),
            right=2,
        ),
    ]
)
