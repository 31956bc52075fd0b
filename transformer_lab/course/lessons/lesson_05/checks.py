"""Checks for the exercises of lesson 05: the encoder."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import build_module, random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward

# ---------------------------------------------------------------- feed-forward


def _feed_forward_cases() -> list[tuple]:
    whole = (
        np.array([[2.0, -1, 3], [1, 4, -2]]),
        np.array([[1.0, -2, 0, 3, 1], [2, 1, -1, 0, -3], [-1, 1, 2, -2, 1]]),
        np.array([1.0, -1, 2, 0, 3]),
        np.array([[2.0, 0, -1], [1, 3, -2], [-1, 1, 4], [0, -3, 1], [3, 2, 0]]),
        np.array([1.0, -2, 5]),
    )
    sizes = [((2, 3), 4, 7), ((3, 5), 6, 11), ((), 7, 2)]
    drawn = [
        (
            random_array(*shape, d, seed=n),
            random_array(d, f, seed=n + 10),
            random_array(f, seed=n + 20),
            random_array(f, d, seed=n + 30),
            random_array(d, seed=n + 40),
        )
        for n, (shape, d, f) in enumerate(sizes, start=1)
    ]
    return [whole, *drawn]


def _work_out_feed_forward(
    x: np.ndarray,
    w_1: np.ndarray,
    b_1: np.ndarray,
    w_2: np.ndarray,
    b_2: np.ndarray,
    at: tuple,
) -> Iterator[Step]:
    inner = x[at[:-1]] @ w_1 + b_1
    yield f"{name_row('x', at)} times w_1, plus b_1", inner
    yield "negative numbers replaced by 0", np.maximum(0, inner)
    yield "that times w_2, plus b_2", np.maximum(0, inner) @ w_2 + b_2


def _random_network(chance: RandomValues) -> tuple:
    (d, f), batch = chance.sizes(2), chance.batch()
    shapes = ((*batch, d), (d, f), (f,), (f, d), (d,))
    return tuple(chance.numbers(*shape) for shape in shapes)


feed_forward = Check(
    reference=reference.feed_forward,
    cases=_feed_forward_cases,
    drawn=_random_network,
    working=_work_out_feed_forward,
    verified="max(0, x W1 + b1) W2 + b2 at every position, for several sizes",
    mistakes=[
        Mistake(
            lambda x, w1, b1, w2, b2: (x @ w1 + b1) @ w2 + b2,
            "max(0, ·) is missing. Without it, the two linear maps collapse into one, so a single "
            "matrix would do.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: np.maximum(0, (x @ w1 + b1) @ w2 + b2),
            "you apply max(0, ·) at the end, but it belongs between the two maps.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: np.maximum(0, x @ w1) @ w2 + b2,
            "b1 is missing.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: np.maximum(0, x @ w1 + b1) @ w2,
            "b2 is missing.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: (np.maximum(0, x) @ w1 + b1) @ w2 + b2,
            "max(0, ·) is applied to the input, but it should be applied to the hidden layer.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: abs(x @ w1 + b1) @ w2 + b2,
            "you take the absolute value, but you should replace negative numbers by 0, as max(0, "
            "·) does.",
        ),
        Mistake(
            lambda x, w1, b1, w2, b2: x + reference.feed_forward(x, w1, b1, w2, b2),
            "you add the input to the result, but that is the job of the residual connection, "
            "which comes later.",
        ),
    ],
)


# ---------------------------------------------------------------- layer norm


def _norm_cases() -> list[tuple]:
    few = np.array([[0.003, 0.001, 0.008], [2.0, 5.0, -4.0]])  # row 0 is so small that ε matters
    cases = [(few, np.array([2.0, -1.0, 3.0]), np.array([1.0, 4.0, -2.0]))]
    for n, shape in enumerate([(2, 3, 5), (3, 2, 7)], start=1):
        x = random_array(*shape, seed=n) + 0.5
        x[0] *= 1e-3  # so small that ε counts
        cases.append(
            (x, random_array(shape[-1], seed=n + 10), random_array(shape[-1], seed=n + 20))
        )
    flat = np.array([[2.0, 2.0, 2.0, 2.0, 2.0], [0.0, 0, 0, 0, 0], [-1e-3, 0, 2e-3, 1e-3, 0]])
    cases.append((flat, random_array(5, seed=31), random_array(5, seed=32)))
    return [
        *cases,
        (np.array([1.0, 3.0, -4.0]), np.ones(3), np.zeros(3)),
        (300 * random_array(5, 2, 11), random_array(11), random_array(11)),
    ]


def _normalise(x: np.ndarray, gain: np.ndarray | float, bias: np.ndarray | float) -> np.ndarray:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return gain * centred / np.sqrt(variance + 1e-5) + bias


_edit_norm = partial(edit_reference, _normalise)


def _work_out_norm(x: np.ndarray, gain: np.ndarray, bias: np.ndarray, at: tuple) -> Iterator[Step]:
    row = x[at[:-1]]
    centred, variance = row - row.mean(), row.var()
    yield f"{name_row('x', at)}, with its mean subtracted", centred
    yield "the mean of the squares of these differences (the variance)", variance
    yield (
        "each difference divided by √(variance + 0.00001)",
        centred / np.sqrt(variance + 1e-5),
    )
    yield "times gain, plus bias", gain * centred / np.sqrt(variance + 1e-5) + bias


def _random_norm(chance: RandomValues) -> tuple:
    length, d = chance.sizes(2)
    x = chance.numbers(*chance.batch(), length, d) + chance.real(-3, 3)
    x[..., 0, :] *= chance.one_of(1e-3, 300.0)  # so small that ε counts, or large
    return x, chance.numbers(d), chance.numbers(d)


layer_norm = Check(
    reference=reference.layer_norm,
    cases=_norm_cases,
    drawn=_random_norm,
    arguments=("x", "gain", "bias"),
    working=_work_out_norm,
    verified="each position has its own mean and biased variance, and ε is inside the root",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            _edit_norm(("axis=-1", "axis=0")),
            "you take the mean over the first axis, but you should take it over the last axis (the "
            "features of one position).",
        ),
        Mistake(
            _edit_norm(("axis=-1", "axis=-2")),
            "you take the mean over the positions, but you should take it over the last axis (the "
            "features).",
        ),
        Mistake(
            _edit_norm(("axis=-1", "axis=None")),
            "you use one mean for the whole array, but each position should have its own mean.",
        ),
        Mistake(
            _edit_norm(("x.var(", "x.var(ddof=1, ")),
            "you use the unbiased variance, which divides by d − 1, but PyTorch and the LayerNorm "
            "paper divide by d.",
        ),
        Mistake(
            _edit_norm(("np.sqrt(variance + 1e-5)", "(variance + 1e-5)")),
            "you divide by the variance, but you should divide by its square root.",
        ),
        Mistake(
            _edit_norm(("np.sqrt(variance + 1e-5)", "(np.sqrt(variance) + 1e-5)")),
            "you add ε to the standard deviation, but you should add it to the variance, inside "
            "the square root.",
        ),
        Mistake(
            _edit_norm((" + 1e-5", "")),
            "ε is missing, so you divide by 0 at any position whose features are all equal.",
        ),
        Mistake(
            _edit_norm(("1e-5", "1e-6")), "ε is 1e-6, but this exercise asks for PyTorch's 1e-5."
        ),
        Mistake(
            _edit_norm(("x - x.mean(axis=-1, keepdims=True)", "x"), ("x.var", "(x**2).mean")),
            "the mean is not subtracted, so you only divide by the root mean square.",
        ),
        Mistake(
            _edit_norm(("x.var", "(x**2).mean")),
            "for the variance, you squared x itself, but you should square its differences from "
            "the mean.",
        ),
        Mistake(
            _edit_norm(("np.sqrt(variance + 1e-5)", "np.sqrt(np.sqrt(variance + 1e-5))")),
            "you take the square root twice, but a standard deviation is already the square root "
            "of the variance.",
        ),
        Mistake(
            _edit_norm(
                (
                    "gain * centred / np.sqrt(variance + 1e-5) + bias",
                    "gain * (centred / np.sqrt(variance + 1e-5) + bias)",
                )
            ),
            "the gain multiplies the bias too. Multiply by the gain first, then add the bias.",
        ),
        Mistake(lambda x, gain, bias: _normalise(x, 1.0, 0.0), "gain and bias are not applied."),
    ],
)


# ---------------------------------------------------------------- add & norm

Transform = Callable[[np.ndarray], np.ndarray]


def _normalise_without_gain(x: np.ndarray) -> np.ndarray:
    return _normalise(x, 1.0, 0.0)


def _halve(x: np.ndarray) -> np.ndarray:
    return 0.5 * x[..., ::-1] + 0.25


def _bend(x: np.ndarray) -> np.ndarray:
    return np.tanh(3 * x) - 0.5 * x.mean(axis=-2, keepdims=True)


def _bend_row(x: np.ndarray) -> np.ndarray:
    return np.roll(x, 1) ** 2 - 0.5


def _keep(x: np.ndarray) -> np.ndarray:
    return x


def _random_sublayer(chance: RandomValues) -> tuple:
    (length, d), batch = chance.sizes(2), chance.batch()
    w = chance.numbers(d, d)
    return chance.numbers(*batch, length, d), lambda x: np.tanh(x @ w), _normalise_without_gain


def _work_out_add_norm(
    x: np.ndarray, sublayer: Transform, norm: Transform, at: tuple
) -> Iterator[Step]:
    new = sublayer(x)
    yield name_row("sublayer(x)", at), new[at[:-1]]
    yield "with the same row of x added", (x + new)[at[:-1]]
    yield "what norm returns for that", norm(x + new)[at[:-1]]


add_norm = Check(
    reference=lambda x, sublayer, norm: norm(x + sublayer(x)),
    cases=lambda: [
        (np.array([[1.0, 4.0, -2.0], [3.0, 0.0, 5.0]]), _halve, _normalise_without_gain),
        (random_array(2, 3, 5, seed=1), _bend, _normalise_without_gain),
        (random_array(7, seed=2), _bend_row, np.arctan),
        (
            random_array(5, 3, seed=3),
            _keep,
            _normalise_without_gain,
        ),  # returns the same array that it gets
    ],
    drawn=_random_sublayer,
    working=_work_out_add_norm,
    verified="LayerNorm(x + Sublayer(x)), the paper's order",
    mistakes=[
        Mistake(
            lambda x, sublayer, norm: x + sublayer(norm(x)),
            "this is pre-norm: x + Sublayer(LayerNorm(x)). The paper adds first, then normalises.",
        ),
        Mistake(
            lambda x, sublayer, norm: norm(sublayer(x)),
            "x is not added, so the residual connection is missing.",
        ),
        Mistake(
            lambda x, sublayer, norm: x + norm(sublayer(x)),
            "your norm is inside the sum, but it should normalise the whole sum, including x.",
        ),
        Mistake(
            lambda x, sublayer, norm: norm(x) + sublayer(x),
            "you normalise only x, but you should normalise the whole sum.",
        ),
        Mistake(
            lambda x, sublayer, norm: x + sublayer(x),
            "the sum is right, but it is not normalised.",
        ),
        Mistake(
            lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
            "you use one norm too many. The sub-layer should get x itself, not norm(x).",
        ),
    ],
)


# ---------------------------------------------------------------- the layer


class _Layer(nn.Module):
    """A correct answer whose source the check edits to create wrong ones."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x))
        return self.norm_2(x + self.feed_forward(x))


