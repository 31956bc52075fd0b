"""Checks for the exercises of lesson 02: why scores are divided by √d_k."""

from collections.abc import Iterator

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row
from transformer_lab.numpy_reference import softmax

# ---------------------------------------------------------------- variance of a dot product


def _compute_variance(d_k: int, query_std: float, key_std: float) -> float:
    return d_k * query_std**2 * key_std**2


def _work_out_variance(d_k: int, query_std: float, key_std: float, at: tuple) -> Iterator[Step]:
    product = query_std**2 * key_std**2
    yield "query_std squared (the variance of one number in the query)", query_std**2
    yield "key_std squared (the variance of one number in the key)", key_std**2
    yield "the two multiplied (the variance of one product)", product
    yield f"that times {d_k}, because a score is the sum of {d_k} products", d_k * product


def _random_spreads(chance: RandomValues) -> tuple:
    return chance.between(1, 300), chance.real(0.1, 3.0), chance.real(0.1, 3.0)


score_variance = Check(
    reference=_compute_variance,
    cases=lambda: [
        (3, 2.0, 5.0),
        (1, 1.0, 1.0),
        (7, 1.0, 1.0),
        (64, 1.0, 1.0),
        (5, 0.5, 3.0),
        (64, 0.125, 2.0),
        (3, 0.0, 2.0),
    ],
    drawn=_random_spreads,
    results=("the variance",),
    working=_work_out_variance,
    verified="d_k times the two variances, even when they are not 1",
    mistakes=[
        Mistake(
            lambda d, q, k: d,
            "this is right only for numbers with variance 1. The result should depend not only on "
            "d_k, but also on both standard deviations.",
        ),
        Mistake(
            lambda d, q, k: np.sqrt(d) * q * k,
            "this is the standard deviation, but you should return the variance, which is its "
            "square.",
        ),
        Mistake(
            lambda d, q, k: d * q * k,
            "you do not square the standard deviations. Square both, because the variance of one "
            "product is query_std² · key_std².",
        ),
        Mistake(
            lambda d, q, k: d * (q**2 + k**2),
            "you add the variances, which would be right for a sum, but here two numbers are "
            "multiplied. With mean 0, the variance of their product is the product of the "
            "variances.",
        ),
        Mistake(
            lambda d, q, k: d**2 * q**2 * k**2,
            "you multiply by d_k², but you should multiply by d_k, because a score is the sum of "
            "d_k independent products.",
        ),
        Mistake(
            lambda d, q, k: q**2 * k**2,
            "this is the variance of one product, but a score is the sum of d_k products.",
        ),
    ],
)

# ---------------------------------------------------------------- the Jacobian


def _weights_cases() -> list[tuple]:
    tenths = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    shapes = [(5,), (2, 3, 7)]
    sharp = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [1 - 2e-6, 1e-6, 1e-6, 0]])
    drawn = [softmax(random_array(*shape, seed=n + 1)) for n, shape in enumerate(shapes)]
    return [(weights,) for weights in (tenths, *drawn, sharp)]


def _make_diagonal(weights: np.ndarray) -> np.ndarray:
    return weights[..., None] * np.eye(weights.shape[-1])


def _compute_outer(weights: np.ndarray) -> np.ndarray:
    return weights[..., :, None] * weights[..., None, :]


def _compute_jacobian(weights: np.ndarray) -> np.ndarray:
    return _make_diagonal(weights) - _compute_outer(weights)


def _compute_for_one_row(weights: np.ndarray) -> np.ndarray:
    return np.diag(weights.ravel()) - np.outer(weights, weights)


def _work_out_jacobian(weights: np.ndarray, at: tuple) -> Iterator[Step]:
    row, j = weights[at[:-2]], at[-2]
    yield name_row("weights", at[:-1]), row
    yield f"weight {j} times each weight", row[j] * row
    what = f"with the signs changed, and weight {j} added at position {j}"
    yield f"{what} (row {j} of the Jacobian)", _compute_jacobian(row)[j]


