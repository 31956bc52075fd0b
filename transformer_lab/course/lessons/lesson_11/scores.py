"""Checks for the exercises of lesson 11: alignment error rate, logit lens and mean distance."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor

from transformer_lab.attention import scores as alignment
from transformer_lab.course.judge.cases import random_array, random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.course.lessons.lesson_11.attention_weights import random_square_case

Links = set[tuple[int, int]]


# ---------------------------------------------------------------- alignment error rate


def _compute_error_rate(weights: np.ndarray, gold: Links) -> float:
    steps = {step for _, step in gold}
    found = {(int(weights[step].argmax()), step) for step in steps}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


_edit_error_rate = partial(edit_reference, _compute_error_rate)


def _gold_cases() -> list[tuple]:
    # A link misread as (step, source) stays within this map, but gives a different rate.
    tall = random_weights(7, 5, seed=6)
    rows = tall.argmax(axis=1)
    gold = {(int(rows[step]), step) for step in (0, 2, 3)} | {(3, 1), (4, 3), (2, 5)}
    other = random_weights(5, 11, seed=7)
    return [
        (np.array([[0.9, 0.1], [0.8, 0.2], [0.5, 0.5]]), {(0, 0), (1, 0), (1, 1)}),
        (tall, gold),
        (other, {(int(other[0].argmax()), 0), (3, 0), (7, 2), (int(other[4].argmax()), 4)}),
    ]


def _random_gold(chance: RandomValues) -> tuple:
    steps, length = chance.sizes(2)
    drawn = chance.weights(steps, length)
    links = [(int(drawn[step].argmax()), step) for step in range(steps)]
    others = [(chance.between(0, length - 1), chance.between(0, steps - 1)) for _ in range(steps)]
    return drawn, {*links[: chance.between(1, steps)], *others}


def _work_out_error_rate(weights: np.ndarray, gold: Links, at: tuple) -> Iterator[Step]:
    steps = sorted({step for _, step in gold})
    sources = [int(weights[step].argmax()) for step in steps]
    common = len({*zip(sources, steps, strict=True)} & gold)
    yield "the steps that have a gold link", steps
    yield "the source word with the largest weight at each of them", sources
    yield "how many of these links are also gold", common
    yield "how many links were found, and how many are gold", [len(steps), len(gold)]
    share = 2 * common / (len(steps) + len(gold))
    yield "2 times the number of common links, divided by the sum of both counts", share
    yield "1 minus that", 1 - share


error_rate = Check(
    reference=_compute_error_rate,
    cases=_gold_cases,
    drawn=_random_gold,
    results=("the error rate",),
    working=_work_out_error_rate,
    verified="the strongest word of each step that has a gold link, compared with all gold links",
    mistakes=[
        Mistake(
            _edit_error_rate(("{step for _, step in gold}", "range(len(weights))")),
            "you also counted steps without a gold link, such as the one that writes <eos>. Leave "
            "them out.",
        ),
        Mistake(
            _edit_error_rate(("return 1 - 2 *", "return 2 *")),
            "this is the share of links that are right. The error rate should be 1 minus that "
            "share.",
        ),
        Mistake(
            _edit_error_rate(
                ("(int(weights[step].argmax()), step)", "(step, int(weights[step].argmax()))")
            ),
            "your pairs are the wrong way round. They should be (source, step), like those in "
            "gold.",
        ),
        Mistake(
            _edit_error_rate(("{step for _, step in gold}", "{step for step, _ in gold}")),
            "you read gold as (step, source), but it holds (source, step). So your steps are the "
            "positions of source words.",
        ),
        Mistake(
            _edit_error_rate(
                ("{step for _, step in gold}", "{step for step, _ in gold}"),
                ("(int(weights[step].argmax()), step)", "(step, int(weights[step].argmax()))"),
            ),
            "you read every link as (step, source), but gold holds (source, step): the second "
            "number of each pair is the step.",
        ),
        Mistake(
            _edit_error_rate(
                ("{step for _, step in gold}", "{source for source, _ in gold}"),
                (
                    "(int(weights[step].argmax()), step) for step",
                    "(source, int(weights[:, source].argmax())) for source",
                ),
            ),
            "this finds the strongest step for each source word, down a column. It should find "
            "the strongest source word for each step, along a row.",
        ),
        Mistake(
            _edit_error_rate(("2 * ", ""), ("(len(found) + len(gold))", "len(gold)")),
            "this divides only by the number of gold links, but the found links should count as "
            "well. Count the common links twice, and divide by the number of found links plus the "
            "number of gold links.",
        ),
        Mistake(
            _edit_error_rate(("2 * ", ""), ("(len(found) + len(gold))", "len(found)")),
            "this divides only by the number of found links, so a missed gold link costs nothing. "
            "Count the common links twice, and divide by the number of found links plus the "
            "number of gold links.",
        ),
        Mistake(
            lambda weights, gold: (
                1 - sum((int(weights[step].argmax()), step) in gold for _, step in gold) / len(gold)
            ),
            "you counted a step with two gold links twice. Each step should give one found link, "
            "so use a set.",
        ),
        Mistake(
            _edit_error_rate(("2 * ", "")),
            "a factor of 2 is missing, so this gives 0.5 even if exactly the gold links are found.",
        ),
    ],
)

# ---------------------------------------------------------------- the logit lens


def _read_words(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return (states @ weight.T + bias).argmax(dim=-1)


_SMALL_STATES = (
    [
        [[1, 0, 2, -1], [3, -2, 1, 0], [0, 1, -1, 2]],
        [[2, -1, 0, 3], [1, 2, -2, -1], [-3, 1, 2, 0]],
    ],
    [[1, 2, 0, -1], [0, 1, 3, 2], [-2, 0, 1, 3], [2, -1, 1, 0], [1, 1, -2, 2]],
    [2, -1, 0, 1, -3],
)


def _lens_cases() -> list[tuple]:
    shapes = ((3, 5, 7, 11), (5, 2, 3, 13), (3, 5, 2, 1009))  # ids that don't fit into a byte
    others = [
        (
            torch.tensor(random_array(depth, steps, d_model, seed=depth)),
            torch.tensor(random_array(vocabulary, d_model, seed=depth + 20)),
            torch.tensor(2 * random_array(vocabulary, seed=depth + 40)),
        )
        for depth, steps, d_model, vocabulary in shapes
    ]
    return [tuple(torch.tensor(x, dtype=torch.float64) for x in _SMALL_STATES), *others]


def _random_states(chance: RandomValues) -> tuple:
    depth, steps, d_model, words = chance.sizes(4)
    shapes = ((depth, steps, d_model), (words, d_model), (words,))
    return tuple(chance.tensor(*shape) for shape in shapes)


def _work_out_words(states: Tensor, weight: Tensor, bias: Tensor, at: tuple) -> Iterator[Step]:
    products = weight @ states[at]
    yield f"the state at depth {at[0]} and step {at[1]}", states[at]
    yield "the product of this vector with each row of weight, one for each word", products
    yield "plus the bias, which gives the logits", products + bias
    yield "the largest logit", (products + bias).max()
    yield "the id of the word with that logit", (products + bias).argmax()


read_words = Check(
    reference=_read_words,
    cases=_lens_cases,
    drawn=_random_states,
    results=("the ids",),
    working=_work_out_words,
    verified="the argmax over the vocabulary, at every depth and step",
    mistakes=[
        Mistake(
            lambda states, weight, bias: (states @ weight.T).argmax(dim=-1),
            "the bias is missing. The output layer adds it to the logits, so it can change which "
            "word is the best.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).argmax(dim=1),
            "your argmax runs over the steps, but it should run over the words, at each step.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).argmax(dim=0),
            "your argmax runs over the depths, but it should run over the words, at each depth.",
        ),
        Mistake(
            lambda states, weight, bias: (states[-1] @ weight.T + bias).argmax(dim=-1),
            "you read only the last depth. Read all other depths in the same way.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).softmax(dim=-1),
            "these are the probabilities of all words, but you should return the best word's id.",
        ),
        Mistake(
            lambda states, weight, bias: (states @ weight.T + bias).amax(dim=-1),
            "these are the largest logits, but you should return the ids of their words.",
        ),
        Mistake(
            lambda states, weight, bias: (states.cumsum(dim=0) @ weight.T + bias).argmax(dim=-1),
            "you summed the states over the depths, but each state already includes what all "
            "earlier layers added.",
        ),
    ],
)

# ---------------------------------------------------------------- distance


def _compute_offsets(weights: np.ndarray) -> np.ndarray:
    places = np.arange(len(weights))
    return places[:, None] - places


def _work_out_distance(weights: np.ndarray, at: tuple) -> Iterator[Step]:
    distances = abs(_compute_offsets(weights))
    means = (weights * distances).sum(axis=1)
    yield f"how far query {len(weights) - 1}, the last, is from each key", distances[-1]
    yield "each of these distances times its weight", weights[-1] * distances[-1]
    yield "their sum", means[-1]
    yield "the same sum for every query, starting from query 0", means
    yield "the mean of these", means.mean()


mean_distance = Check(
    reference=alignment.mean_distance,
    cases=lambda: [
        (np.array([[0.0, 1.0], [0.5, 0.5]]),),
        (random_weights(3, 3, seed=8),),
        (random_weights(5, 5, seed=9),),
        (random_weights(11, 11, seed=10),),
        (np.eye(3),),
        (np.fliplr(np.eye(5)),),
    ],
    drawn=random_square_case,
    results=("the mean distance",),
    working=_work_out_distance,
    verified="each distance counts with its weight, and each row once",
    mistakes=[
        Mistake(
            lambda weights: (weights * _compute_offsets(weights)).sum(axis=1).mean(),
            "distances to the left and to the right cancel, so use |query − key|.",
        ),
        Mistake(
            lambda weights: (weights * abs(_compute_offsets(weights))).sum(),
            "this is the sum over the rows, but you should return the mean over them.",
        ),
        Mistake(
            lambda weights: (weights * abs(_compute_offsets(weights))).mean(),
            "this divides by the number of cells. The weights in a row already sum to 1, so take "
            "the sum along each row, and then the mean over the rows.",
        ),
        Mistake(
            lambda weights: abs(weights.argmax(axis=1) - np.arange(len(weights))).mean(),
            "this uses only the distance to the strongest key. Every key should count, in "
            "proportion to its weight.",
        ),
        Mistake(
            lambda weights: abs(_compute_offsets(weights)).mean(),
            "you did not use the weights, so this is the mean distance over all pairs.",
        ),
        Mistake(
            lambda weights: (weights * _compute_offsets(weights) ** 2).sum(axis=1).mean(),
            "you squared the distances, but you should use the distances themselves.",
        ),
    ],
)
