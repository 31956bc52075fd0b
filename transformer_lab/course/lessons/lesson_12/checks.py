"""Checks of the exercises of lesson 12, where is "it" resolved."""

from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array, random_weights
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.evaluation.rollout import attention_rollout

# ---------------------------------------------------------------- a row's preference


def _random_preference(chance: RandomValues) -> tuple:
    heads, queries, keys = chance.sizes(3)
    places = chance.different(2, keys)
    return chance.weights(heads, queries, keys), chance.between(0, queries - 1), *places


preference = Check(
    reference=lambda weights, row, referent, other: (
        weights[:, row, referent] - weights[:, row, other]
    ),
    cases=lambda: [
        (random_weights(2, 3, 5, seed=1), 1, 0, 4),
        (random_weights(3, 7, 7, seed=2), 5, 2, 6),
        (random_weights(4, 11, 7, seed=3), 6, 5, 1),
    ],
    drawn=_random_preference,
    arguments=("weights", "row", "referent", "other"),
    results=("the preference",),
    verified="referent minus other noun, in the given row, one number for each head",
    mistakes=[
        Mistake(
            lambda w, row, a, b: w[:, row, b] - w[:, row, a],
            "the sign is turned: a head that looks at the referent should have a positive number.",
        ),
        Mistake(
            lambda w, row, a, b: (
                w[:, a, min(row, w.shape[2] - 1)] - w[:, b, min(row, w.shape[2] - 1)]
            ),
            "rows and columns are swapped: `row` is the query, the nouns are keys.",
        ),
        Mistake(
            lambda w, row, a, b: (w[:, row, a] - w[:, row, b]).mean(),
            "this is the mean over the heads; each head gets its own number.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a],
            "this is the weight on the referent alone: a head that puts as much on the other noun "
            "prefers neither.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a] > w[:, row, b],
            "this says which is larger; by how much is asked.",
        ),
        Mistake(
            lambda w, row, a, b: w[:, row, a] / w[:, row, b],
            "this is a quotient: it is huge where both are next to nothing. Subtract.",
        ),
    ],
)

# ---------------------------------------------------------------- chance


def _find_chance_level(differences: np.ndarray, signs: np.ndarray) -> float:
    means = abs(signs @ differences) / len(differences)
    return np.quantile(means.max(axis=1), 0.95)


_edit_chance = partial(edit_reference, _find_chance_level)


def _chance_cases() -> list[tuple]:
    found = []
    for seed, (rounds, sentences, heads) in enumerate(((20, 3, 2), (37, 11, 5), (101, 7, 13))):
        signs = np.where(random_array(rounds, sentences, seed=seed) > 0, 1.0, -1.0)
        found.append((random_array(sentences, heads, seed=seed + 10, scale=0.3), signs))
    return found


def _random_chance(chance: RandomValues) -> tuple:
    sentences, heads = chance.sizes(2)
    signs = np.where(chance.flips(chance.between(20, 99), sentences), 1.0, -1.0)
    return chance.numbers(sentences, heads, scale=0.3), signs


