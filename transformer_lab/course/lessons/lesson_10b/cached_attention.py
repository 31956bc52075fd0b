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
    said = "the query's product with each key (the new key last), divided by"
    yield f"{said} √{keys.size(-1)}", scores
    yield "the softmax of these", scores.softmax(dim=-1)
    yield "the output, the sum of all values, each times its weight", output[own]


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
    verified="the new word attends to all keys, its own last, even if the cache was empty",
    mistakes=[
        Mistake(
            _edit_step(*PAST_ONLY),
            "the new word does not see itself. Append its key and value first, and then attend.",
        ),
        Mistake(
            _edit_step(("[:, 0], keys, values", "[:, 0], keys[:, :-1], values[:, :-1]")),
            "you use the new key and value, but you do not store them. Return the extended keys "
            "and values.",
        ),
        Mistake(
            _edit_step(
                *PAST_ONLY, ("[:, 0], keys, values", "[:, 0], keys[:, :-1], values[:, :-1]")
            ),
            "you do not use the new word's key and value anywhere, but the new word should see "
            "itself, and later words should see it, too.",
        ),
        Mistake(
            _edit_step(
                ("[keys, (x @ w_k)[:, None]]", "[(x @ w_k)[:, None], keys]"),
                ("[values, (x @ w_v)[:, None]]", "[(x @ w_v)[:, None], values]"),
            ),
            "you put the new word in front of the earlier ones, but it should come after them.",
        ),
        Mistake(
            _edit_step((" / keys.size(-1) ** 0.5", "")),
            "the scale is missing. Divide the scores by √d_k.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "x.size(-1)")),
            "you divide the scores by √d_model. Divide them by √d_k, where d_k is the width of a "
            "key.",
        ),
        Mistake(
            _edit_step((" ** 0.5", "")),
            "you divide the scores by d_k, but you should divide them by its square root.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "keys.size(1)")),
            "you divide the scores by the square root of the number of words. Divide them by "
            "√d_k, where d_k is the width of a key.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "5")),
            "√5 is hard-coded, but a key's width is not always 5.",
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values[:, 0]")),
            "the new word sees only the first word, because a causal mask with one row hides all "
            "the others. The new word should use the last row of the mask, which hides nothing.",
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values[:, -1]")),
            "the new word sees only itself, but its query should be compared with all keys, "
            "including the cached ones.",
        ),
        Mistake(
            _edit_step(
                ("[keys, (x @ w_k)[:, None]]", "[(x @ w_k)[:, None]]"),
                ("[values, (x @ w_v)[:, None]]", "[(x @ w_v)[:, None]]"),
            ),
            "you throw away the cached keys and values. Append the new ones to them.",
        ),
        Mistake(
            _edit_step(("softmax(dim=-1)", "softmax(dim=0)")),
            "your softmax runs over the batch (dim 0), but the weights should sum to 1 over each "
            "sentence's keys.",
        ),
        Mistake(
            _edit_step(
                (" / keys.size(-1) ** 0.5", ""),
                ("softmax(dim=-1)", "softmax(dim=-1) / keys.size(-1) ** 0.5"),
            ),
            "you divide by √d_k after the softmax, so the weights do not sum to 1. Divide the "
            "scores before the softmax.",
        ),
        Mistake(
            _edit_step(("keys.size(-1)", "values.size(-1)")),
            "you divide the scores by √d_v. Divide them by √d_k, where d_k is the width of a key.",
        ),
        Mistake(
            _edit_step(("[:, 0], keys, values", "[:, 0], keys[:, -1:], values[:, -1:]")),
            "the output is right, but you return only the new key and value. The next step needs "
            "the earlier ones, too.",
        ),
        Mistake(
            _edit_step(("(scores.softmax(dim=-1) @ values)[:, 0]", "values.mean(dim=1)")),
            "this is the mean of all values, but the values should be weighted by how well their "
            "keys match the query.",
        ),
        Mistake(
            _edit_step(("(x @ w_q)[:, None]", "(x @ w_q)"), ("[:, 0]", "")),
            "you compare all of the batch's queries with each sentence's keys, because the shapes "
            "(batch, d_k) and (batch, d_k, words) multiply to (batch, batch, words). Add a "
            "dimension for the new word: query[:, None].",
        ),
        Mistake(
            _edit_step(("(x @ w_q)[:, None]", "(x @ w_q)")),
            "this is right for a single sentence, but in a batch the first sentence's query is "
            "compared with every sentence's keys. Add a dimension for the new word, query[:, "
            "None], before the product.",
        ),
        Mistake(
            _edit_step(
                ("scores.softmax(dim=-1)", "(scores.exp() / scores.exp().sum(-1, keepdim=True))")
            ),
            "this is right for small scores, but NaN for large ones, because their exponentials "
            "are infinite. Use `softmax`, which subtracts the row's largest score first.",
        ),
        Mistake(
            _edit_step((".softmax(dim=-1)", "")),
            "the softmax is missing, so you multiply raw scores by the values.",
        ),
        Mistake(
            _edit_step(
                ("(x @ w_q)[:, None]", "torch.cat([keys[:, :-1], (x @ w_q)[:, None]], dim=1)"),
                ("[:, 0]", ""),
            ),
            "you also return an output for each past word, but only the new word needs one. Use "
            "only the new word's query, and do not use the cached keys as queries.",
        ),
    ],
)
