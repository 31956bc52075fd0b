"""Checks for the exercise of lesson 10b on one step of attention with a KV cache."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step


def _attend_with_cache(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    keys = torch.cat([keys, (x @ w_k)[:, None]], dim=1)
    values = torch.cat([values, (x @ w_v)[:, None]], dim=1)
    scores = (x @ w_q)[:, None] @ keys.mT / keys.size(-1) ** 0.5
    return (scores.softmax(dim=-1) @ values)[:, 0], keys, values


def _work_out_step(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, at: tuple
) -> Iterator[Step]:
    output, keys, values = _attend_with_cache(x, keys, values, w_q, w_k, w_v)
    own, query = at[0], x[at[0]] @ w_q
    yield f"the new word's key in sentence {own}, x times W_K", keys[own, -1]
    yield "its value, x times W_V", values[own, -1]
    if len(at) == 3:
        yield f"key {at[1]} of the sentence (counted from 0, the new one last)", keys[at[:2]]
        yield f"value {at[1]}", values[at[:2]]
        return
    yield "its query, x times W_Q", query
    scores = keys[own] @ query / keys.size(-1) ** 0.5
    yield f"its products with all keys (its own comes last), divided by √{keys.size(-1)}", scores
    yield "the softmax of these", scores.softmax(dim=-1)
    yield "the output, all values added up with these weights", output[own]


_edit_step = partial(edit_reference, _attend_with_cache)

PAST_ONLY = (("@ keys.mT", "@ keys[:, :-1].mT"), ("@ values", "@ values[:, :-1]"))


# Small enough to follow by hand: x, keys, values and the three matrices.
WHOLE = (
    [[2, -1, 1]],
    [[[2, -1, 1, 0, 3], [0, 1, -2, -1, 1]]],
    [[[1, -3], [0, 2]]],
    [[1, 0, -1, 2, 0], [0, 1, -1, 1, 2], [-1, 2, 1, 0, 1]],
    [[0, 1, -1, 0, 2], [1, -1, 0, 1, 1], [2, 0, 3, -1, 0]],
    [[1, 3], [-2, 0], [0, -1]],
)


def _step_cases() -> list[tuple]:
    # (batch, past, d_model, d_k, d_v); once there are no words yet.
    shapes = ((1, 2, 3, 5, 2), (2, 3, 5, 7, 11), (3, 0, 7, 2, 5), (5, 11, 2, 3, 7))
    cases = [
        tuple(
            torch.tensor(random_array(*shape, seed=10 * n + k))
            for k, shape in enumerate(
                ((b, d), (b, past, d_k), (b, past, d_v), (d, d_k), (d, d_k), (d, d_v))
            )
        )
        for n, (b, past, d, d_k, d_v) in enumerate(shapes)
    ]
    cases[0] = tuple(torch.tensor(whole).double() for whole in WHOLE)
    x, *rest = cases[1]
    return [*cases, (999 * x, *rest)]  # scores in the thousands, whose exponentials are infinite


def _random_step(chance: RandomValues) -> tuple:
    b, past, d, d_k, d_v = chance.sizes(5)
    past = chance.one_of(0, past, past, past)
    shapes = ((b, d), (b, past, d_k), (b, past, d_v), (d, d_k), (d, d_k), (d, d_v))
    x, *rest = (chance.tensor(*shape) for shape in shapes)
    return chance.one_of(1.0, 1_000.0) * x, *rest


cached_step = Check(
    reference=_attend_with_cache,
    cases=_step_cases,
    drawn=_random_step,
    arguments=("x", "keys", "values", "W_Q", "W_K", "W_V"),
    results=("the output", "the keys", "the values"),
    working=_work_out_step,
    verified="one query, and all keys and values with the new ones last, even if there were none before",
    mistakes=[
        Mistake(
            _edit_step(*PAST_ONLY),
            "the new word does not see itself. Append its key and value first, and then attend.",
        ),
        Mistake(
            _edit_step(("[:, 0], keys, values", "[:, 0], keys[:, :-1], values[:, :-1]")),
            "the new key and value are used, but they are not kept: return the longer tables.",
        ),
        Mistake(
            _edit_step(
                *PAST_ONLY, ("[:, 0], keys, values", "[:, 0], keys[:, :-1], values[:, :-1]")
            ),
            "the new word's key and value appear nowhere, but it has to see itself, and later "
            "words have to see it.",
        ),
        Mistake(
            _edit_step(
                ("[keys, (x @ w_k)[:, None]]", "[(x @ w_k)[:, None], keys]"),
                ("[values, (x @ w_v)[:, None]]", "[(x @ w_v)[:, None], values]"),
            ),
            "the new word is in front, but it belongs after the earlier words.",
        ),
        Mistake(
            _edit_step((" / keys.size(-1) ** 0.5", "")),
            "the scale is missing. Divide the scores by √d_k.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "x.size(-1)")),
            "the scores are divided by √d_model, but the scale is √d_k, where d_k is the width "
            "of a key.",
        ),
        Mistake(
            _edit_step((" ** 0.5", "")),
            "the scores are divided by d_k, but they should be divided by its square root.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "keys.size(1)")),
            "the scores are divided by the square root of the number of words, but the scale is "
            "√d_k, where d_k is the width of a key.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "5")), "√5 is hard-coded, but keys are not always 5 wide."
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values[:, 0]")),
            "only the first word is seen. A causal mask of one row hides all the others. The "
            "newest word is the last row of the triangle, and that one hides nothing.",
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values[:, -1]")),
            "the new word sees only itself, but its query has to meet all keys, including those "
            "that were kept.",
        ),
        Mistake(
            _edit_step(
                ("[keys, (x @ w_k)[:, None]]", "[(x @ w_k)[:, None]]"),
                ("[values, (x @ w_v)[:, None]]", "[(x @ w_v)[:, None]]"),
            ),
            "the kept keys and values are thrown away. The new ones belong after them.",
        ),
        Mistake(
            _edit_step(("softmax(dim=-1)", "softmax(dim=0)")),
            "the softmax runs over the batch (dim 0), but each sentence's row should sum to 1 "
            "over its keys.",
        ),
        Mistake(
            _edit_step(
                (" / keys.size(-1) ** 0.5", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) / keys.size(-1) ** 0.5"),
            ),
            "you divide by √d_k after the softmax, so the weights do not sum to 1. Divide the "
            "scores before it.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "values.size(-1)")),
            "the scores are divided by √d_v, but the scale is √d_k, where d_k is the width of a "
            "key.",
        ),
        Mistake(
            _edit_step(("[:, 0], keys, values", "[:, 0], keys[:, -1:], values[:, -1:]")),
            "the output is right, but only the new key and value come back. The next step needs "
            "those before it, too.",
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values.mean(dim=1)")),
            "this is the mean of all values, so no query has met a key.",
        ),
        Mistake(
            _edit_step(("(x @ w_q)[:, None]", "(x @ w_q)"), ("[:, 0]", "")),
            "all queries of the batch meet the keys of each sentence, because (batch, d_k) @ "
            "(batch, d_k, words) is (batch, batch, words). Give the one word a dimension: "
            "query[:, None].",
        ),
        Mistake(
            _edit_step(("(x @ w_q)[:, None]", "(x @ w_q)")),
            "this is right for one sentence alone. In a batch the first sentence's query meets the "
            "keys of all. Give the one word its dimension, query[:, None], before the product.",
        ),
        Mistake(
            _edit_step(
                ("scores.softmax(dim=-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))")
            ),
            "this is right for small scores, but NaN for large ones, because their exponentials "
            "are infinite. Use `softmax`, which subtracts the largest score of the row.",
        ),
        Mistake(
            _edit_step((".softmax(dim=-1)", "")),
            "the softmax is missing, so these are scores times values.",
        ),
        Mistake(
            _edit_step(
                ("(x @ w_q)[:, None]", "torch.cat([keys[:, :-1], (x @ w_q)[:, None]], dim=1)"),
                ("[:, 0]", ""),
            ),
            "there is an output for each past word, too. Nobody needs those, because only the "
            "new word asks. And kept keys are not queries.",
        ),
    ],
)
