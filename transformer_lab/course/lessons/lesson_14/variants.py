"""Checks for the exercises of lesson 14: attention sizes (Table 3, rows A and B), and dropout."""

import copy
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

Function = Callable[[np.ndarray], np.ndarray]

# ---------------------------------------------------------------- rows A and B: heads and d_k


def _count_attention(d_model: int, num_heads: int, d_k: int | None = None) -> tuple[int, int]:
    d_k = d_k or d_model // num_heads
    queries, values = num_heads * d_k, d_model
    return d_k, (d_model + 1) * (2 * queries + values) + (values + 1) * d_model


_edit_count = partial(edit_reference, _count_attention)


def _random_sizes(chance: RandomValues) -> tuple:
    heads = chance.between(1, 16)
    sizes = heads * chance.between(1, 64), heads
    return chance.one_of(sizes, (*sizes, chance.between(1, 64)))


def _work_out_count(
    d_model: int, num_heads: int, d_k: int | None = None, *, at: tuple
) -> Iterator[Step]:
    width, total = _count_attention(d_model, num_heads, d_k)
    queries = (d_model + 1) * num_heads * width
    yield "d_k" if d_k else "d_k, which is not given, so d_model divided by num_heads", width
    yield "the number of columns of W_Q, num_heads times d_k", num_heads * width
    yield "the parameters of W_Q, d_model + 1 for each column (W_K has as many)", queries
    yield "those of W_V, which has d_model columns (W_O has as many)", (d_model + 1) * d_model
    yield "the parameters of all four", total


attention_size = Check(
    reference=_count_attention,
    cases=lambda: [(6, 3), (64, 4), (64, 32), (15, 5, 7), (64, 4, 2)],
    drawn=_random_sizes,
    results=("d_k", "the number of parameters"),
    working=_work_out_count,
    verified="d_k = d_model / h where it is not given, and W_Q, W_K, W_V, W_O with their biases",
    mistakes=[
        Mistake(
            _edit_count((" + 1", "")),
            "the biases are missing. Each of the four projections should have one for each column.",
        ),
        Mistake(
            _edit_count(
                ("d_model // num_heads", "d_model"), ("d_k, d_model", "d_k, num_heads * d_model")
            ),
            "you made every head as wide as the model, so h heads cost h times as much. The paper "
            "divides d_model among the heads.",
        ),
        Mistake(
            _edit_count(("d_k, d_model", "d_k, num_heads * d_k")),
            "you made the values d_k wide, too. But row B changes only d_k, so d_v should stay "
            "d_model / h.",
        ),
        Mistake(
            _edit_count((" + (values + 1) * d_model", "")),
            "one of the four projections is missing. Queries, keys, values and the output each "
            "need one.",
        ),
        Mistake(
            _edit_count(("num_heads * d_k, d_model", "d_k, d_model // num_heads")),
            "this counts only one head, but the projections hold all h heads side by side.",
        ),
    ],
)

# ---------------------------------------------------------------- where the dropout sits


