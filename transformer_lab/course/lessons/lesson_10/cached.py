"""Checks of the exercises of lesson 10: one step with a cache."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

Step = tuple[Tensor, Tensor, Tensor]


def _grown(x: Tensor, keys: Tensor, values: Tensor, w_k: Tensor, w_v: Tensor) -> Any:
    return torch.cat([keys, (x @ w_k)[:, None]], 1), torch.cat([values, (x @ w_v)[:, None]], 1)


def _attend(query: Tensor, keys: Tensor, values: Tensor, scale: float | None = None) -> Tensor:
    """Attention of one query (batch, d_k) over keys (batch, words, d_k)."""
    scores = (query[:, None] @ keys.mT) / (keys.size(-1) ** 0.5 if scale is None else scale)
    return (scores.softmax(dim=-1) @ values)[:, 0]


def _cached_step(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor
) -> Step:
    keys, values = _grown(x, keys, values, w_k, w_v)
    return _attend(x @ w_q, keys, values), keys, values


def _with_scale(scale_of: Callable[[Tensor, Tensor], float]) -> Callable[..., Step]:
    def step(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
        keys, values = _grown(x, keys, values, w_k, w_v)
        return _attend(x @ w_q, keys, values, scale_of(x, keys)), keys, values

    return step


def _sees_only_the_past(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any
) -> Step:
    return _attend(x @ w_q, keys, values), *_grown(x, keys, values, w_k, w_v)


def _keeps_nothing(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    return _cached_step(x, keys, values, *projections)[0], keys.clone(), values.clone()


def _past_alone(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
    return _attend(x @ w_q, keys, values), keys.clone(), values.clone()


def _in_front(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
    keys = torch.cat([(x @ w_k)[:, None], keys], 1)
    values = torch.cat([(x @ w_v)[:, None], values], 1)
    return _attend(x @ w_q, keys, values), keys, values


def _only_the_first_key(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    _, keys, values = _cached_step(x, keys, values, *projections)
    return values[:, 0], keys, values


def _only_itself(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    _, keys, values = _cached_step(x, keys, values, *projections)
    return values[:, -1], keys, values


def _over_the_batch(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
    keys, values = _grown(x, keys, values, w_k, w_v)
    scores = ((x @ w_q)[:, None] @ keys.mT) / keys.size(-1) ** 0.5
    return (scores.softmax(dim=0) @ values)[:, 0], keys, values


def _scaled_afterwards(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any
) -> Step:
    keys, values = _grown(x, keys, values, w_k, w_v)
    return _attend(x @ w_q, keys, values, 1.0) / keys.size(-1) ** 0.5, keys, values


def _every_query_everywhere(
    x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any
) -> Step:
    """A mistake: the query (batch, d_k) is one matrix that meets the keys of each sentence."""
    keys, values = _grown(x, keys, values, w_k, w_v)
    scores = (x @ w_q) @ keys.mT / keys.size(-1) ** 0.5  # (batch, batch, words)
    return scores.softmax(dim=-1) @ values, keys, values


def _first_query_everywhere(x: Tensor, *rest: Any) -> Step:
    output, keys, values = _every_query_everywhere(x, *rest)
    return output[:, 0], keys, values


def _root_of_d_v(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
    keys, values = _grown(x, keys, values, w_k, w_v)
    return _attend(x @ w_q, keys, values, math.sqrt(values.size(-1))), keys, values


def _only_the_new_kept(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    output, keys, values = _cached_step(x, keys, values, *projections)
    return output, keys[:, -1:], values[:, -1:]


def _all_alike(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    _, keys, values = _cached_step(x, keys, values, *projections)
    return values.mean(dim=1), keys, values


def _no_softmax(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Step:
    keys, values = _grown(x, keys, values, w_k, w_v)
    scores = ((x @ w_q)[:, None] @ keys.mT) / keys.size(-1) ** 0.5
    return (scores @ values)[:, 0], keys, values


def _newest_for_the_first(x: Tensor, keys: Tensor, values: Tensor, *projections: Any) -> Step:
    """A mistake: the cache keeps only the newest key and value."""
    _, keys, values = _cached_step(x, keys, values, *projections)
    return values[:, -1], keys[:, -1:], values[:, -1:]


def _all_new_outputs(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Any:
    """A mistake: outputs for all words, with the old keys as queries."""
    old = keys
    keys, values = _grown(x, keys, values, w_k, w_v)
    queries = torch.cat([old, (x @ w_q)[:, None]], 1)
    return (queries @ keys.mT / keys.size(-1) ** 0.5).softmax(dim=-1) @ values, keys, values


def _step_cases() -> list[tuple]:
    # (batch, past, d_model, d_k, d_v): no words yet, too.
    shapes = ((1, 2, 3, 5, 2), (2, 3, 5, 7, 11), (3, 0, 7, 2, 5), (5, 11, 2, 3, 7))
    return [
        tuple(
            torch.tensor(random_array(*shape, seed=10 * n + k))
            for k, shape in enumerate(
                ((b, d), (b, past, d_k), (b, past, d_v), (d, d_k), (d, d_k), (d, d_v))
            )
        )
        for n, (b, past, d, d_k, d_v) in enumerate(shapes)
    ]


def _random_step(chance: RandomValues) -> tuple:
    b, past, d, d_k, d_v = chance.sizes(5)
    shapes = ((b, d), (b, past, d_k), (b, past, d_v), (d, d_k), (d, d_k), (d, d_v))
    return tuple(chance.tensor(*shape) for shape in shapes)


cached_step = Check(
    reference=_cached_step,
    cases=_step_cases,
    drawn=_random_step,
    arguments=("x", "keys", "values", "W_Q", "W_K", "W_V"),
    results=("the output", "the keys", "the values"),
    verified="one query, all keys and values with the new one behind, also where none is there yet",
    mistakes=[
        Mistake(
            _sees_only_the_past,
            "the new word does not see itself: append its key and value first, then attend.",
        ),
        Mistake(
            _keeps_nothing,
            "the new key and value are used and not kept: return the longer tables.",
        ),
        Mistake(
            _past_alone,
            "the new word's key and value appear nowhere: it must see itself, and be seen later.",
        ),
        Mistake(_in_front, "the new word stands in front; it comes behind those before it."),
        Mistake(
            _with_scale(lambda x, keys: 1.0), "the scale is missing: scores are divided by √d_k."
        ),
        Mistake(
            _with_scale(lambda x, keys: math.sqrt(x.size(-1))),
            "divided by √d_model; the scale is √d_k, the width of a key.",
        ),
        Mistake(
            _with_scale(lambda x, keys: float(keys.size(-1))),
            "divided by d_k; it is the root of it.",
        ),
        Mistake(
            _with_scale(lambda x, keys: math.sqrt(keys.size(1))),
            "divided by the root of the number of words; the scale is √d_k, the width of a key.",
        ),
        Mistake(
            _with_scale(lambda x, keys: math.sqrt(5)),
            "√5 is written in; keys are not always 5 wide.",
        ),
        Mistake(
            _only_the_first_key,
            "only the first word is seen. A causal mask of one row hides all but it: the newest "
            "word is the last row of the triangle, and needs no mask.",
        ),
        Mistake(
            _only_itself,
            "the new word sees itself alone: its query must meet all keys, those kept included.",
        ),
        Mistake(
            _newest_for_the_first,
            "the kept keys and values are thrown away: the new ones go behind them.",
        ),
        Mistake(
            _over_the_batch,
            "the softmax runs over the batch (dim 0); each sentence's row over its keys sums to 1.",
        ),
        Mistake(
            _scaled_afterwards,
            "divided by √d_k after the softmax, so that the weights do not sum to 1; divide the "
            "scores, before it.",
        ),
        Mistake(
            _root_of_d_v,
            "divided by √d_v; the scale is √d_k, the width of a key.",
        ),
        Mistake(
            _only_the_new_kept,
            "the output is right, and only the new key and value come back: the next step needs "
            "those before it, too.",
        ),
        Mistake(
            _all_alike,
            "this is the mean of all values: no query has met a key.",
        ),
        Mistake(
            _every_query_everywhere,
            "all queries of the batch meet the keys of each sentence: (batch, d_k) @ (batch, d_k, "
            "words) is (batch, batch, words). One word more is a dimension: query[:, None].",
        ),
        Mistake(
            _first_query_everywhere,
            "right for one sentence alone: the first sentence's query meets the keys of all. Give the "
            "one word its dimension, query[:, None], before the product.",
        ),
        Mistake(_no_softmax, "the softmax is missing: these are scores times values."),
        Mistake(
            _all_new_outputs,
            "there is an output for each past word, too. Nobody needs them, and kept keys are no "
            "queries: the new word alone asks.",
        ),
    ],
)
