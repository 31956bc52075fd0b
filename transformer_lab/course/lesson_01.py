"""Lesson 01, attention in NumPy: the checks of its exercises, and its quiz."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.quiz import Question, Quiz

SHAPES = [((), 2, 3, 5, 7), ((3,), 5, 2, 7, 11), ((5, 3), 7, 2, 11, 4)]
"""(batch, queries, keys, d_k, d_v): never square, and with no, one and two batch dimensions."""


def draw(*shape: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """Random numbers, the same at each call."""
    return scale * np.random.default_rng(seed).standard_normal(shape)


# ---------------------------------------------------------------- softmax


def _softmax_cases() -> list[tuple]:
    hidden = draw(3, 5, seed=1)
    hidden[0, 1:3] = -np.inf
    far_apart = draw(3, 2, 4, seed=2)
    far_apart[1] += 1000
    far = 1000.0  # exp(1000) is inf, and exp(-1000) is 0
    wide = np.array([[far, far - 1, 0, 0, 0], [0, far - 1, far, 0, 0], [0, 0, 0, 0, far]])
    low = np.array([[-far, 1 - far, -1 - far], [-np.inf, 0.5, 2.0]])
    return [(draw(2, 3),), (draw(5),), (hidden,), (far_apart,), (wide,), (low,)]


def _exp(scores: np.ndarray, axis: int | None, shift: np.ndarray | float) -> np.ndarray:
    weights = np.exp(scores - shift)
    return weights / weights.sum(axis=axis, keepdims=True)


def _drops_the_axis(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(axis=-1))
    return exponentials / exponentials.sum(axis=-1)


def _subtracts_in_place(scores: np.ndarray) -> np.ndarray:
    scores -= scores.max(axis=-1, keepdims=True)
    return _exp(scores, -1, 0.0)


softmax = Check(
    reference=reference.softmax,
    cases=_softmax_cases,
    results=("the weights",),
    verified="each row sums to 1, hidden scores get 0, scores in the hundreds do not overflow",
    mistakes=[
        Mistake(
            lambda s: _exp(s, 0, s.max(axis=0, keepdims=True)),
            "rows do not sum to 1: did the softmax run over the wrong axis? Keys are the last one.",
        ),
        Mistake(
            lambda s: _exp(s, None, s.max()),
            "the weights of all rows together sum to 1; each row should. Sum over one axis.",
        ),
        Mistake(
            lambda s: _exp(s, None, s.max(axis=-1, keepdims=True)),
            "each row's own maximum is right; the sum must be each row's own, too: along one axis.",
        ),
        Mistake(
            lambda s: _exp(s, -1, s.min(axis=-1, keepdims=True)),
            "you subtract the smallest score of the row. That may be -inf, and it leaves the large "
            "ones large.",
        ),
        Mistake(
            lambda s: _exp(s, -1, s.mean(axis=-1, keepdims=True)),
            "you subtract the mean of the row. One hidden score makes it -inf; only the largest "
            "score is sure to be enough.",
        ),
        Mistake(
            lambda s: _exp(s, -1, abs(s).max(axis=-1, keepdims=True)),
            "you subtract the largest size, not the largest score: where all scores are far below 0, "
            "all exponentials are 0.",
        ),
        Mistake(
            lambda s: _exp(s, -1, s[..., :1]),
            "you subtract the first score of the row, which need not be the largest.",
        ),
        Mistake(
            lambda s: _exp(s, -1, 0.0),
            "right for small scores, NaN for large ones: exp(800) overflows. Subtract the largest "
            "score of the row first.",
        ),
        Mistake(
            lambda s: _exp(s, -1, s.max()),
            "rows far below the largest score of the whole array come out as 0/0: subtract each "
            "row's own maximum, not the array's.",
        ),
        Mistake(
            lambda s: np.exp(s - s.max(axis=-1, keepdims=True)),
            "the rows are not divided by their sum.",
        ),
        Mistake(
            _drops_the_axis,
            "right for one row of scores alone. A sum over an axis takes the axis away, and rows no "
            "longer fit their sums: keepdims=True keeps it, with length 1.",
        ),
        Mistake(
            lambda s: _exp(s, 1, s.max(axis=1, keepdims=True)),
            "axis=1 is the last axis of a matrix, and of nothing else. The keys are the last axis, "
            "however many stand in front: axis=-1.",
        ),
        Mistake(
            _subtracts_in_place,
            "it changes the scores in place (-=). Whoever called it still needs what was there.",
        ),
        Mistake(
            lambda s: _exp(-s, -1, (-s).max(axis=-1, keepdims=True)),
            "the largest score gets the smallest weight: look at the sign inside exp.",
        ),
    ],
)


# ---------------------------------------------------------------- one head


def _attention_cases() -> list[tuple]:
    return [
        (draw(*b, q, d_k), draw(*b, k, d_k, seed=1), draw(*b, k, d_v, seed=2))
        for b, q, k, d_k, d_v in SHAPES
    ]


def _attend(query: np.ndarray, key: np.ndarray, value: np.ndarray, scale: float | int) -> tuple:
    weights = reference.softmax(query @ key.swapaxes(-2, -1) / scale)
    return weights @ value, weights


def _softmax_over_queries(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple:
    scores = key @ query.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    weights = reference.softmax(scores).swapaxes(-2, -1)
    return weights @ value, weights


def _scales_after_softmax(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple:
    weights = reference.softmax(query @ key.swapaxes(-2, -1)) / np.sqrt(query.shape[-1])
    return weights @ value, weights


def _returns_scores(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple:
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    return reference.softmax(scores) @ value, scores


attention = Check(
    reference=reference.scaled_dot_product_attention,
    cases=_attention_cases,
    results=("the output", "the weights"),
    verified="output and weights are those of equation 1, for several shapes and batches",
    mistakes=[
        Mistake(
            lambda q, k, v: _attend(q, k, v, 1.0),
            "the scores are not divided by √d_k. (Weights are too sharp.)",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, 2.0),
            "you divide by 2, which is √d_k on this page only; d_k is the last dimension.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(2.0)),
            "you divide by √2. On this page √d_k is 2, as d_k is 4; d_k is the last dimension.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, q.shape[-1]),
            "you scaled by d_k, not √d_k.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(k.shape[-2])),
            "you scaled by the square root of the number of keys. d_k is the width of a key, the "
            "last dimension.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(q.shape[-2])),
            "you scaled by the square root of the number of queries. d_k is the width of a query, the "
            "last dimension.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(q.shape[0])),
            "you scaled by √query.shape[0], a number of queries or of sentences. d_k is the last "
            "dimension: shape[-1].",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k.T.swapaxes(-2, -1), v, np.sqrt(q.shape[-1])),
            "right without a batch. With one, .T turns all axes; only the last two may change "
            "places.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(v.shape[-1])),
            "you scaled by √d_v, the width of a value. What is compared are queries and keys.",
        ),
        Mistake(
            _softmax_over_queries,
            "columns sum to 1 instead of rows: the softmax must run over the keys.",
        ),
        Mistake(
            _scales_after_softmax,
            "rows do not sum to 1: divide by √d_k before the softmax, not after.",
        ),
        Mistake(
            _returns_scores,
            "the output is right; what you return as weights are the scores before the softmax.",
        ),
        Mistake(
            lambda q, k, v: _attend(q, k, v, np.sqrt(q.shape[-1]))[::-1],
            "output and weights are swapped: return (output, weights).",
        ),
    ],
)


# ---------------------------------------------------------------- backward of softmax


def _softmax_backward_cases() -> list[tuple]:
    shapes = [(2, 3), (5,), (2, 3, 7), (1, 5)]
    return [(draw(*s), reference.softmax(draw(*s, seed=1))) for s in shapes]


def _row_sum(x: np.ndarray) -> np.ndarray:
    return x.sum(axis=-1, keepdims=True)


def _one_jacobian_for_all(grad_output: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return (np.diag(weights) - np.outer(weights, weights)) @ grad_output


softmax_backward = Check(
    reference=reference.softmax_backward,
    cases=_softmax_backward_cases,
    results=("the gradient",),
    verified="equal to the Jacobian's product, and each row of the gradient sums to 0",
    mistakes=[
        Mistake(
            lambda g, w: g * w * (1 - w),
            "this is the diagonal of the Jacobian alone. A score also moves the other weights of "
            "its row: −w_j w_k is missing.",
        ),
        Mistake(
            lambda g, w: w * (g - g.mean(axis=-1, keepdims=True)),
            "a plain mean of dw is taken away; it must be weighted: Σ_j dw_j w_j.",
        ),
        Mistake(lambda g, w: g * w, "the term −w_k Σ_j dw_j w_j is missing."),
        Mistake(
            lambda g, w: w * (g - _row_sum(g)),
            "the sum inside must weigh each dw_j by w_j: Σ_j dw_j w_j.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=0, keepdims=True)),
            "the sum runs over the wrong axis: Σ_j goes along a row, with keepdims.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum()),
            "the sum runs over the whole array; each row has a sum of its own.",
        ),
        Mistake(
            lambda g, w: w * g - _row_sum(g * w),
            "the factor w_k belongs to both terms: brackets.",
        ),
        Mistake(
            lambda g, w: w * (g + _row_sum(g * w)),
            "the weighted average is taken away from dw_k, not added to it.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=1, keepdims=True)),
            "axis=1 is the last axis of a matrix, and of nothing else: axis=-1.",
        ),
        Mistake(
            lambda g, w: w * (_row_sum(g * w) - g),
            "right but for the sign: (δ_jk − w_k), not (w_k − δ_jk).",
        ),
        Mistake(
            _one_jacobian_for_all,
            "right for one row alone. Each row has a Jacobian of its own; the last form of the "
            "formula needs none.",
        ),
        Mistake(
            lambda g, w: w * (g - g @ w),
            "right for one row alone. Between matrices @ multiplies every row of the one by columns "
            "of the other; here each row has a sum of its own products.",
        ),
        Mistake(
            lambda g, w: w * (g - (g * w).sum(axis=-1)),
            "right for one row alone. The sum must keep its axis, with length 1, to fit its row: "
            "keepdims=True.",
        ),
        Mistake(
            lambda g, w: g - _row_sum(g * w),
            "the factor w_k in front is missing.",
        ),
    ],
)


# ---------------------------------------------------------------- backward of the head


def _backward_cases() -> list[tuple]:
    cases = []
    for query, key, value in _attention_cases():
        output, weights = reference.scaled_dot_product_attention(query, key, value)
        cases.append((draw(*output.shape, seed=3), query, key, value, weights))
    return cases


def _transposed(x: np.ndarray) -> np.ndarray:
    return x.swapaxes(-2, -1)


def _backward(
    grad_output: np.ndarray,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    weights: np.ndarray,
    *,
    scale: float | int | None = None,
    scale_key: float | int | None = None,
    through_softmax: Callable[..., np.ndarray] = reference.softmax_backward,
    transpose: Callable[[np.ndarray], np.ndarray] = _transposed,
) -> tuple:
    """The right gradients, or those of an answer that does one thing otherwise."""
    root = np.sqrt(query.shape[-1])
    grad_scores = through_softmax(grad_output @ _transposed(value), weights)
    grad_query = grad_scores @ key / (scale or root)
    grad_key = transpose(grad_scores) @ query / (scale_key or scale or root)
    return grad_query, grad_key, _transposed(weights) @ grad_output


def _softmax_twice(grad_output: np.ndarray, *rest: np.ndarray) -> tuple:
    grad_query, grad_key, _ = _backward(grad_output, *rest)
    return grad_query, grad_key, _transposed(reference.softmax(rest[-1])) @ grad_output


attention_backward = Check(
    reference=reference.scaled_dot_product_attention_backward,
    cases=_backward_cases,
    results=("dQ", "dK", "dV"),
    verified="dQ, dK and dV equal the reference's, which equals finite differences",
    mistakes=[
        Mistake(
            lambda g, q, k, v, w: _backward(g, q, k, v, w, scale=1.0),
            "dV is right; dQ and dK lack the 1/√d_k that the scores were divided by.",
        ),
        Mistake(
            lambda g, q, k, v, w: _backward(g, q, k, v, w, scale_key=1.0),
            "dQ and dV are right; dK lacks its 1/√d_k.",
        ),
        Mistake(
            lambda *a: _backward(*a, through_softmax=lambda grad, w: grad),
            "dV is right; dQ and dK skip the softmax: the gradient of the weights is not that of "
            "the scores.",
        ),
        Mistake(
            lambda g, q, k, v, w: _backward(g, q, k, v, w, scale=q.shape[-1]),
            "dQ and dK are divided by d_k; the scores were divided by √d_k.",
        ),
        Mistake(
            lambda g, q, k, v, w: _backward(g, q, k, v, w, scale=1 / np.sqrt(q.shape[-1])),
            "dQ and dK are multiplied by √d_k. The scores were divided by it, and so are their "
            "gradients.",
        ),
        Mistake(
            lambda g, q, k, v, w: _backward(g, q, k, v, w, scale=2.0),
            "dQ and dK are divided by 2, which is √d_k on this page only; d_k is the last dimension.",
        ),
        Mistake(
            lambda *a: _backward(*a, transpose=np.transpose),
            "right without a batch. With one, .T turns all axes; only the last two may change places: "
            "swapaxes(-2, -1).",
        ),
        Mistake(
            lambda *a: _backward(
                *a, through_softmax=lambda grad, w: reference.softmax_backward(w, grad)
            ),
            "the arguments of softmax_backward are swapped: the gradient comes first, then the "
            "weights.",
        ),
        Mistake(
            lambda *a: tuple(_backward(*a)[n] for n in (2, 0, 1)),
            "dV comes last: return (dQ, dK, dV).",
        ),
        Mistake(
            _softmax_twice,
            "dQ and dK are right; for dV use the weights as they are: they have had their softmax.",
        ),
        Mistake(
            lambda *a: tuple(_backward(*a)[n] for n in (1, 0, 2)),
            "dQ and dK are swapped: return (dQ, dK, dV).",
        ),
    ],
)

check = SimpleNamespace(
    softmax=softmax,
    attention=attention,
    softmax_backward=softmax_backward,
    attention_backward=attention_backward,
)

quiz = Quiz(
    [
        Question(
            "Q has 3 rows of 4 numbers, K has 5 rows of 4, V has 5 rows of 2. What is the shape of "
            "the output?",
            (
                ("(3, 4)", "The output mixes rows of V, and these have 2 numbers."),
                ("(5, 2)", "Each query gets one output; there are 3 queries."),
                ("(3, 2)", "One row for each query, as wide as a value."),
                (
                    "none: the shapes do not fit",
                    "d_v may differ from d_k; only Q and K must agree.",
                ),
            ),
            right=2,
        ),
        Question(
            "Which of the three may have another number of rows than the other two?",
            (
                ("Q", "Each query asks on its own, so there may be any number of them."),
                ("K", "Each key needs its value: K and V have the same number of rows."),
                ("V", "Weights are given to keys; there must be one value for each of them."),
            ),
            right=0,
        ),
        Question(
            "In a matrix of attention weights with queries as rows, what sums to 1?",
            (
                ("each row", "Each query divides one whole among the keys."),
                ("each column", "A key may be looked at by all queries, or by none."),
                ("both", "Only when a softmax over keys happens to do so; nothing asks for it."),
                ("the whole matrix", "Then a sentence with more queries would look at each less."),
            ),
            right=0,
        ),
        Question(
            "Self-attention over 1,000 words instead of 100: how many weights are there, and what "
            "follows?",
            (
                (
                    "10 times as many; a text of any length will do",
                    "Each of ten times as many queries also meets ten times as many keys.",
                ),
                (
                    "100 times as many; the cost grows with the square",
                    "n queries meet n keys: n² weights, and time and memory grow like them. This "
                    "is the O(n²) that lesson 15 measures.",
                ),
                (
                    "as many as before: weights are learnt",
                    "These are computed, not learnt: there is one for each query and key.",
                ),
            ),
            right=1,
        ),
        Question(
            "All scores of a row grow by 100. What happens to its weights?",
            (
                ("the row becomes one-hot", "That is what multiplying the scores by 100 does."),
                ("they overflow", "Not when the maximum is subtracted first, as it should be."),
                ("nothing", "exp(s + 100) = e¹⁰⁰ exp(s), and the factor cancels."),
            ),
            right=2,
        ),
        Question(
            "Two keys are identical, their values are not. What does a query get?",
            (
                (
                    "the value of the first: the search ends there",
                    "Nothing is searched: all keys are scored, and nothing in the formula knows "
                    "which comes first.",
                ),
                (
                    "both, with equal weight",
                    "Equal keys have equal scores. Only keys are compared; values are carried.",
                ),
                ("the larger value: it weighs more", "Values play no part in the scores."),
            ),
            right=1,
        ),
    ]
)