largest_by_chance = Check(
    reference=_find_chance_level,
    cases=_chance_cases,
    drawn=_random_chance,
    arguments=("differences", "signs"),
    results=("the percentile",),
    verified="the mean over the sentences, the largest of the heads, the 95th percentile of the rounds",
    mistakes=[
        Mistake(
            _edit_chance(("abs(signs @ differences)", "signs @ differences")),
            "large negative means count too: a head may prefer the other noun. Take the absolute "
            "value before the maximum.",
        ),
        Mistake(
            _edit_chance(("means.max(axis=1)", "means")),
            "this pools all heads. You will look at the largest head, so compare with the largest "
            "of each round.",
        ),
        Mistake(
            _edit_chance((" / len(differences)", "")),
            "these are sums over the sentences; a mean is asked.",
        ),
        Mistake(
            _edit_chance(("np.quantile(means.max(axis=1), 0.95)", "means.max()")),
            "this is the very largest of all rounds; the 95th percentile over the rounds is asked.",
        ),
        Mistake(
            _edit_chance(("np.quantile(means.max(axis=1), 0.95)", "means.max(axis=1).mean()")),
            "this is the mean over the rounds; the 95th percentile is asked.",
        ),
        Mistake(
            _edit_chance(("abs(signs @ differences)", "signs @ abs(differences)")),
            "the absolute value is taken of each difference, before the signs; take it of the means.",
        ),
        Mistake(
            _edit_chance(("abs(signs @ differences)", "abs(signs) @ abs(differences)")),
            "the absolute value is taken before the mean, so no sign can cancel; take the mean first.",
        ),
        Mistake(
            lambda differences, signs: np.quantile(abs(differences.mean(axis=0)), 0.95),
            "the signs are not used, and the percentile runs over the heads: it should run over the "
            "rounds.",
        ),
        Mistake(
            _edit_chance(("means.max(axis=1)", "means.max(axis=1) ** 2")),
            "the means are squared; their absolute values are asked.",
        ),
        Mistake(
            lambda differences, signs: abs(differences.mean(axis=0)).max(),
            "the signs are not used: this is what was measured, not what chance would show.",
        ),
        Mistake(
            _edit_chance(
                ("np.quantile(means.max(axis=1), 0.95)", "np.quantile(means, 0.95, axis=0).max()")
            ),
            "each head gets its own percentile, then the largest is taken. First the largest head "
            "of each round, then the percentile.",
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


def _random_layers(chance: RandomValues) -> tuple:
    layers, heads, length = chance.sizes(3)
    return (chance.weights(layers, heads, length, length),)


rollout = Check(
    reference=_roll_out,
    own=(attention_rollout,),
    cases=lambda: [
        (random_weights(2, 2, 3, 3, seed=4),),
        (random_weights(3, 3, 5, 5, seed=5),),
        (random_weights(2, 5, 7, 7, seed=6),),
    ],
    drawn=_random_layers,
    results=("the rollout",),
    verified="half mean map and half identity for each layer, the last one on the left; rows sum to 1",
    mistakes=[
        Mistake(
            _edit_rollout(("in layers", "in layers[::-1]")),
            "the order is turned: the last layer reads what the first has made, so its matrix "
            "stands on the left.",
        ),
        Mistake(
            _edit_rollout(
                ("(0.5 * layer.mean(axis=0) + 0.5 * np.eye(len(rolled)))", "layer.mean(axis=0)")
            ),
            "the identity is missing: on the residual connection every token keeps itself.",
        ),
        Mistake(
            _edit_rollout(("0.5 * ", "")),
            "mean map plus identity has rows that sum to 2: take half of each.",
        ),
        Mistake(
            _edit_rollout(("mean", "sum")),
            "the heads are summed; take their mean, or rows do not sum to 1.",
        ),
        Mistake(
            _edit_rollout(
                ("np.eye(layers.shape[-1])", "np.zeros(layers.shape[2:])"),
                ("@ rolled", "/ len(layers) + rolled"),
            ),
            "the layers are averaged; a path goes through one after the other: multiply.",
        ),
        Mistake(
            _edit_rollout(
                ("np.eye(layers.shape[-1])", "np.ones(layers.shape[2:])"), ("@ rolled", "* rolled")
            ),
            "the matrices are multiplied cell by cell; a path needs the matrix product, @.",
        ),
        Mistake(_edit_rollout((" @ rolled", "")), "this is the last layer alone."),
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


point = Check(
    reference=_point_row,
    cases=lambda: [
        (random_weights(3, 5, seed=7), 1, 4),
        (random_weights(5, 3, seed=8), 4, 0),
        (random_weights(7, 7, seed=9), 2, 5),
    ],
    drawn=_random_point,
    results=("the weights",),
    verified="the row is 1 at the key and 0 elsewhere, the other rows and the given array stay",
    mistakes=[
        Mistake(
            _edit_pointing(("    pointed[query] = 0\n", "")),
            "the row's other weights are still there: it sums to more than 1. Set it to 0 first.",
        ),
        Mistake(
            _edit_pointing(("pointed[query] = 0", "pointed[:, key] = 0")),
            "a column has been emptied; the row of the query is to be.",
        ),
        Mistake(
            _edit_pointing(
                (
                    "    pointed[query] = 0",
                    "    query, key = min(key, len(weights) - 1), min(query, weights.shape[1] - 1)\n"
                    "    pointed[query] = 0",
                )
            ),
            "query and key are exchanged: the row is the query.",
        ),
        Mistake(
            _edit_pointing(("weights.copy()", "np.zeros_like(weights)")),
            "the other rows are 0 now: change one row and leave the others as they are.",
        ),
        Mistake(
            _edit_pointing(
                ("weights.copy()", "np.zeros_like(weights)"),
                ("pointed[query, key]", "pointed[:, key]"),
            ),
            "every row is pointed; only the row of the query should be.",
        ),
        Mistake(
            _edit_pointing(("return pointed", "return pointed[query]")),
            "this is the row alone; the whole map is asked, with that row in it.",
        ),
    ],
)
