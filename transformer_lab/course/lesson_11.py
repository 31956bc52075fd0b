"""Lesson 11, explore the heads: the checks of its exercises, and its quiz."""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.evaluation import alignment

Links = set[tuple[int, int]]


def weights(*shape: int, seed: int) -> np.ndarray:
    """Random rows that each sum to 1."""
    scores = np.exp(2 * draw(*shape, seed=seed))
    return scores / scores.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------- read a row


def _read_row(weights: np.ndarray, source: Sequence[str], row: int) -> tuple[str, float]:
    row = min(max(row, 0), len(weights) - 1)
    return source[int(weights[row].argmax())], weights[row].max()


def _read_column(weights: np.ndarray, source: Sequence[str], column: int) -> tuple[str, float]:
    weights = weights[:, min(column, len(source) - 1)]
    return source[min(int(weights.argmax()), len(source) - 1)], weights.max()


def _reading_cases() -> list[tuple]:
    wide = weights(3, 5, seed=1)
    tall = weights(7, 3, seed=2)
    return [
        (np.array([[0.9, 0.1], [0.6, 0.4]]), ["le", "chat"], ["the", "cat"], "chat"),
        (wide, "le chat <eos>".split(), "the old cat sleeps <eos>".split(), "le"),
        (tall, "le chat et le chien noir <eos>".split(), "cats dogs <eos>".split(), "le"),
        (tall, "le chat et le chien noir <eos>".split(), "cats dogs <eos>".split(), "noir"),
    ]


looks_at = Check(
    reference=lambda weights, written, source, word: _read_row(
        weights, source, written.index(word)
    ),
    cases=_reading_cases,
    results=("the source word", "its weight"),
    verified="the row that writes the word, the first if there are several; its largest weight",
    mistakes=[
        Mistake(
            lambda weights, written, source, word: _read_column(
                weights, source, written.index(word)
            ),
            "this reads down a column. Rows are queries: the word that is written has a row, and "
            "its weights stand side by side.",
        ),
        Mistake(
            lambda weights, written, source, word: _read_row(
                weights, source, len(written) - 1 - written[::-1].index(word)
            ),
            "the word is written more than once, and this is its last row, not its first.",
        ),
        Mistake(
            lambda weights, written, source, word: _read_row(
                weights, source, written.index(word) - 1
            ),
            "this is the row before. `written` names the rows already: the row of a word is the "
            "step that writes it.",
        ),
        Mistake(
            lambda weights, written, source, word: _read_row(
                weights, source, written.index(word) + 1
            ),
            "this is the row after, the one that reads the word. `written` names the rows by what "
            "they write.",
        ),
        Mistake(
            lambda weights, written, source, word: (
                int(weights[written.index(word)].argmax()),
                weights[written.index(word)].max(),
            ),
            "this is the place of the source word; the word itself is asked.",
        ),
    ],
)

# ---------------------------------------------------------------- one word back


def _square_cases() -> list[tuple]:
    return [
        (np.array([[1.0, 0.0], [0.7, 0.3]]),),
        (weights(3, 3, seed=3),),
        (weights(5, 5, seed=4),),
        (np.tril(weights(7, 7, seed=5)),),
    ]


previous_token = Check(
    reference=alignment.previous_token,
    cases=_square_cases,
    results=("the mean weight",),
    verified="the mean weight one place to the left of the diagonal, without the first row",
    mistakes=[
        Mistake(
            lambda weights: np.diagonal(weights, offset=1).mean(),
            "this is the weight on the *next* token: rows are queries, so the previous key is one "
            "place to the left of the diagonal.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights).mean(),
            "this is the weight on the token itself, the diagonal.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights, offset=-1).sum() / len(weights),
            "the sum is divided by all rows; the first has no previous token and does not count.",
        ),
        Mistake(
            lambda weights: np.diagonal(weights, offset=-1).sum(),
            "this is a sum; divide it by the number of rows that have a previous token.",
        ),
        Mistake(
            lambda weights: (weights[1:].argmax(axis=1) == np.arange(len(weights) - 1)).mean(),
            "this counts in how many rows the previous token is the strongest; the question is how "
            "much weight it gets.",
        ),
        Mistake(
            lambda weights: weights[1:, 0].mean(),
            "this is the weight on the first token, in every row.",
        ),
    ],
)

# ---------------------------------------------------------------- alignment error rate


