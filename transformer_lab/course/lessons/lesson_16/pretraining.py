"""Checks for the exercises of lesson 16: the training inputs and targets of GPT and BERT."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- what a GPT learns from


def _window_cases() -> list[tuple]:
    rng = np.random.default_rng(0)
    return [
        (np.arange(10, 20), np.array([0, 3]), 3),
        (rng.integers(0, 99, 31), np.array([2, 23, 11]), 7),  # the last token is a target
        (rng.integers(0, 60_000, 331), np.array([0, 40, 3, 3, 290]), 11),
        (np.array([7, 0, 7, 7, 0, 5]), np.array([4, 0, 2]), 1),
    ]


def _cut_windows(ids: np.ndarray, starts: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    places = starts[:, None] + np.arange(length)
    return ids[places], ids[places + 1]


_edit_windows = partial(edit_reference, _cut_windows)


def _random_windows(chance: RandomValues) -> tuple:
    length, count = chance.sizes(2)
    ids = chance.random.integers(0, 60_000, (count + 2) * length + chance.between(1, 9))
    starts = chance.random.integers(0, len(ids) - length, count)
    starts[chance.between(0, count - 1)] = len(ids) - length - 1  # its last target is ids[-1]
    return ids, starts, length


def _work_out_windows(
    ids: np.ndarray, starts: np.ndarray, length: int, at: tuple
) -> Iterator[Step]:
    window = at[0]
    places = starts[window] + np.arange(length)
    yield f"the positions of window {window}'s inputs, from its start", places
    yield "the ids at these positions, which are the inputs", ids[places]
    yield "the positions of its targets, each one step further on", places + 1
    yield "the ids at these positions, which are the targets", ids[places + 1]


windows = Check(
    reference=_cut_windows,
    cases=_window_cases,
    drawn=_random_windows,
    results=("the inputs", "the targets"),
    working=_work_out_windows,
    verified="each target is the token after its input",
    mistakes=[
        Mistake(
            _edit_windows(("places + 1", "places")),
            "the targets are the inputs, so the model would learn to copy what it sees.",
        ),
        Mistake(
            _edit_windows(("places + 1", "places - 1")),
            "the targets are the tokens *before* the inputs. They should be the tokens after them.",
        ),
        Mistake(
            _edit_windows(("ids[places], ids[places + 1]", "ids[places + 1], ids[places]")),
            "inputs and targets are swapped, so the model would predict the past.",
        ),
        Mistake(
            _edit_windows(("arange(length)", "arange(length - 1)")),
            "the windows are one token too short. Each has `length` inputs and `length` targets.",
        ),
        Mistake(
            _edit_windows(("places + 1", "places + length")),
            "your targets are the tokens of the next window, but each target should be the *next "
            "token*, one position further on.",
        ),
        Mistake(
            _edit_windows(("ids[places + 1]", "ids[starts + length]")),
            "you returned one target for each window, but every position should have its own "
            "target, so that one pass trains all positions.",
        ),
        Mistake(
            _edit_windows(("starts[:, None]", "np.arange(len(starts))[:, None] * length")),
            "your windows follow one another without a gap, but window i should begin at "
            "`starts[i]`.",
        ),
        Mistake(
            lambda ids, starts, length: _cut_windows(
                ids, starts[starts + length + 1 < len(ids)], length
            ),
            "you left out a window whose last target is the last token of `ids`. That window is "
            "complete, so it should be kept.",
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
    # Ids of a large vocabulary, and a mask whose id is smaller than most or all of them.
    for seed, shape, mask_id in ((1, (3, 7), 103), (2, (5, 11), 1)):
        rng = np.random.default_rng(seed)
        ids = rng.integers(4, 100_003, shape)
        ids[ids == mask_id] += 1
        ids[1, 4:] = 0
        cases.append((ids, rng.random(shape) < 0.4, mask_id))  # some of the padding is chosen, too
    words = np.array([[7, 0, 5], [0, 0, 6]])
    return [*cases, (words, words >= 0, 4), (words, words < 0, 4)]  # all words hidden, and none


def _hide_words(ids: np.ndarray, chosen: np.ndarray, mask_id: int) -> tuple[np.ndarray, np.ndarray]:
    return np.where(chosen, mask_id, ids), np.where(chosen, ids, 0)


_edit_hiding = partial(edit_reference, _hide_words)


def _random_hidden(chance: RandomValues) -> tuple:
    batch, length = chance.sizes(2)
    mask_id = chance.between(1, 120)
    ids = chance.padded(batch, length, chance.one_of(90, 50_000), pad_id=0).numpy()
    ids[ids == mask_id] += 1  # no other word has the mask's id
    return ids, chance.flips(batch, length, share=0.4), mask_id


def _work_out_hiding(
    ids: np.ndarray, chosen: np.ndarray, mask_id: int, at: tuple
) -> Iterator[Step]:
    row = at[0]
    inputs, targets = _hide_words(ids[row], chosen[row], mask_id)
    yield f"row {row} of ids", ids[row]
    yield "whether the word is chosen", chosen[row]
    yield f"the inputs, with the mask, {mask_id}, where a word is chosen", inputs
    yield "the targets, with 0 where no word is chosen", targets


hide = Check(
    reference=_hide_words,
    cases=_hide_cases,
    drawn=_random_hidden,
    results=("the inputs", "the targets"),
    working=_work_out_hiding,
    verified="the chosen words are hidden, and they alone are targets",
    mistakes=[
        Mistake(
            _edit_hiding(("np.where(chosen, ids, 0)", "ids")),
            "every word is a target, even where nothing is hidden, so most of the loss would "
            "teach the model only to copy.",
        ),
        Mistake(
            _edit_hiding(("chosen, mask_id, ids", "chosen, ids, mask_id")),
            "you hid all words *except* the chosen ones. It should be the other way round.",
        ),
        Mistake(
            _edit_hiding(("chosen, ids, 0", "chosen, 0, ids")),
            "the targets are the words that are not hidden. They should be the hidden ones.",
        ),
        Mistake(
            _edit_hiding(("chosen, mask_id, ids", "chosen, 0, ids")),
            "you replaced the words with padding, which the padding mask hides. Use "
            "`mask_id`, so that the model sees that *something* is there.",
        ),
        Mistake(
            _edit_hiding(("np.where(chosen, mask_id, ids)", "ids")),
            "nothing is hidden, so the inputs contain the answers.",
        ),
        Mistake(
            _edit_hiding(("chosen, ids, 0", "chosen, mask_id, 0")),
            "your targets are the mask's id, but they should be the original ids.",
        ),
        Mistake(
            _edit_hiding(("    return", "    ids[chosen] = mask_id\n    return")),
            "you changed `ids` in place before you took the targets from it. Make a copy for the "
            "inputs.",
        ),
        Mistake(
            lambda ids, chosen, mask_id: _hide_words(ids, chosen & (ids != 0), mask_id),
            "you left id 0 visible where it was chosen, but `chosen` alone should decide what is "
            "hidden.",
        ),
        Mistake(
            _edit_hiding(("np.where(chosen, mask_id, ids)", "np.maximum(ids, chosen * mask_id)")),
            "this uses the larger of the word's id and the mask's id. Use the mask's id for every "
            "chosen word, even if it is the smaller one.",
        ),
    ],
)
