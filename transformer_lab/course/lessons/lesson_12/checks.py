"""Checks for the exercises of lesson 12: where "it" is resolved."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array, random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.evaluation.rollout import attention_rollout

# ---------------------------------------------------------------- a row's preference


_ROWS_OF_TWO_HEADS = [
    [[2, 0, 3, 1, 4], [4, 2, 0, 3, 1], [1, 4, 2, 0, 3]],
    [[0, 3, 1, 4, 2], [1, 0, 4, 2, 3], [3, 1, 0, 2, 4]],
]


def _random_preference(chance: RandomValues) -> tuple:
    heads, queries, keys = chance.sizes(3)
    places = chance.different(2, keys)
    return chance.weights(heads, queries, keys), chance.between(0, queries - 1), *places


def _work_out_preference(
    weights: np.ndarray, row: int, referent: int, other: int, at: tuple
) -> Iterator[Step]:
    (head,) = at
    one, two = weights[head, row, [referent, other]]
    yield f"row {row} of head {head}", weights[head, row]
    yield f"its weight on the referent, key {referent}", one
    yield f"its weight on the other noun, key {other}", two
    yield "the first minus the second", one - two


preference = Check(
    reference=lambda weights, row, referent, other: (
        weights[:, row, referent] - weights[:, row, other]
    ),
    cases=lambda: [
        # If row and nouns index the wrong axes, they stay in range here, so no error hides the
        # mistake.
        (np.array(_ROWS_OF_TWO_HEADS) / 10, 1, 0, 2),
        (random_weights(3, 7, 7, seed=2), 5, 2, 6),
        (random_weights(4, 11, 7, seed=3), 6, 5, 1),
    ],
    drawn=_random_preference,
    arguments=("weights", "row", "referent", "other"),
    results=("the preference",),
    working=_work_out_preference,
    verified="the weight on the referent minus that on the other noun, for each head",
    mistakes=[
        Mistake(
            lambda w, row, a, b: w[:, row, b] - w[:, row, a],
            "the sign is wrong: a head that looks at the referent should get a positive number.",
        ),
        Mistake(
            lambda w, row, a, b: (
                w[:, a, min(row, w.shape[2] - 1)] - w[:, b, min(row, w.shape[2] - 1)]
            ),
            "you have swapped rows and columns: `row` is the query, and the two nouns are keys.",
        ),
        Mistake(
            lambda w, row, a, b: w[row, a] - w[row, b],
            "your `row` picks a head, because weights has three axes, and the heads come first. A "
            "`:` in front of `row` keeps all heads.",
        ),
        Mistake(
            lambda w, row, a, b: w[row][a] - w[row][b],
            "`weights[row]` is a head, because weights has three axes and the heads come first. Pick "
            "the row in each head.",
        ),
        Mistake(
            lambda w, row, a, b: w[row, :, a] - w[row, :, b],
            "`row` indexes the first axis here, but that is the axis of the heads. The queries "
            "are on the second axis.",
        ),
        Mistake(
            lambda w, row, a, b: (w[:, row, a] - w[:, row, b]).mean(),
            "you have taken the mean over the heads, but each head should get its own number.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a],
            "this is only the weight on the referent. But a head that puts as much weight on the "
            "other noun prefers neither, so subtract the other noun's weight.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a] > w[:, row, b],
            "this says which of the two weights is larger, but it should say by how much.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a] / w[:, row, b],
            "this divides the two weights, which gives a huge number if the second one is close "
            "to 0. Subtract instead.",
        ),
    ],
)

# ---------------------------------------------------------------- chance


def _find_chance_level(differences: np.ndarray, signs: np.ndarray) -> float:
    means = abs(signs @ differences) / len(differences)
    return np.quantile(means.max(axis=1), 0.95)


_edit_chance = partial(edit_reference, _find_chance_level)


def _chance_cases() -> list[tuple]:
    # The largest of all rounds, 0.6, turns up once, so that it is not the percentile.
    signs = np.where(random_array(20, 3, seed=604) > 0, 1.0, -1.0)
    found = [(np.array([[0.9, 0.3], [-0.3, 0.9], [0.6, -0.3]]), signs)]
    for seed, (rounds, sentences, heads) in enumerate(((37, 11, 5), (101, 7, 13)), start=1):
        signs = np.where(random_array(rounds, sentences, seed=seed) > 0, 1.0, -1.0)
        found.append((random_array(sentences, heads, seed=seed + 10, scale=0.3), signs))
    return found


def _random_chance(chance: RandomValues) -> tuple:
    sentences, heads = chance.sizes(2)
    signs = np.where(chance.flips(chance.between(20, 99), sentences), 1.0, -1.0)
    return chance.numbers(sentences, heads, scale=0.3), signs


def _work_out_chance(differences: np.ndarray, signs: np.ndarray, at: tuple) -> Iterator[Step]:
    means = signs @ differences / len(differences)
    largest = abs(means).max(axis=1)
    yield "the signs of the first round, one for each sentence", signs[0]
    yield "the mean of each head's differences, with these signs applied", means[0]
    yield "the largest of these means, with signs ignored", largest[0]
    yield "the largest mean of each round, found in the same way", largest
    yield "the 95th percentile of these", np.quantile(largest, 0.95)


largest_by_chance = Check(
    reference=_find_chance_level,
    cases=_chance_cases,
    drawn=_random_chance,
    arguments=("differences", "signs"),
    results=("the percentile",),
    working=_work_out_chance,
    verified="each round gives its largest mean, and the percentile is taken over the rounds",
    mistakes=[
        Mistake(
            _edit_chance(("abs(signs @ differences)", "signs @ differences")),
            "you ignored negative means. But a head may also prefer the other noun, so a large "
            "negative mean should count, too. Take the absolute value before the maximum.",
        ),
        Mistake(
            _edit_chance(("means.max(axis=1)", "means")),
            "this pools all heads, so the percentile runs over all means of all rounds. Keep only "
            "the largest mean of each round, and then take the percentile.",
        ),
        Mistake(
            _edit_chance((" / len(differences)", "")),
            "you took sums over the sentences, but you should take means.",
        ),
        Mistake(
            _edit_chance(("np.quantile(means.max(axis=1), 0.95)", "means.max()")),
            "this is the largest mean of all rounds, but it should be the 95th percentile over "
            "the rounds.",
        ),
        Mistake(
            _edit_chance(("np.quantile(means.max(axis=1), 0.95)", "means.max(axis=1).mean()")),
            "this is the mean over the rounds, but it should be the 95th percentile over the "
            "rounds.",
        ),
        Mistake(
            _edit_chance(("abs(signs @ differences)", "signs @ abs(differences)")),
            "you took the absolute value of each difference before applying the signs. Take the "
            "absolute values of the means instead.",
        ),
        Mistake(
            _edit_chance(("abs(signs @ differences)", "abs(signs) @ abs(differences)")),
            "you have taken the absolute value before the mean, so the signs cannot cancel. Take "
            "the mean first.",
        ),
        Mistake(
            lambda differences, signs: np.quantile(abs(differences.mean(axis=0)), 0.95),
            "you have not used the signs, and your percentile runs over the heads. It should run "
            "over the rounds.",
        ),
        Mistake(
            _edit_chance(("means.max(axis=1)", "means.max(axis=1) ** 2")),
            "you squared the means, but you should use their absolute values.",
        ),
        Mistake(
            lambda differences, signs: abs(differences.mean(axis=0)).max(),
            "you have not used the signs, so this is what we measured, not what chance would show.",
        ),
        Mistake(
            _edit_chance(
                ("np.quantile(means.max(axis=1), 0.95)", "np.quantile(means, 0.95, axis=0).max()")
            ),
            "you computed a percentile for each head and then took the largest. Take the largest "
            "mean in each round first, and then the percentile.",
        ),
    ],
)

# ---------------------------------------------------------------- rollout


def _roll_out(layers: np.ndarray) -> np.ndarray:
    rolled = np.eye(layers.shape[-1])
    for layer in layers:
        rolled = (0.5 * layer.mean(axis=0) + 0.5 * np.eye(len(rolled))) @ rolled
    return rolled


_edit_rollout = partial(edit_reference, _roll_out)


_TWO_LAYERS = [
    [[[2, 5, 3], [6, 0, 4], [1, 7, 2]], [[4, 1, 5], [2, 6, 2], [3, 3, 4]]],
    [[[8, 2, 0], [1, 4, 5], [5, 2, 3]], [[0, 4, 6], [7, 2, 1], [1, 0, 9]]],
]


def _random_layers(chance: RandomValues) -> tuple:
    layers, heads, length = chance.sizes(3)
    return (chance.weights(layers, heads, length, length),)


def _work_out_rollout(layers: np.ndarray, at: tuple) -> Iterator[Step]:
    query, key = at
    mean, earlier = layers[-1].mean(axis=0), _roll_out(layers[:-1])[:, key]
    half = 0.5 * (mean + np.eye(len(mean)))[query]
    yield f"row {query} of the last layer, averaged over the heads", mean[query]
    yield f"half of that, plus a half on token {query} itself", half
    yield f"column {key} of the rollout of the earlier layers", earlier
    yield "that row and that column, multiplied number by number", half * earlier
    yield "the sum of these products", half @ earlier


rollout = Check(
    reference=_roll_out,
    own=(attention_rollout,),
    cases=lambda: [
        (np.array(_TWO_LAYERS) / 10,),
        (random_weights(3, 3, 5, 5, seed=5),),
        (random_weights(2, 5, 1, 1, seed=6),),
    ],
    drawn=_random_layers,
    results=("the rollout",),
    working=_work_out_rollout,
    verified="each layer is half mean map, half identity, and the last one is on the left",
    mistakes=[
        Mistake(
            _edit_rollout(("in layers", "in layers[::-1]")),
            "you multiplied the matrices in the wrong order. The last layer reads the output of "
            "the layers before it, so the last layer's matrix should be on the left.",
        ),
        Mistake(
            _edit_rollout(
                ("(0.5 * layer.mean(axis=0) + 0.5 * np.eye(len(rolled)))", "layer.mean(axis=0)")
            ),
            "the identity is missing. It should represent the residual connection, through which "
            "every token keeps its own vector.",
        ),
        Mistake(
            _edit_rollout(("0.5 * ", "")),
            "the rows of each layer's matrix sum to 2, because you added the identity to the mean "
            "of the heads. Use half of each.",
        ),
        Mistake(
            _edit_rollout(("mean", "sum")),
            "you summed the heads. Take their mean, or the rows will not sum to 1.",
        ),
        Mistake(
            _edit_rollout(
                ("np.eye(layers.shape[-1])", "np.zeros(layers.shape[2:])"),
                ("@ rolled", "/ len(layers) + rolled"),
            ),
            "you averaged the layers. A path goes through one layer after another, so multiply "
            "their matrices.",
        ),
        Mistake(
            _edit_rollout(
                ("np.eye(layers.shape[-1])", "np.ones(layers.shape[2:])"), ("@ rolled", "* rolled")
            ),
            "you multiplied the matrices cell by cell. A path needs the matrix product, @.",
        ),
        Mistake(
            _edit_rollout((" @ rolled", "")),
            "this is only the last layer's matrix. Multiply it by the product of the earlier "
            "layers' matrices.",
        ),
    ],
)

# ---------------------------------------------------------------- point a row


def _point_row(weights: np.ndarray, query: int, key: int) -> np.ndarray:
    pointed = weights.copy()
    pointed[query] = 0
    pointed[query, key] = 1
    return pointed


_edit_pointing = partial(edit_reference, _point_row)


def _random_point(chance: RandomValues) -> tuple:
    queries, keys = chance.sizes(2)
    weights = chance.weights(queries, keys)
    return weights, chance.between(0, queries - 1), chance.between(0, keys - 1)


def _work_out_pointing(weights: np.ndarray, query: int, key: int, at: tuple) -> Iterator[Step]:
    row = at[0]
    yield f"row {row} of weights", weights[row]
    said = (
        f"yes, so 1 for key {key} and 0 for every other key"
        if row == query
        else "no, so it stays the same"
    )
    yield "whether it is the row of the query", said
    yield f"row {row} of the result", _point_row(weights, query, key)[row]


point = Check(
    reference=_point_row,
    cases=lambda: [
        (np.array([[2, 0, 3, 1, 4], [4, 2, 0, 3, 1], [1, 4, 2, 0, 3]]) / 10, 1, 4),
        (random_weights(5, 3, seed=8), 4, 0),
        (random_weights(7, 7, seed=9), 2, 5),
    ],
    drawn=_random_point,
    results=("the weights",),
    working=_work_out_pointing,
    verified="the row looks at the key alone, and nothing else has changed",
    mistakes=[
        Mistake(
            _edit_pointing(("    pointed[query] = 0\n", "")),
            "you left the row's other weights in place, so the row sums to more than 1. Set the "
            "row to 0 first.",
        ),
        Mistake(
            _edit_pointing(("pointed[query] = 0", "pointed[:, key] = 0")),
            "you set a column to 0. Set the query's row to 0 instead.",
        ),
        Mistake(
            _edit_pointing(
                (
                    "    pointed[query] = 0",
                    "    query, key = min(key, len(weights) - 1), min(query, weights.shape[1] - 1)\n"
                    "    pointed[query] = 0",
                )
            ),
            "you swapped query and key: the query should pick the row.",
        ),
        Mistake(
            _edit_pointing(("weights.copy()", "np.zeros_like(weights)")),
            "you set the other rows to 0. Change only one row, and leave the others as they are.",
        ),
        Mistake(
            _edit_pointing(
                ("weights.copy()", "np.zeros_like(weights)"),
                ("pointed[query, key]", "pointed[:, key]"),
            ),
            "every row looks at the key now, but only the query's row should.",
        ),
        Mistake(
            _edit_pointing(("return pointed", "return pointed[query]")),
            "this is only the row. Return the whole map, with that row in it.",
        ),
    ],
)