def _rate(found: Links, gold: Links) -> float:
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def _links(weights: np.ndarray, gold: Links) -> Links:
    return {(int(weights[step].argmax()), step) for step in {step for _, step in gold}}


def _all_links(weights: np.ndarray) -> Links:
    return {(int(row.argmax()), step) for step, row in enumerate(weights)}


def _gold_cases() -> list[tuple]:
    drawn = weights(7, 5, seed=6)
    rows = drawn.argmax(axis=1)
    gold = {(int(rows[step]), step) for step in (0, 2, 3)} | {(1, 1), (4, 3), (0, 5)}
    other = weights(5, 11, seed=7)
    return [
        (np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]), {(0, 0), (1, 0), (1, 1)}),
        (drawn, gold),
        (other, {(int(other[0].argmax()), 0), (3, 0), (7, 2), (int(other[4].argmax()), 4)}),
    ]


error_rate = Check(
    reference=lambda weights, gold: _rate(_links(weights, gold), gold),
    cases=_gold_cases,
    results=("the error rate",),
    verified="the strongest word of each step that has a gold link, compared with all gold links",
    mistakes=[
        Mistake(
            lambda weights, gold: _rate(_all_links(weights), gold),
            "steps without a gold link are counted too, such as the one that writes <eos>.",
        ),
        Mistake(
            lambda weights, gold: 1 - _rate(_links(weights, gold), gold),
            "this is the share that is right; the error rate is 1 minus it.",
        ),
        Mistake(
            lambda weights, gold: _rate({(b, a) for a, b in _links(weights, gold)}, gold),
            "the pairs are turned round: gold holds (source, step).",
        ),
        Mistake(
            lambda weights, gold: _rate(
                {(source, int(weights[:, source].argmax())) for source in {s for s, _ in gold}},
                gold,
            ),
            "this takes the strongest step of each source word: that is a column. Each step, a "
            "row, has one link.",
        ),
        Mistake(
            lambda weights, gold: 1 - len(_links(weights, gold) & gold) / len(gold),
            "this divides by the gold links alone. A step may have two gold links and finds one: "
            "the formula divides twice the common ones by both counts together.",
        ),
        Mistake(
            lambda weights, gold: (
                1 - len(_links(weights, gold) & gold) / len(_links(weights, gold))
            ),
            "this divides by the found links alone: gold links that are missed cost nothing.",
        ),
        Mistake(
            lambda weights, gold: (
                1 - sum((int(weights[step].argmax()), step) in gold for _, step in gold) / len(gold)
            ),
            "a step with two gold links is counted twice. Found is a set: one link for each step.",
        ),
        Mistake(
            lambda weights, gold: (
                1 - len(_links(weights, gold) & gold) / (len(_links(weights, gold)) + len(gold))
            ),
            "a factor of 2 is missing: with all links right this gives 0.5.",
        ),
    ],
)

# ---------------------------------------------------------------- distance


def _apart(weights: np.ndarray) -> np.ndarray:
    places = np.arange(len(weights))
    return places[:, None] - places


mean_distance = Check(
    reference=alignment.mean_distance,
    cases=lambda: [
        (np.array([[0.0, 1.0], [0.5, 0.5]]),),
        (weights(3, 3, seed=8),),
        (weights(5, 5, seed=9),),
        (weights(11, 11, seed=10),),
    ],
    results=("the mean distance",),
    verified="each distance counts with its weight, and each row once",
    mistakes=[
        Mistake(
            lambda weights: (weights * _apart(weights)).sum(axis=1).mean(),
            "left and right cancel: take |query − key|.",
        ),
        Mistake(
            lambda weights: (weights * abs(_apart(weights))).sum(),
            "this is the sum over the rows; a mean is asked.",
        ),
        Mistake(
            lambda weights: (weights * abs(_apart(weights))).mean(),
            "this divides by all cells. In a row the weights sum to 1 already: sum over the row, "
            "then take the mean over the rows.",
        ),
        Mistake(
            lambda weights: abs(weights.argmax(axis=1) - np.arange(len(weights))).mean(),
            "this is the distance of the strongest key alone; every key counts, with its weight.",
        ),
        Mistake(
            lambda weights: abs(_apart(weights)).mean(),
            "the weights are not used: this is the mean distance of all pairs.",
        ),
        Mistake(
            lambda weights: (weights * _apart(weights) ** 2).sum(axis=1).mean(),
            "this is the squared distance.",
        ),
    ],
)

