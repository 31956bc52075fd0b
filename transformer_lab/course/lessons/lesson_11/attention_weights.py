"""Checks for the exercises of lesson 11: reading a row, and the weight on the previous token."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from transformer_lab.attention import scores as alignment
from transformer_lab.course.judge.cases import random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- read a row


def _read_row(
    weights: np.ndarray, written: Sequence[str], source: Sequence[str], word: str
) -> tuple[str, float]:
    row = weights[written.index(word)]
    return source[int(row.argmax())], row.max()


_edit_reading = partial(edit_reference, _read_row)


def _reading_cases() -> list[tuple]:
    wide = random_weights(3, 5, seed=1)
    tall = random_weights(7, 3, seed=2)
    return [
        (np.array([[0.9, 0.1], [0.6, 0.4]]), ["le", "chat"], ["the", "cat"], "chat"),
        (wide, "le chat <eos>".split(), "the old cat sleeps <eos>".split(), "le"),
        (tall, "le chat et le chien noir <eos>".split(), "cats dogs <eos>".split(), "le"),
        (tall, "le chat et le chien noir <eos>".split(), "cats dogs <eos>".split(), "noir"),
    ]


def _random_reading(chance: RandomValues) -> tuple:
    steps, length = chance.sizes(2)
    written = [f"mot{n}" for n in chance.different(steps, 20)]
    source = [f"word{n}" for n in chance.different(length, 20)]
    return chance.weights(steps, length), written, source, written[chance.between(0, steps - 1)]


def _work_out_reading(
    weights: np.ndarray, written: Sequence[str], source: Sequence[str], word: str, at: tuple
) -> Iterator[Step]:
    row = weights[written.index(word)]
    yield f"where “{word}” first occurs in written, counted from 0", written.index(word)
    yield "the weights in that row", row
    yield "the largest of them", row.max()
    yield "its position, counted from 0", int(row.argmax())
    yield "the word of source at that position", source[int(row.argmax())]


looks_at = Check(
    reference=_read_row,
    cases=_reading_cases,
    drawn=_random_reading,
    results=("the source word", "the weight"),
    working=_work_out_reading,
    verified="the largest weight in the row that writes the word, or in the first of several such rows",
    mistakes=[
        Mistake(
            _edit_reading(
                (
                    "weights[written.index(word)]",
                    "weights[:, min(written.index(word), len(source) - 1)]",
                ),
                ("int(row.argmax())", "min(int(row.argmax()), len(source) - 1)"),
            ),
            "this reads down a column. Rows are queries, so you should read along the row of the "
            "written word.",
        ),
        Mistake(
            _edit_reading(("written.index(word)", "len(written) - 1 - written[::-1].index(word)")),
            "you used the last row of a word that is written more than once, but you should use "
            "its first row.",
        ),
        Mistake(
            _edit_reading(("written.index(word)", "max(written.index(word) - 1, 0)")),
            "you used the previous row. A word's position in `written` is already the index of "
            "its row.",
        ),
        Mistake(
            _edit_reading(
                ("written.index(word)", "min(written.index(word) + 1, len(weights) - 1)")
            ),
            "you used the next row, in which the model reads the word. The model writes the word "
            "one row earlier, at the word's position in `written`.",
        ),
        Mistake(
            _edit_reading(("source[int(row.argmax())]", "int(row.argmax())")),
            "this is the position of the source word, but you should return the word itself.",
        ),
    ],
)

# ---------------------------------------------------------------- one word back


def _square_cases() -> list[tuple]:
    return [
        (np.array([[1.0, 0.0], [0.7, 0.3]]),),
        (random_weights(3, 3, seed=3),),
        (random_weights(5, 5, seed=4),),
        (np.tril(random_weights(7, 7, seed=5)),),
        (np.eye(11, k=-1),),
        (random_weights(2, 2, seed=6),),
    ]


def random_square_case(chance: RandomValues) -> tuple:
    """Return a random case: a head's square matrix of weights over two or more words."""
    length = max(2, *chance.sizes(1))
    return (chance.weights(length, length),)


def _work_out_previous_token(weights: np.ndarray, at: tuple) -> Iterator[Step]:
    previous = np.diagonal(weights, offset=-1)
    yield "row 1's weight on key 0, row 2's on key 1, and so on", previous
    yield "their sum", previous.sum()
    yield f"divided by the number of rows with a previous token, {len(previous)}", previous.mean()


previous_token = Check(
    reference=alignment.previous_token,
    cases=_square_cases,
    drawn=random_square_case,
    results=("the mean weight",),
    working=_work_out_previous_token,
    verified="the mean weight one place to the left of the diagonal, without the first row",
    mistakes=[
        Mistake(
            lambda weights: np.diagonal(weights, offset=1).mean(),
            "this is the weight on the *next* token. Rows are queries, so the previous key is one "
            "place to the left of the diagonal.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights).mean(),
            "you took the diagonal, which holds the weight on the token itself. The previous key "
            "is one place to the left of the diagonal.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights, offset=-1).sum() / len(weights),
            "you divided by the number of all rows, but the first row has no previous token. "
            "Divide by the number of the other rows.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights, offset=-1).sum(),
            "this is a sum. Divide it by the number of rows that have a previous token.",
        ),
        Mistake(
            lambda weights: (weights[1:].argmax(axis=1) == np.arange(len(weights) - 1)).mean(),
            "this is the share of rows in which the previous token has the largest weight. Return "
            "that token's mean weight instead.",
        ),
        Mistake(
            lambda weights: weights[1:, 0].mean(),
            "this is the mean weight on the first token. Use the weight on the token just before "
            "the query.",
        ),
        Mistake(
            lambda weights: weights[:, 0].mean(),
            "this is the mean weight on the first token. Use the weight on the token just before "
            "the query, and leave out the first row.",
        ),
        Mistake(
            lambda weights: np.tril(weights, -1).sum() / (len(weights) - 1),
            "this is the weight on all earlier tokens together. Use only the weight on the token "
            "just before the query.",
        ),
        Mistake(
            lambda weights: weights[1:, :-1].mean(),
            "this is the mean weight on all keys except the last. In each row, use only the weight "
            "on the key just before the query.",
        ),
        Mistake(
            lambda weights: weights[1:, :-1].max(axis=1).mean(),
            "this uses the largest weight in each row, wherever it is. Use the weight on the key "
            "just before the query.",
        ),
        Mistake(
            lambda weights: weights.mean(),
            "this is the mean of all weights, which is 1/n for any head. Use only the weights on "
            "the previous token.",
        ),
        Mistake(
            lambda weights: weights[-1, -2],
            "you read only the last row. Take the mean over all rows that have a previous token.",
        ),
        Mistake(
            lambda weights: weights[1, 0],
            "you read only the second row. Take the mean over all rows that have a previous token.",
        ),
        Mistake(
            lambda weights: weights[np.arange(len(weights)), np.arange(len(weights)) - 1].mean(),
            "you included the first row, which has no previous token. There, index −1 gave you the "
            "weight on the last key. Leave that row out.",
        ),
        Mistake(
            lambda weights: np.median(np.diagonal(weights, offset=-1)),
            "this is the median, but you should return the mean.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights, offset=-2).sum() / max(1, len(weights) - 2),
            "this is the weight on the token two places back. Use the weight on the token just "
            "before the query.",
        ),
    ],
)