_edit_layer = partial(edit_reference, _Layer)


def _build_and_run(answer: Callable[..., Any], *sizes_and_x: Any) -> tuple[Any, nn.Module]:
    *sizes, x = sizes_and_x
    layer = build_module(answer, _Layer, *sizes)
    return layer(x), layer


def _work_out_layer(
    d_model: int, num_heads: int, d_ff: int, x: Tensor, at: tuple
) -> Iterator[Step]:
    with torch.random.fork_rng([]):
        layer: Any = build_module(_Layer, _Layer, d_model, num_heads, d_ff)
    row, looked = at[:-1], layer.self_attention(x, x, x)
    middle = layer.norm_1(x + looked)
    new = layer.feed_forward(middle)
    yield f"what self_attention gives for {name_row('x', at)}", looked[row]
    yield "that plus the row of x itself, through norm_1", middle[row]
    yield "what feed_forward gives for that", new[row]
    yield "the sum of the two, through norm_2", layer.norm_2(middle + new)[row]


def _random_layer(chance: RandomValues) -> tuple:
    batch, length, heads, d, d_ff = chance.sizes(5)
    return require_gradients(heads * d, heads, d_ff, chance.tensor(batch, length, heads * d))


encoder_layer = Check(
    reference=_Layer,
    cases=lambda: [
        (6, 3, 7, torch.tensor(random_array(1, 2, 6))),
        (10, 2, 13, torch.tensor(random_array(2, 5, 10, seed=1))),
        require_gradients(14, 7, 5, torch.tensor(random_array(3, 2, 14, seed=2))),
    ],
    drawn=_random_layer,
    run=_build_and_run,
    arguments=("d_model", "num_heads", "d_ff", "x"),
    working=_work_out_layer,
    verified="self-attention, then feed-forward, each inside Add & Norm",
    mistakes=[
        Mistake(
            _edit_layer(
                (
                    "x = self.norm_1(x + self.self_attention(x, x, x))",
                    "y = self.norm_1(x)\n        x = x + self.self_attention(y, y, y)",
                ),
                ("self.norm_2(x + self.feed_forward(x))", "x + self.feed_forward(self.norm_2(x))"),
            ),
            "this is pre-norm, but the paper normalises after the sum.",
        ),
        Mistake(
            _edit_layer(("self.norm_2(x", "self.norm_1(x")),
            "norm_1 is used twice, but each sum should have its own LayerNorm.",
        ),
        Mistake(
            _edit_layer(("norm_2(x + ", "norm_2(")),
            "the residual connection around the feed-forward network is missing.",
        ),
        Mistake(
            _edit_layer(
                ("x = self.norm_1", "y = self.norm_1"), ("feed_forward(x)", "feed_forward(y)")
            ),
            "your second residual connection adds the layer's input, but it should add the output "
            "of the first Add & Norm.",
        ),
        Mistake(
            _edit_layer(
                ("self_attention(x, x, x)", "(other)"),
                ("feed_forward(x)", "self_attention(x, x, x)"),
                ("(other)", "feed_forward(x)"),
            ),
            "you apply the feed-forward network first, but self-attention should come first.",
        ),
        Mistake(
            _edit_layer(
                (
                    "x = self.norm_1(x + self.self_attention(x, x, x))",
                    "new = self.norm_1(self.self_attention(x, x, x))",
                ),
                ("self.norm_2(x", "self.norm_2(x + new"),
            ),
            "your two sub-layers work in parallel, but the second should get the output of the "
            "first.",
        ),
    ],
)
