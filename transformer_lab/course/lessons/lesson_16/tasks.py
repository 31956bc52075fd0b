"""Checks of the exercises of lesson 16: what a GPT and a BERT learn from."""

import numpy as np

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- what a GPT learns from


def _window_cases() -> list[tuple]:
    rng = np.random.default_rng(0)
    return [
        (np.arange(10, 20), np.array([0, 3]), 3),
        (rng.integers(4, 99, 31), np.array([2, 17, 11]), 7),
        (rng.integers(4, 99, 67), np.array([0, 40, 3, 3, 29]), 11),
    ]


def _rows(ids: np.ndarray, starts: np.ndarray, length: int, shift: int = 0) -> np.ndarray:
    return ids[starts[:, None] + np.arange(length) + shift]


def _random_windows(chance: RandomValues) -> tuple:
    count, length = chance.sizes(2)
    ids = chance.random.integers(0, 99, (count + 2) * length + chance.between(1, 9))
    return ids, chance.random.integers(0, len(ids) - 2 * length, count), length


windows = Check(
    reference=lambda ids, starts, length: (
        _rows(ids, starts, length),
        _rows(ids, starts, length, 1),
    ),
    cases=_window_cases,
    drawn=_random_windows,
    results=("the inputs", "the targets"),
    verified="each target is the token after its input",
    mistakes=[
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length), _rows(ids, starts, length)),
            "the targets are the inputs: the model would learn to copy what it sees.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length),
                _rows(ids, starts, length, -1),
            ),
            "the targets are the tokens *before* the inputs.",
        ),
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length, 1), _rows(ids, starts, length)),
            "inputs and targets have changed places: the model would predict the past.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length - 1),
                _rows(ids, starts, length - 1, 1),
            ),
            "the windows are one token too short: each has `length` inputs and `length` targets.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, starts, length),
                _rows(ids, starts, length, length),
            ),
            "the targets are the window after this one; each is the *next token*, one step on.",
        ),
        Mistake(
            lambda ids, starts, length: (_rows(ids, starts, length), ids[starts + length]),
            "one target for each window; every position has its own, so that one pass teaches all.",
        ),
        Mistake(
            lambda ids, starts, length: (
                _rows(ids, np.arange(len(starts)) * length, length),
                _rows(ids, np.arange(len(starts)) * length, length, 1),
            ),
            "the windows lie one behind the other; they begin at `starts`.",
        ),
    ],
)

# ---------------------------------------------------------------- what a BERT learns from


def _hide_cases() -> list[tuple]:
    cases = [
        (
            np.array([[5, 6, 7], [8, 9, 0]]),
            np.array([[False, True, False], [True, False, False]]),
            99,
        )
    ]
    for seed, shape in ((1, (3, 7)), (2, (5, 11))):
        rng = np.random.default_rng(seed)
        ids = rng.integers(4, 90, shape)
        ids[1, 4:] = 0
        cases.append((ids, (rng.random(shape) < 0.4) & (ids != 0), 97))
    return cases


def _hide_in_place(ids: np.ndarray, chosen: np.ndarray, mask_id: int) -> tuple:
    ids[chosen] = mask_id
    return ids, np.where(chosen, ids, 0)


def _random_hidden(chance: RandomValues) -> tuple:
    batch, length = chance.sizes(2)
    ids = chance.padded(batch, length, 90, pad_id=0).numpy()
    return ids, chance.flips(batch, length, share=0.4) & (ids != 0), chance.between(90, 120)


hide = Check(
    reference=lambda ids, chosen, mask_id: (
        np.where(chosen, mask_id, ids),
        np.where(chosen, ids, 0),
    ),
    cases=_hide_cases,
    drawn=_random_hidden,
    arguments=("ids", "chosen", "mask_id"),
    results=("the inputs", "the targets"),
    verified="hidden where chosen, and asked for there and nowhere else",
    mistakes=[
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, mask_id, ids), ids),
            "every word is asked for, those in plain sight too: most of the loss teaches copying.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, ids, mask_id), np.where(chosen, ids, 0)),
            "all words are hidden *but* the chosen ones.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, mask_id, ids), np.where(chosen, 0, ids)),
            "the targets are the words in sight; those that are hidden are to be found.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (np.where(chosen, 0, ids), np.where(chosen, ids, 0)),
            "the words are replaced by padding, which the padding mask takes out of sight: the "
            "model must see that *something* stands there.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (ids, np.where(chosen, ids, 0)),
            "nothing is hidden: the answers stand in the inputs.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: (
                np.where(chosen, mask_id, ids),
                np.where(chosen, mask_id, 0),
            ),
            "the targets are the mask itself; take them from the ids as they were.",
        ),
        Mistake(
            _hide_in_place,
            "the ids are changed in place, before the targets were taken from them.",
        ),
    ],
)