def _random_weights(chance: RandomValues) -> tuple:
    return (chance.weights(*chance.batch(), *chance.sizes(2)),)


softmax_jacobian = Check(
    reference=_compute_jacobian,
    cases=_weights_cases,
    drawn=_random_weights,
    results=("the Jacobian",),
    working=_work_out_jacobian,
    verified="w_j (δ_jk − w_k) for each row of weights, with batch dimensions in front",
    mistakes=[
        Mistake(
            _make_diagonal,
            "the term −w_j w_k is missing. If you raise one score, the other weights change, too.",
        ),
        Mistake(
            lambda w: _compute_outer(w) - _make_diagonal(w), "everything is right except the sign."
        ),
        Mistake(
            lambda w: -_compute_outer(w),
            "the term w_j δ_jk is missing. It adds w_j to the diagonal.",
        ),
        Mistake(
            _compute_for_one_row,
            "this is right for a single row, but np.outer and np.diag mix several rows. Replace "
            "np.outer with w[..., :, None] * w[..., None, :], and np.diag with w[..., None] * "
            "np.eye(n), where n is the length of a row.",
        ),
        Mistake(
            lambda w: (w * (1 - w))[..., None] * np.eye(w.shape[-1]),
            "this is only the diagonal. The off-diagonal entries should be −w_j w_k.",
        ),
        Mistake(
            lambda w: np.eye(w.shape[-1]) - _compute_outer(w),
            "your diagonal is 1 − w_j², but it should be w_j − w_j², because δ_jk is multiplied by "
            "w_j.",
        ),
        Mistake(
            lambda w: w * (1 - w),
            (
                "you return a vector for each row, but the Jacobian of each row is a square "
                "matrix, so the shape should be (..., key, key)."
            ),
        ),
    ],
)

# ---------------------------------------------------------------- its norm


def _compute_norm(weights: np.ndarray) -> np.ndarray:
    return np.sqrt((_compute_jacobian(weights) ** 2).sum(axis=(-2, -1)))


def _work_out_norm(weights: np.ndarray, at: tuple) -> Iterator[Step]:
    squares = (_compute_jacobian(weights[at]) ** 2).sum(axis=-1)
    yield name_row("weights", (*at, 0)), weights[at]
    yield "the squares in each row of its Jacobian, added up", squares
    yield "these sums added up", squares.sum()
    yield "the square root of that", np.sqrt(squares.sum())


jacobian_norm = Check(
    reference=_compute_norm,
    cases=_weights_cases,
    drawn=_random_weights,
    results=("the norm",),
    working=_work_out_norm,
    verified="the square root of the sum of the squares, one number for each row",
    mistakes=[
        Mistake(
            lambda w: (_compute_jacobian(w) ** 2).sum(axis=(-2, -1)),
            "this is the square of the norm. Take the square root.",
        ),
        Mistake(
            lambda w: np.sqrt((_compute_jacobian(w) ** 2).sum()),
            "this is one norm for the whole array, but each row of weights should get its own "
            "norm.",
        ),
        Mistake(
            lambda w: (w * (1 - w)).sum(axis=-1),
            "this is the trace of the Jacobian. For the norm, add up the squares of all entries, "
            "and take the square root.",
        ),
        Mistake(
            lambda w: np.sqrt(((w * (1 - w)) ** 2).sum(axis=-1)),
            "you use only the diagonal, but the norm should include the other entries, too.",
        ),
        Mistake(
            lambda w: abs(_compute_jacobian(w)).sum(axis=(-2, -1)),
            "this is the sum of absolute values. For the norm, square the entries, add them up, "
            "and take the square root.",
        ),
        Mistake(
            lambda w: np.sqrt((_compute_jacobian(w) ** 2).sum(axis=-1)),
            "you summed over only one axis, so you get a norm for each row or column of the "
            "Jacobian. Sum over both axes.",
        ),
        Mistake(
            lambda w: np.sqrt((_compute_jacobian(w) ** 2).mean(axis=(-2, -1))),
            "you take the mean of the squares, but the norm uses their sum.",
        ),
    ],
)
