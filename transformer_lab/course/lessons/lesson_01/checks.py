"""Checks for the exercises of lesson 01: the softmax, and one attention head."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import (
    attention_cases,
    random_array,
    random_attention_case,
)
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row

# ---------------------------------------------------------------- softmax


def _softmax_cases() -> list[tuple]:
    hidden = random_array(3, 5, seed=1)
    hidden[0, 1:3] = -np.inf
    far_apart = random_array(3, 2, 4, seed=2)
    far_apart[1] += 1000
    far = 1000.0  # exp(1000) is inf, and exp(-1000) is 0
    wide = np.array([[far, far - 1, 0, 0, 0], [0, far - 1, far, 0, 0], [0, 0, 0, 0, far]])
    low = np.array([[-far, 1 - far, -1 - far], [-np.inf, 0.5, 2.0]])
    huge = np.array([[1e9, 0.0, -1e9, 1e9], [200.0, 200.0, -200.0, 199.0], [0.0] * 4])
    return [
        (np.array([[2.0, -1.0, 1.0], [0.0, 3.0, 4.0]]),),
        (random_array(5),),
        (hidden,),
        (far_apart,),
        (wide,),
        (low,),
        (huge,),
    ]


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


_edit_softmax = partial(edit_reference, _softmax)


def _work_out_softmax(scores: np.ndarray, at: tuple) -> Iterator[Step]:
    row = scores[at[:-1]]
    exponentials = np.exp(row - row.max())
    yield f"{name_row('scores', at)}, with its largest score subtracted", row - row.max()
    yield "e to the power of each", exponentials
    yield "their sum", exponentials.sum()
    yield "each divided by that sum", exponentials / exponentials.sum()


def _random_scores(chance: RandomValues) -> tuple:
    """Return a random case: scores shifted by a constant, with some of them set to −∞."""
    scores = chance.numbers(*chance.batch(), *chance.sizes(2), scale=chance.one_of(1.0, 300.0))
    hidden = chance.flips(*scores.shape, share=0.2)
    hidden[..., chance.between(0, scores.shape[-1] - 1)] = False
    return (np.where(hidden, -np.inf, scores + chance.real(-1000, 1000)),)


softmax = Check(
    reference=reference.softmax,
    cases=_softmax_cases,
    drawn=_random_scores,
    results=("the weights",),
    working=_work_out_softmax,
    verified="each row sums to 1, a score of -inf gets weight 0, and large scores do not overflow",
    mistakes=[
        Mistake(
            _edit_softmax(("axis=-1", "axis=0")),
            "the rows do not sum to 1, because your softmax runs over the wrong axis. It should "
            "run over the keys, which are the last axis.",
        ),
        Mistake(
            _edit_softmax(("axis=-1, keepdims=True", "")),
            "your weights sum to 1 over all rows together, but each row should sum to 1. Sum along "
            "the last axis, with keepdims=True.",
        ),
        Mistake(
            _edit_softmax(
                (" - scores.max(axis=-1, keepdims=True)", ""),
                ("weights.sum(axis=-1, keepdims=True)", "weights.sum()"),
            ),
            "you divide by the sum of all rows' exponentials, but each row should be divided by "
            "its own sum. Sum along the last axis, with keepdims=True.",
        ),
        Mistake(
            _edit_softmax(("weights.sum(axis=-1, keepdims=True)", "weights.sum()")),
            "you use each row's own maximum, but you divide by the sum of the whole array. Divide "
            "each row by its own sum, taken along the last axis.",
        ),
        Mistake(
            _edit_softmax(("scores.max", "scores.min")),
            "you subtract the smallest score of the row, but exponentials can still overflow, and "
            "the smallest score may be -inf. Subtract the largest score instead.",
        ),
        Mistake(
            _edit_softmax(("scores.max", "scores.mean")),
            "you subtract the mean of the row, but a single score of -inf makes the mean -inf. "
            "Subtract the largest score, which always works.",
        ),
        Mistake(
            _edit_softmax(("scores.max", "abs(scores).max")),
            "you subtract the largest absolute value, but you should subtract the largest score. "
            "If all scores are far below 0, your exponentials all become 0.",
        ),
        Mistake(
            _edit_softmax(("scores.max(axis=-1, keepdims=True)", "scores[..., :1]")),
            "you subtract the first score of the row, but you should subtract the largest, which "
            "may be a different one.",
        ),
        Mistake(
            _edit_softmax((" - scores.max(axis=-1, keepdims=True)", "")),
            "this works for small scores, but large ones give NaN, because exp overflows. Subtract "
            "the largest score of the row first.",
        ),
        Mistake(
            _edit_softmax(("scores.max(axis=-1, keepdims=True)", "scores.max()")),
            "you subtract the maximum of the whole array, so rows far below it become NaN (0/0). "
            "Subtract each row's own maximum.",
        ),
        Mistake(
            _edit_softmax(("weights.sum(axis=-1,", "weights.sum(axis=0,")),
            "you divide by the sums of the columns, but each row should be divided by its own sum. "
            "The keys are the last axis, so use axis=-1.",
        ),
        Mistake(
            _edit_softmax((" / weights.sum(axis=-1, keepdims=True)", "")),
            "you do not divide each row by its sum, so the rows do not sum to 1.",
        ),
        Mistake(
            _edit_softmax((", keepdims=True", "")),
            "this is right only for a single row of scores. Summing over an axis removes that "
            "axis, so the sums no longer line up with the rows. Write keepdims=True to keep the "
            "axis, with length 1.",
        ),
        Mistake(
            _edit_softmax(("axis=-1", "axis=1")),
            "you use axis=1, which is the last axis only in a 2-D array. The keys are always the "
            "last axis, so write axis=-1.",
        ),
        Mistake(
            _edit_softmax(
                (
                    "weights = np.exp(scores - scores.max(axis=-1, keepdims=True))",
                    "scores -= scores.max(axis=-1, keepdims=True)\n    weights = np.exp(scores)",
                )
            ),
            "this changes the caller's scores in place (-=). Subtract with -, which makes a new "
            "array.",
        ),
        Mistake(
            lambda scores: _softmax(-scores),
            "your largest score gets the smallest weight, but it should get the largest. Check the "
            "sign inside exp.",
        ),
    ],
)


# ---------------------------------------------------------------- one head


def _attend(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple:
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    weights = reference.softmax(scores)
    return weights @ value, weights


_edit_attention = partial(edit_reference, _attend)


def _work_out_attention(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, at: tuple
) -> Iterator[Step]:
    products, d_k = key[at[:-2]] @ query[at[:-1]], query.shape[-1]
    weights = reference.softmax(products / np.sqrt(d_k))
    yield f"the dot product of {name_row('query', at)} and each key", products
    yield f"each divided by √{d_k} (the scores)", products / np.sqrt(d_k)
    yield "their softmax (the weights)", weights
    yield "each value times its weight, added up (the output)", weights @ value[at[:-2]]


def _far_apart_case() -> tuple:
    """Return a case whose scores are so far apart that each query has one weight close to 1."""
    query, key, value = (random_array(*shape, seed=3) for shape in ((3, 7), (5, 7), (5, 2)))
    return 50 * query, 50 * key, value


def _random_head(chance: RandomValues) -> tuple:
    """Return a random case, sometimes with scores so large that their exponentials overflow."""
    query, key, value = random_attention_case(chance)
    return chance.one_of(1.0, 1_000.0) * query, key, value


attention = Check(
    reference=reference.scaled_dot_product_attention,
    cases=lambda: [*attention_cases(), _far_apart_case()],
    drawn=_random_head,
    results=("the output", "the weights"),
    working=_work_out_attention,
    verified="output and weights agree with equation 1, with and without a batch",
    mistakes=[
        Mistake(
            _edit_attention((" / np.sqrt(query.shape[-1])", "")),
            "the scores are not divided by √d_k, so the weights are too sharp.",
        ),
        Mistake(
            _edit_attention(("np.sqrt(query.shape[-1])", "2.0")),
            "you divide by 2, which is √d_k only for the queries on this page. Divide by the "
            "square root of d_k, the length of the last axis of `query`.",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "2.0")),
            "you divide by √2, but you should divide by √d_k. On this page, d_k (the length of the "
            "last axis) is 4, so √d_k is 2.",
        ),
        Mistake(
            _edit_attention(("np.sqrt(query.shape[-1])", "query.shape[-1]")),
            "you divided by d_k, not by √d_k. Take the square root.",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "key.shape[-2]")),
            "you divided by the square root of the number of keys, but d_k is the width of a key "
            "(the last dimension).",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "query.shape[-2]")),
            "you divided by the square root of the number of queries, but d_k is the width of a "
            "query (the last dimension).",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "query.shape[0]")),
            "you divided by √query.shape[0], but shape[0] is the number of queries, or of "
            "sentences if there is a batch. Use d_k, the last dimension, which is shape[-1].",
        ),
        Mistake(
            _edit_attention(("key.swapaxes(-2, -1)", "key.T")),
            "this is right only without a batch. With a batch, .T reverses the order of all axes, "
            "but only the last two should be swapped.",
        ),
        Mistake(
            _edit_attention(("key.swapaxes(-2, -1)", "key.T"), ("np.sqrt(query.shape[-1])", "2.0")),
            "this is right only for the numbers on this page, where √d_k is 2 and there is no "
            "batch. Divide by the square root of query.shape[-1], and swap only the last two axes, "
            "because .T would also move a batch axis.",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "query.shape[1]")),
            "you use shape[1], which is the width of a query only if there is no batch. Use the "
            "last axis, shape[-1].",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "key.shape[1]")),
            "you use shape[1], which is the width of a key only if there is no batch. Use the last "
            "axis, shape[-1].",
        ),
        Mistake(
            _edit_attention(("np.sqrt(query.shape[-1])", "query.shape[-1] ** 1 / 2")),
            "without brackets, `/ d_k ** 1/2` divides by d_k and then by 2, because ** comes "
            "first. Write ** 0.5, or np.sqrt.",
        ),
        Mistake(
            _edit_attention(("np.sqrt(query.shape[-1])", "(query.shape[-1] ** 1 / 2)")),
            "you divide by (d_k ** 1/2), which is d_k divided by 2, because ** comes before /. "
            "Write ** 0.5, or np.sqrt.",
        ),
        Mistake(
            _edit_attention(("query.shape[-1]", "value.shape[-1]")),
            "you divided by √d_v, where d_v is the width of a value. Divide by √d_k, because the "
            "scores compare queries with keys.",
        ),
        Mistake(
            _edit_attention(
                ("softmax(scores)", "softmax(scores.swapaxes(-2, -1)).swapaxes(-2, -1)")
            ),
            "the columns sum to 1, but the rows should. Apply the softmax over the keys, not over "
            "the queries.",
        ),
        Mistake(
            _edit_attention(
                (" / np.sqrt(query.shape[-1])", ""),
                ("softmax(scores)", "softmax(scores) / np.sqrt(query.shape[-1])"),
            ),
            "you divide by √d_k after the softmax, so the rows do not sum to 1. Divide before the "
            "softmax.",
        ),
        Mistake(
            _edit_attention(
                (
                    "reference.softmax(scores)",
                    "np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)",
                )
            ),
            "this works for small scores, but large ones give NaN, because their exponentials "
            "overflow. Use the softmax that you wrote earlier, which subtracts the largest score "
            "of the row.",
        ),
        Mistake(
            _edit_attention(("value, weights", "value, scores")),
            "the output is right, but the second result should be the weights, not the scores "
            "from before the softmax.",
        ),
        Mistake(
            _edit_attention(("weights @ value, weights", "weights, weights @ value")),
            "the output and the weights are swapped. Return (output, weights).",
        ),
    ],
)
