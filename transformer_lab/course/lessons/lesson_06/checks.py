"""Checks for the exercises of lesson 06: masks and the decoder."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row
from transformer_lab.model import masks

# ---------------------------------------------------------------- padding


def _ids_cases() -> list[tuple]:
    return [
        (torch.tensor([[5, 7, 0]]), 0),
        (torch.tensor([[5, 7, 9, 4, 0], [6, 0, 0, 0, 0]]), 0),
        (torch.tensor([[0, 2, 1, 1], [2, 2, 0, 1], [3, 1, 1, 1]]), 1),
        # Padding in front, in the middle, everywhere and nowhere; the largest id, and one below 0.
        (torch.tensor([[7, 7, 4], [5, 7, 6], [7, 7, 7], [2, 1, 0], [7, 3, 2]]), 7),
        (torch.tensor([[-1, 0, 1, 2, -1, 5, 3]]), -1),
    ]


def _work_out_padding(ids: Tensor, pad_id: int, at: tuple) -> Iterator[Step]:
    row, (batch, length) = at[0], ids.shape
    yield f"row {row} of ids", ids[row]
    yield f"whether each of them differs from {pad_id}, the pad_id", ids[row] != pad_id
    yield "the shape of the mask for all rows together", f"({batch}, 1, 1, {length})"


def _random_ids(chance: RandomValues) -> tuple:
    batch, length, vocabulary = chance.sizes(3)
    return chance.ids(batch, length, below=vocabulary), chance.between(0, vocabulary - 1)


padding_mask = Check(
    reference=masks.padding_mask,
    cases=_ids_cases,
    drawn=_random_ids,
    arguments=("ids", "pad_id"),
    results=("the mask",),
    working=_work_out_padding,
    verified="the shape is (batch, 1, 1, key), and only words are True, even if pad_id is not 0",
    mistakes=[
        Mistake(
            lambda ids, pad: (ids == pad)[:, None, None, :],
            'your mask is inverted. In this course, True means "may be attended to", so words '
            "should be True.",
        ),
        Mistake(
            lambda ids, pad: (ids != pad)[:, None, :, None],
            "your mask has shape (batch, 1, query, 1), so it hides queries. It should hide keys, "
            "with shape (batch, 1, 1, key).",
        ),
        Mistake(
            lambda ids, pad: ids != pad,
            "your mask has shape (batch, key), which does not broadcast to (batch, heads, query, "
            "key). Insert two dimensions of size 1 in the middle.",
        ),
        Mistake(
            lambda ids, pad: (ids != 0)[:, None, None, :],
            "0 is hard-coded, but some models pad with another id. Use `pad_id`.",
        ),
        Mistake(
            lambda ids, pad: (ids > pad)[:, None, None, :],
            "you hide all ids smaller than `pad_id`, but these ids stand for words. Compare with "
            "`!=`.",
        ),
        Mistake(
            lambda ids, pad: (ids != pad)[:, None, None, :] & (ids != pad)[:, None, :, None],
            "you hide queries as well as keys. Hide only the keys, because the output at a "
            "padding position is never read. The shape should be (batch, 1, 1, key).",
        ),
    ],
)


# ---------------------------------------------------------------- masked softmax


def _masked_cases() -> list[tuple]:
    causal = masks.causal_mask(3)
    some = torch.tensor(random_array(2, 3, 5, seed=4)) > 0
    some[0, 1] = False  # a query that may see nothing
    some[1, 2] = True
    asks = (
        torch.tensor(random_array(2, 3, 5, 7, seed=6)),
        torch.tensor(random_array(2, 1, 1, 7, seed=6)) > -0.5,
    )
    far = torch.tensor([[1e9, -1e9, 0.0], [200.0, 0.0, -200.0], [0.0, 0.0, 0.0]]).double()
    left = torch.tensor([[False, True, True], [True, True, False], [False, True, True]])
    return [
        (torch.tensor([[2.0, 5.0, 1.0], [3.0, 1.0, -2.0], [-1.0, 4.0, 2.0]]).double(), causal),
        (torch.tensor(random_array(2, 3, 5, seed=1)), some),
        # Scores so low that even −1e9 is above them, and so hides no key.
        (
            torch.tensor(random_array(3, 5, seed=3)) - 2e9,
            torch.tensor([True, False, True, True, False]),
        ),
        (
            torch.tensor(random_array(2, 4, 3, 5, seed=2)),
            torch.tensor([True, False, True, True, False]),
        ),
        (far, left),
        require_gradients(*asks),
    ]


def _mask_and_normalise(scores: Tensor, mask: Tensor) -> Tensor:
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _work_out_masked_weights(scores: Tensor, mask: Tensor, at: tuple) -> Iterator[Step]:
    row, seen = scores[at[:-1]], mask.expand(scores.shape)[at[:-1]]
    yield f"the mask for {name_row('scores', at)}", seen
    yield "that row, with −∞ where the mask is False", row.masked_fill(~seen, -math.inf)
    how = "the softmax of that" if seen.any() else "the whole row is hidden, so the weights are 0"
    yield how, _mask_and_normalise(row, seen)


def _random_scores(chance: RandomValues) -> tuple:
    shape = [*chance.batch(), *chance.sizes(2)]
    mask = chance.mask(*shape)
    mask[..., chance.between(0, shape[-2] - 1), :] = False  # a query that may see nothing
    return require_gradients(chance.tensor(*shape, scale=3.0), mask)


masked_weights = Check(
    reference=_mask_and_normalise,
    cases=_masked_cases,
    drawn=_random_scores,
    results=("the weights",),
    working=_work_out_masked_weights,
    verified="hidden keys get weight 0, and a row sums to 1 unless all its keys are hidden",
    mistakes=[
        Mistake(
            lambda scores, mask: scores.softmax(dim=-1) * mask,
            "you multiply by the mask after the softmax, so the rows no longer sum to 1.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(dim=-1),
            "you set hidden scores to 0, but they still get some weight, because e⁰ = 1. Use −∞.",
        ),
        Mistake(
            lambda scores, mask: _mask_and_normalise(scores, ~mask),
            'you read the mask the wrong way round. True means "may attend".',
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(mask, -math.inf).softmax(dim=-1),
            'you read the mask the wrong way round. True means "may attend". Also, a row becomes '
            "NaN if all its keys are hidden, but its weights should be 0.",
        ),
        Mistake(
            lambda scores, mask: _mask_and_normalise(scores.mT, mask.expand(scores.shape).mT).mT,
            "your softmax runs over the queries, but it should run over the keys, so that each row "
            "sums to 1.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(~mask, -math.inf),
            "you return the masked scores, but the softmax is missing.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(~mask, 0.0),
            "you set hidden scores to 0, but they should be −∞, and the softmax is missing.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(~mask, -math.inf).softmax(dim=-1),
            "this is right except for a query whose keys are all hidden. Its weights are NaN, but "
            "they should be 0.",
        ),
        Mistake(
            lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(dim=-1),
            "−1e9 is not low enough. A query whose keys are all hidden attends to all of them, and "
            "half precision cannot represent −1e9. Use −∞, and then set the weights of such a "
            "query to 0.",
        ),
        Mistake(
            lambda scores, mask: (scores + mask).softmax(dim=-1),
            "you add the mask (0 or 1) to the scores, but hidden scores should be −∞.",
        ),
    ],
)


# ---------------------------------------------------------------- causal


def _work_out_causal(length: int, at: tuple) -> Iterator[Step]:
    query, key = at
    yield (
        f"row {query} is the query at position {query}, which may see the keys",
        [*range(query + 1)],
    )
    yield f"whether key {key} is among them", key <= query


def _random_length(chance: RandomValues) -> tuple:
    return (chance.between(2, 40),)


causal_mask = Check(
    reference=lambda length: masks.causal_mask(length),
    own=(masks.causal_mask,),
    cases=lambda: [(2,), (3,), (7,), (1,), (13,)],
    drawn=_random_length,
    results=("the mask",),
    working=_work_out_causal,
    verified="position i sees positions 0 to i, itself included",
    mistakes=[
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).tril(-1),
            "position 0 sees nothing, because the diagonal is missing. Every position should see "
            "itself.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).triu(),
            "this is the upper triangle, so position 0 sees the positions after it. Rows are "
            "queries, and columns are keys.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).triu(1),
            "your mask is inverted. You use True for what must be hidden, but here True means "
            '"may be attended to".',
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool).tril(1),
            "your mask lets position 0 see position 1, which comes later. Check the diagonal of "
            "your mask.",
        ),
        Mistake(
            lambda n: torch.ones(n, n).tril(),
            "your values are right, but their type is wrong. A mask should be boolean, but this "
            "one holds floats.",
        ),
        Mistake(
            lambda n: torch.ones(n, n, dtype=torch.bool),
            "your mask hides nothing, but it should hide the future.",
        ),
    ],
)


# ---------------------------------------------------------------- the leak test

Map = Callable[[Tensor], Tensor]


def _find_leaks(function: Map, x: Tensor) -> Tensor:
    before, columns = function(x), []
    for j in range(len(x)):
        changed = x.clone()
        changed[j, 0] += 1.0
        columns.append(((function(changed) - before).abs() > 1e-9).any(dim=-1))
    return torch.stack(columns, dim=1)


_edit_leak_test = partial(edit_reference, _find_leaks)


def _make_mixer(weights: Tensor) -> Map:
    # Features change places, so that an answer that compares only one feature misses the change.
    return lambda x: torch.tanh(weights @ x).roll(1, dims=-1)


def _add_and_norm(x: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x + torch.tanh(x.cumsum(dim=0) - x), x.shape[-1:])


def _make_balanced(weights: Tensor) -> Map:
    # What one feature gains another loses, so that an answer that adds them up misses the change.
    return lambda x: torch.cat([torch.tanh(weights @ x), -torch.tanh(weights @ x)], dim=-1)


def _combine_squares(x: Tensor) -> Tensor:
    return torch.stack([x[0], x[0] - x[1] ** 2, (x[1] * x[2]) ** 2])


def _leak_cases() -> list[tuple]:
    lower = torch.tensor(random_array(3, 3)).tril()
    some = torch.tensor(random_array(5, 5, seed=1))
    some[1, 3] = some[4, 0] = some[2, 2] = some[0, 4] = 0
    window = torch.tensor(random_array(7, 7, seed=2)).tril(1).triu(-1)
    faint = torch.tensor(random_array(5, 5, seed=10)).tril() * 1e-6  # faint links count too
    return [
        (_make_mixer(w), torch.tensor(random_array(len(w), 4, seed=n + 5)) * 0.1)
        for n, w in enumerate((lower, some, window))
    ] + [
        (_add_and_norm, torch.tensor(random_array(4, 5, seed=9))),
        (_make_mixer(faint), torch.tensor(random_array(5, 3, seed=13))),
        (_make_balanced(some), torch.tensor(random_array(5, 2, seed=12)) * 0.1),
        # No entry is −0.5, because adding 1 to it would not change its square.
        (_combine_squares, torch.tensor(random_array(3, 7, seed=11)) * 1.9),
    ]


def _work_out_leak(function: Map, x: Tensor, at: tuple) -> Iterator[Step]:
    out, put = at
    changed = x.clone()
    changed[put, 0] += 1.0
    before, after = function(x)[out], function(changed)[out]
    yield f"output {out}, from x as it is", before
    yield f"output {out}, with 1 added to x[{put}, 0]", after
    yield "the largest difference between them", (after - before).abs().max()
    yield "whether it is more than 1e-9", (after - before).abs().max() > 1e-9


def _random_map(chance: RandomValues) -> tuple:
    length, d = chance.sizes(2)
    links = chance.tensor(length, length) * chance.mask(length, length)
    return chance.one_of(_make_mixer, _make_balanced)(links), chance.tensor(length, d, scale=0.1)


sees = Check(
    reference=_find_leaks,
    cases=_leak_cases,
    drawn=_random_map,
    arguments=("function", "x"),
    results=("the map",),
    working=_work_out_leak,
    verified="entry [i, j] is True exactly when output i moves with input j",
    mistakes=[
        Mistake(
            _edit_leak_test(("dim=1)", "dim=0)")),
            "rows and columns are swapped. A row is an output (query), and a column is an input"
            " (key).",
        ),
        Mistake(
            _edit_leak_test(
                ("        changed = x.clone()\n", ""),
                ("columns = function(x), []", "columns, changed = function(x), [], x.clone()"),
            ),
            "your changes pile up. Change one input, compare, and start again from x.",
        ),
        Mistake(
            _edit_leak_test(("changed[j, 0]", "changed[j]")),
            "you add the same number to all features of a word, but LayerNorm cancels that. Change "
            "just one feature.",
        ),
        Mistake(
            _edit_leak_test((".any(", ".all(")),
            "you use `all`, which requires every feature of an output to change, but a change in "
            "one is enough. Use `any`.",
        ),
        Mistake(
            _edit_leak_test(
                (
                    "((function(changed) - before).abs() > 1e-9).any(dim=-1)",
                    "(function(changed) - before).sum(dim=-1).abs() > 1e-9",
                )
            ),
            "you add up the changes in an output's features, so they may cancel. Take absolute "
            "values first, or check each feature separately.",
        ),
        Mistake(
            lambda function, x: ~_find_leaks(function, x),
            ("your map is inverted. True should mean that the output moves."),
        ),
        Mistake(
            lambda function, x: _find_leaks(function, x) & torch.eye(len(x), dtype=torch.bool),
            "when input j changes, you compare only output j. Compare all outputs.",
        ),
        Mistake(
            lambda function, x: _find_leaks(function, x).any(dim=1),
            "you return one answer for each output, but the map should show which inputs move "
            "that output, so the shape of the map should be (length, length).",
        ),
    ],
)


# ---------------------------------------------------------------- what the decoder reads


def _shift_right(target: Tensor, bos_id: int) -> Tensor:
    return torch.cat([torch.full_like(target[:, :1], bos_id), target[:, :-1]], dim=1)


def _work_out_shift(target: Tensor, bos_id: int, at: tuple) -> Iterator[Step]:
    row = at[0]
    yield f"row {row} of target", target[row]
    yield "without its last word", target[row, :-1]
    yield f"with {bos_id}, the bos_id, in front", _shift_right(target, bos_id)[row]


def _random_target(chance: RandomValues) -> tuple:
    batch, length, vocabulary = chance.sizes(3)
    return chance.ids(batch, length, below=vocabulary), chance.between(0, vocabulary)


shift_right = Check(
    reference=_shift_right,
    cases=lambda: [
        (torch.tensor([[5, 7, 2]]), 1),
        (torch.tensor([[5, 7, 9, 2], [6, 8, 2, 0]]), 1),
        (torch.tensor([[4, 6, 3, 8, 2], [9, 2, 0, 0, 0]]), 3),
        (torch.tensor([[5], [7], [2]]), 0),
        (torch.tensor([[3, 300, 1, 2, 131, 1, 700]]), 257),
    ],
    drawn=_random_target,
    results=("what the decoder reads",),
    working=_work_out_shift,
    verified="bos_id first, then all words but the last, so position t is read to write word t",
    mistakes=[
        Mistake(
            lambda target, bos: target.clone(),
            "this is not shifted, so the decoder reads the very word that it should write, and "
            "learns to copy.",
        ),
        Mistake(
            lambda target, bos: torch.cat([target[:, 1:], torch.full_like(target[:, :1], bos)], 1),
            "this is shifted to the left, so the decoder reads the word after the one that it "
            "should write.",
        ),
        Mistake(
            lambda target, bos: torch.cat([torch.full_like(target[:, :1], bos), target], 1),
            "your result has one column too many. The decoder never reads the last word, so leave "
            "it out.",
        ),
        Mistake(
            lambda target, bos: target.roll(1, dims=1),
            "your last word has wrapped around to the front, where `bos_id` should be.",
        ),
        Mistake(
            lambda target, bos: torch.cat([torch.full_like(target[:, :1], 1), target[:, :-1]], 1),
            "1 is hard-coded, but the first token should be `bos_id`.",
        ),
    ],
)