def _normalise(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


class _Dropout:
    """Dropout with rate 0.4 and the same random numbers for every answer."""

    def __init__(self, seed: int):
        self.generator = np.random.default_rng(seed)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return x * (self.generator.random(x.shape) < 0.6) / 0.6


def _place_cases() -> list[tuple]:
    cases = []
    for length, d_model in ((2, 3), (5, 7), (3, 11)):
        weight = random_array(d_model, d_model, seed=length)

        def sublayer(x: np.ndarray, weight: np.ndarray = weight) -> np.ndarray:
            return np.tanh(x @ weight)

        embedded, positions = random_array(2, length, d_model, seed=length + 20)
        cases.append((embedded, positions, sublayer, _normalise, _Dropout(length)))
    return cases


def _run_sublayer(
    embedded: np.ndarray,
    positions: np.ndarray,
    sublayer: Function,
    layer_norm: Function,
    dropout: Function,
) -> np.ndarray:
    x = dropout(embedded + positions)
    return layer_norm(x + dropout(sublayer(x)))


_edit_sublayer = partial(edit_reference, _run_sublayer)


def _random_place(chance: RandomValues) -> tuple:
    length, d = chance.sizes(2)
    w, embedded, positions = chance.numbers(d, d), *chance.numbers(2, length, d)
    return (
        embedded,
        positions,
        lambda x: np.tanh(x @ w),
        _normalise,
        _Dropout(chance.between(9, 99)),
    )


def _work_out_sublayer(
    embedded: np.ndarray,
    positions: np.ndarray,
    sublayer: Function,
    layer_norm: Function,
    dropout: Function,
    at: tuple,
) -> Iterator[Step]:
    drop, row = copy.deepcopy(dropout), at[0]  # the case's own stays as it is
    x = drop(embedded + positions)
    added = drop(sublayer(x))
    yield f"row {row} of the embedding plus that of the positions", (embedded + positions)[row]
    yield "that row after dropout, which is x", x[row]
    yield "what the sub-layer returns for x", sublayer(x)[row]
    yield "that row after dropout", added[row]
    yield "plus x", (x + added)[row]
    yield "that row after the norm", layer_norm(x + added)[row]


first_sublayer = Check(
    reference=_run_sublayer,
    cases=_place_cases,
    drawn=_random_place,
    working=_work_out_sublayer,
    verified="dropout on the sum of embedding and positions, and on the sub-layer's output alone",
    mistakes=[
        Mistake(
            _edit_sublayer(("dropout(embedded + positions)", "embedded + positions")),
            "you applied no dropout to the sum of embedding and positions, but §5.4 asks for it.",
        ),
        Mistake(
            _edit_sublayer(("dropout(sublayer(x))", "sublayer(x)")),
            "you added the sub-layer's output without dropout, but dropout should be applied to "
            "it first.",
        ),
        Mistake(
            _edit_sublayer(("dropout(embedded + positions)", "dropout(embedded) + positions")),
            "you applied dropout before adding the positions, but §5.4 applies it to the sum of "
            "both.",
        ),
        Mistake(
            _edit_sublayer(
                ("dropout(embedded + positions)", "dropout(embedded) + dropout(positions)")
            ),
            "you applied dropout to embedding and positions separately, but §5.4 applies it once, "
            "to their sum.",
        ),
        Mistake(
            _edit_sublayer(
                ("layer_norm(x + dropout(sublayer(x)))", "layer_norm(dropout(x + sublayer(x)))")
            ),
            "you applied dropout after adding x, so it also sets parts of x to 0. Apply it only "
            "to the sub-layer's output.",
        ),
        Mistake(
            _edit_sublayer(
                ("layer_norm(x + dropout(sublayer(x)))", "layer_norm(x + sublayer(dropout(x)))")
            ),
            "you applied dropout to the sub-layer's input, but the paper applies it to the output.",
        ),
        Mistake(
            _edit_sublayer(
                ("layer_norm(x + dropout(sublayer(x)))", "dropout(layer_norm(x + sublayer(x)))")
            ),
            "you applied dropout after the norm, but the paper applies it before the addition.",
        ),
        Mistake(
            _edit_sublayer(
                (
                    "layer_norm(x + dropout(sublayer(x)))",
                    "layer_norm(embedded + positions + dropout(sublayer(x)))",
                )
            ),
            "your residual connection adds the sum as it was before the first dropout. It should "
            "add the sum after that dropout.",
        ),
        Mistake(
            _edit_sublayer(("sublayer(x)", "sublayer(dropout(embedded + positions))")),
            "your sub-layer and residual connection get two different versions of x. Call dropout "
            "on the sum once, and use the result for both.",
        ),
        Mistake(
            _edit_sublayer(
                ("layer_norm(x + dropout(sublayer(x)))", "x + dropout(sublayer(layer_norm(x)))")
            ),
            "this is pre-norm, but the paper normalises the sum, after the addition.",
        ),
    ],
)