# ---------------------------------------------------------------- the logit lens


def _read(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return (states @ weight.T + bias).argmax(dim=-1)


def _lens_cases() -> list[tuple]:
    shapes = ((2, 3, 4, 5), (3, 5, 7, 11), (5, 2, 3, 13))
    return [
        (
            torch.tensor(draw(depth, steps, d_model, seed=depth)),
            torch.tensor(draw(vocabulary, d_model, seed=depth + 20)),
            torch.tensor(2 * draw(vocabulary, seed=depth + 40)),
        )
        for depth, steps, d_model, vocabulary in shapes
    ]


read_words = Check(
    reference=_read,
    cases=_lens_cases,
    results=("the ids",),
    verified="the argmax over the vocabulary, at every depth and step",
    mistakes=[
        Mistake(
            lambda states, weight, bias: (states @ weight.T).argmax(dim=-1),
            "the bias is missing: the output layer adds it, and frequent words live by it.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).argmax(dim=1),
            "the argmax runs over the steps; at each step, over the words, is asked.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).argmax(dim=0),
            "the argmax runs over the depths; at each depth, over the words, is asked.",
        ),
        Mistake(
            lambda states, weight, bias: (states[-1] @ weight.T + bias).argmax(dim=-1),
            "only the last depth is read.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).softmax(dim=-1),
            "these are probabilities of all words; the best word's id is asked.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).amax(dim=-1),
            "these are the largest logits; the id of the word that has it is asked.",
        ),
        Mistake(
            lambda states, weight, bias: (states.cumsum(dim=0) @ weight.T + bias).argmax(dim=-1),
            "the states are summed over the depths; each state holds the earlier ones already.",
        ),
    ],
)

check = SimpleNamespace(
    looks_at=looks_at,
    previous_token=previous_token,
    error_rate=error_rate,
    mean_distance=mean_distance,
    read_words=read_words,
)

quiz = Quiz(
    [
        Question(
            "In a map of cross-attention, which of these sums to 1?",
            (
                ("each row", "A row is a query: one step shares out its weight over the source."),
                ("each column", "A source word may be looked at by all steps, or by none."),
                ("the whole map", "It sums to the number of steps."),
            ),
            right=0,
        ),
        Question(
            "A head has the lowest alignment error of all. What follows?",
            (
                (
                    "the model needs it most: it finds the right words",
                    "On this page the worst aligner of its layer is missed more.",
                ),
                (
                    "its strongest weights fit the gold links best",
                    "How often they agree with the gold alignment was measured, and nothing else.",
                ),
                ("it decides the word order", "Nobody has asked that yet."),
            ),
            right=1,
        ),
        Question(
            "You mute a head and nothing changes. What may you say?",
            (
                ("it does nothing", "Another head may have stood in for it: mute them together."),
                ("it can be removed from every model", "You have asked one model."),
                (
                    "here, the output does not need it",
                    "On these sentences, with the other heads there: this is less than one would "
                    "like, and it is what was shown.",
                ),
            ),
            right=2,
        ),
        Question(
            "A column is bright in nearly every row. What is it, most likely?",
            (
                ("the most important word", "Then it would matter most when muted. Test it."),
                (
                    "a resting place",
                    "A row must sum to 1; a head with nothing to fetch puts its weight where it "
                    "does little.",
                ),
                ("an error of the softmax", "The rows sum to 1, as they should."),
            ),
            right=1,
        ),
        Question(
            "Why compare with untrained models?",
            (
                (
                    "they show what the architecture does alone",
                    "What an untrained head shows, learning did not make: a causal mask alone "
                    "makes heads that look near.",
                ),
                ("they are faster", "They are as fast."),
                ("to see whether the training went wrong", "The loss tells that."),
            ),
            right=0,
        ),
        Question(
            "The logit lens reads a word off the stream after layer 1. What is it?",
            (
                (
                    "the word that layer 1 attends to",
                    "Weights say that; the lens reads the vector.",
                ),
                (
                    "what the output layer would write there",
                    "As if it had to stop there. It was never trained to: an early state need "
                    "not speak its language.",
                ),
                ("the word that the model is thinking of", "Nothing here measures thought."),
            ),
            right=1,
        ),
    ]
)
