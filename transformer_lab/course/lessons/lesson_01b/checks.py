"""Checks for the exercises of lesson 01b: the backward pass of the softmax and of a head."""

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

# ---------------------------------------------------------------- backward of softmax


def _softmax_backward_cases() -> list[tuple]:
    grad_output = np.array([[2.0, -1.0, 4.0], [3.0, 5.0, -2.0]])
    weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    shapes = [(5,), (2, 3, 7), (1, 5)]
    sharp = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [1 - 2e-6, 1e-6, 1e-6]])  # zeros, a tiny weight
    drawn = [(random_array(*s), reference.softmax(random_array(*s, seed=1))) for s in shapes]
    return [(grad_output, weights), *drawn, (random_array(3, 3, seed=4), sharp)]


def _sum_rows(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=-1, keepdims=True)


def _use_one_jacobian(grad_output: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (np.diag(weights) - np.outer(weights, weights)) @ grad_output


def _work_out_softmax_backward(
    grad_output: np.ndarray, weights: np.ndarray, at: tuple
) -> Iterator[Step]:
    gradient, row = grad_output[at[:-1]], weights[at[:-1]]
    mean = (gradient * row).sum()
    yield f"{name_row('grad_output', at)}, each number times its weight", gradient * row
    yield "their sum", mean
    yield "that sum subtracted from each number in the row", gradient - mean
    yield "each of these differences times its weight", row * (gradient - mean)


def _random_weights(chance: RandomValues) -> tuple:
    shape = [*chance.batch(), *chance.sizes(2)]
    return chance.numbers(*shape), chance.weights(*shape)


softmax_backward = Check(
    reference=reference.softmax_backward,
    cases=_softmax_backward_cases,
    drawn=_random_weights,
    results=("the gradient",),
    working=_work_out_softmax_backward,
    verified="your gradient equals dw times the Jacobian, and each of its rows sums to 0",
    mistakes=[
        Mistake(
            lambda g, w: g * w * (1 - w),
            "you use only the diagonal of the Jacobian, but the other entries (−w_j w_k) count as "
            "well, because each score changes every weight in its row.",
        ),
        Mistake(
            lambda g, w: w * (g - g.mean(axis=-1, keepdims=True)),
            "you subtract the plain mean of dw, but you should subtract the weighted mean, Σ_j "
            "dw_j w_j.",
        ),
        Mistake(lambda g, w: g * w, "the term −w_k Σ_j dw_j w_j is missing."),
        Mistake(
            lambda g, w: w * (g - _sum_rows(g)),
            "you subtract the plain sum of dw, but you should weight each dw_j by w_j first, and "
            "subtract Σ_j dw_j w_j.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=0, keepdims=True)),
            "you sum over the wrong axis. Sum along each row, and keep that axis with "
            "keepdims=True.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum()),
            "you sum over the whole array, but each row should have its own sum.",
        ),
        Mistake(
            lambda g, w: w * g - _sum_rows(g * w),
            "you multiply only dw_k by w_k, but you should multiply the whole difference, dw_k − "
            "Σ_j dw_j w_j, by w_k. Add brackets.",
        ),
        Mistake(
            lambda g, w: w * (g + _sum_rows(g * w)),
            "you add the weighted average to dw_k, but it should be subtracted.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=1, keepdims=True)),
            "you sum over axis=1, which is the last axis only in a 2-D array. Write axis=-1.",
        ),
        Mistake(
            lambda g, w: w * (_sum_rows(g * w) - g),
            "this is right except for the sign. Subtract the sum from dw_k, not dw_k from the sum.",
        ),
        Mistake(
            _use_one_jacobian,
            "this is right only for a single row, because each row has its own Jacobian. Use the "
            "short form, w_k (dw_k − Σ_j dw_j w_j), which needs no Jacobian.",
        ),
        Mistake(
            lambda g, w: w * (g - g @ w),
            "this is right only for a single row. With several, @ multiplies every row of dw by "
            "every column of the weights, but you need one sum of products for each row.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=-1)),
            "this is right only for a single row. With several, write keepdims=True to keep the "
            "summed axis, with length 1, so that each sum lines up with its row.",
        ),
        Mistake(
            lambda g, w: g - _sum_rows(g * w),
            "the factor w_k in front is missing.",
        ),
    ],
)


# ---------------------------------------------------------------- backward of the head


def _backward_cases() -> list[tuple]:
    cases: list[tuple] = []
    whole = np.array([[2.0, 0, -1, 3, 1, -2, 4], [-3, 1, 5, 0, 2, 6, -1]])
    for query, key, value in attention_cases():
        output, weights = reference.scaled_dot_product_attention(query, key, value)
        grad_output = random_array(*output.shape, seed=3) if cases else whole
        cases.append((grad_output, query, key, value, weights))
    return cases


def _transpose(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(-2, -1)


def _run_backward(
    grad_output: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    root = np.sqrt(query.shape[-1])
    grad_scores = reference.softmax_backward(grad_output @ _transpose(value), weights)
    grad_query = grad_scores @ key / root
    grad_key = _transpose(grad_scores) @ query / root
    grad_value = _transpose(weights) @ grad_output
    return grad_query, grad_key, grad_value


_edit_backward = partial(edit_reference, _run_backward)


def _work_out_backward(
    grad_output: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    weights: np.ndarray,
    at: tuple,
) -> Iterator[Step]:
    d_o, q, k, v, a = (x[at[:-2]] for x in (grad_output, query, key, value, weights))
    d_s, row, d_k = reference.softmax_backward(d_o @ v.T, a), at[-2], q.shape[-1]
    mixed = f"times its entry of dS, added up and divided by √{d_k}"
    if row < len(q):
        yield f"softmax_backward of row {row} of dA ({name_row('dS', at)})", d_s[row]
        yield f"each key {mixed} ({name_row('dQ', at)})", d_s[row] @ k / d_k**0.5
    if row < len(k):
        yield f"column {row} of dS", d_s[:, row]
        yield f"each query {mixed} ({name_row('dK', at)})", d_s[:, row] @ q / d_k**0.5
        what = f"each row of grad_output times its weight for key {row}, added up"
        yield f"{what} ({name_row('dV', at)})", a[:, row] @ d_o


def _random_backward(chance: RandomValues) -> tuple:
    query, key, value = random_attention_case(chance)
    output, weights = reference.scaled_dot_product_attention(query, key, value)
    return chance.numbers(*output.shape), query, key, value, weights


attention_backward = Check(
    reference=reference.scaled_dot_product_attention_backward,
    cases=_backward_cases,
    drawn=_random_backward,
    results=("dQ", "dK", "dV"),
    working=_work_out_backward,
    verified="dQ, dK and dV equal the reference's, which agree with finite differences",
    mistakes=[
        Mistake(
            _edit_backward((" / root", "")),
            "dV is right, but dQ and dK lack the factor 1/√d_k, by which the scores were "
            "multiplied.",
        ),
        Mistake(
            _edit_backward(("query / root", "query")),
            ("dQ and dV are right, but dK lacks its factor 1/√d_k."),
        ),
        Mistake(
            _edit_backward(
                (
                    "reference.softmax_backward(grad_output @ _transpose(value), weights)",
                    "grad_output @ _transpose(value)",
                )
            ),
            "dV is right, but dQ and dK skip the softmax. First turn the gradient of the weights "
            "into the gradient of the scores.",
        ),
        Mistake(
            _edit_backward(("/ root", "/ query.shape[-1]")),
            "you divide dQ and dK by d_k, but you should divide them by √d_k, as the scores were.",
        ),
        Mistake(
            _edit_backward(("/ root", "* root")),
            "you multiply dQ and dK by √d_k, but you should divide them by √d_k, as the scores "
            "were.",
        ),
        Mistake(
            _edit_backward(("/ root", "/ 2.0")),
            "you divide dQ and dK by 2, which is √d_k only if d_k is 4. Divide by the square root "
            "of d_k, the length of the last axis of `query`.",
        ),
        Mistake(
            _edit_backward(("_transpose(grad_scores)", "grad_scores.T")),
            "this is right only without a batch. With a batch, .T reverses the order of all axes, "
            "but only the last two should be swapped. Write swapaxes(-2, -1).",
        ),
        Mistake(
            _edit_backward(
                (
                    "grad_output @ _transpose(value), weights",
                    "weights, grad_output @ _transpose(value)",
                )
            ),
            "you swapped the arguments of softmax_backward. The gradient comes first, then the "
            "weights.",
        ),
        Mistake(
            _edit_backward(
                ("grad_query, grad_key, grad_value", "grad_value, grad_query, grad_key")
            ),
            "you return dV first, but it should come last. Return (dQ, dK, dV).",
        ),
        Mistake(
            _edit_backward(("_transpose(weights)", "_transpose(reference.softmax(weights))")),
            "dQ and dK are right, but for dV you apply the softmax to the weights, which have "
            "already been through it. Use the weights unchanged.",
        ),
        Mistake(
            _edit_backward(
                ("grad_query, grad_key, grad_value", "grad_key, grad_query, grad_value")
            ),
            "dQ and dK are swapped. Return (dQ, dK, dV).",
        ),
    ],
)
