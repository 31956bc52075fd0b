"""Checks for the exercises of lesson 10b on the KV cache: reordering it for beams, and its size."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- beams that change places

Cache = list[tuple[Tensor, Tensor]]


def _reorder_cache(cache: Cache, parents: Tensor) -> Cache:
    batch, beams = parents.shape
    rows = (torch.arange(batch)[:, None] * beams + parents).flatten()
    return [(keys[rows], values[rows]) for keys, values in cache]


def _work_out_rows(cache: Cache, parents: Tensor, at: tuple) -> Iterator[Step]:
    layer, row, *inner = at
    sentence, beam = divmod(row, parents.size(1))
    parent, (keys, values) = int(parents[sentence, beam]), cache[layer]
    old = (sentence * parents.size(1) + parent, *inner[:2])
    which = f"head {inner[0]}, word {inner[1]}"
    yield f"row {row} is beam {beam} of sentence {sentence} and continues old beam", parent
    yield f"the beams of sentence {sentence} start at row", sentence * parents.size(1)
    yield "so the old row is", old[0]
    yield f"its key in layer {layer}, {which} (all counted from 0)", keys[old]
    yield "its value in the same place", values[old]


_edit_reordering = partial(edit_reference, _reorder_cache)


def _move_beams_to_parents(cache: Cache, parents: Tensor, blank: bool = False) -> Cache:
    """Mimic a mistake: put old beam n into row parents[n], where a later beam may overwrite it."""
    batch, beams = parents.shape
    rows = (torch.arange(batch)[:, None] * beams + parents).flatten().tolist()

    def move(old: Tensor) -> Tensor:
        new = torch.zeros_like(old) if blank else old.clone()
        for n, row in enumerate(rows):
            new[row] = old[n]
        return new

    return [(move(keys), move(values)) for keys, values in cache]


def _stack_layers(answer: Callable[..., Any], cache: Cache, parents: Tensor) -> Any:
    """Call the answer and return the keys of all layers as one tensor and the values as another."""
    found = answer(cache, parents)
    if found is None:
        return None
    asked = "but should be a list of pairs (keys, values), one for each layer"
    if not isinstance(found, list | tuple) or not found:
        raise UnusableError(f"the result is {describe_kind(found)}, {asked}")
    parts: list[list[Tensor]] = [[], []]
    for pair in found:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise UnusableError(
                f"a layer's entry is {describe_kind(pair)}, but should be a pair (keys, values)"
            )
        for part, one in zip(parts, pair, strict=True):
            if not isinstance(one, Tensor):
                raise UnusableError(
                    f"a pair contains {describe_kind(one)}, but the next step needs keys and "
                    "values that are tensors"
                )
            if part and one.shape != part[0].shape:
                shapes = f"{tuple(part[0].shape)} and {tuple(one.shape)}"
                raise UnusableError(
                    f"all layers should have the same shape, but two of them have {shapes}"
                )
            part.append(one)
    return tuple(map(torch.stack, parts))


def _make_cache(layers: int, batch: int, beams: int, heads: int, words: int, *widths: int) -> Cache:
    shape = (batch * beams, heads, words)
    return [
        (
            torch.tensor(random_array(*shape, widths[0], seed=2 * n)),
            torch.tensor(random_array(*shape, widths[1], seed=2 * n + 1)),
        )
        for n in range(layers)
    ]


def _random_cache(chance: RandomValues) -> tuple:
    layers, batch, beams, heads, words, width = chance.sizes(6)
    cache = _make_cache(min(layers, 3), batch, beams, heads, words, width, width + 2)
    return cache, chance.ids(batch, beams, below=beams)


reordered = Check(
    reference=_reorder_cache,
    run=_stack_layers,
    cases=lambda: [
        (_make_cache(1, 1, 3, 2, 2, 5, 7), torch.tensor([[1, 0, 0]])),
        (_make_cache(2, 2, 3, 2, 5, 7, 3), torch.tensor([[0, 0, 2], [1, 0, 1]])),
        (_make_cache(3, 3, 2, 5, 1, 3, 2), torch.tensor([[1, 1], [0, 1], [1, 0]])),
        (_make_cache(2, 2, 131, 3, 1, 2, 3), (37 * torch.arange(262) % 131).reshape(2, 131)),
    ],
    drawn=_random_cache,
    arguments=("cache", "parents"),
    results=("the keys of all layers", "the values of all layers"),
    working=_work_out_rows,
    verified="keys and values of every layer follow their beam, within each sentence",
    mistakes=[
        Mistake(
            _edit_reordering(("(torch.arange(batch)[:, None] * beams + parents)", "parents")),
            "you take every sentence's rows from the first sentence, but the beams of sentence s "
            "begin at row s · beams.",
        ),
        Mistake(
            _edit_reordering(
                ("(torch.arange(batch)[:, None] * beams + parents).flatten()", "parents")
            ),
            "you take all rows from the first sentence, and there is one axis too many. Sentence "
            "s begins at row s · beams, and all rows should lie along one axis.",
        ),
        Mistake(
            _edit_reordering((".flatten()", "")),
            "these are the right rows with one axis too many. In the cache, batch and beams share "
            "one axis.",
        ),
        Mistake(
            _edit_reordering(("values[rows]", "values.clone()")),
            "you move the keys but leave the values where they were. Both should follow their "
            "beam.",
        ),
        Mistake(
            _edit_reordering(("keys[rows]", "keys.clone()")),
            "you move the values but leave the keys where they were. Both should follow their "
            "beam.",
        ),
        Mistake(
            lambda cache, parents: [*_reorder_cache(cache[:1], parents), *cache[1:]],
            "you reorder only the first layer's keys and values, but you should reorder those of "
            "every layer.",
        ),
        Mistake(
            _edit_reordering(("in cache", "in cache[:1]")),
            "you return only the first layer, but you should return the keys and values of every "
            "layer.",
        ),
        Mistake(
            _edit_reordering(("keys[rows], values[rows]", "keys.clone(), values.clone()")),
            "you have not moved anything, so the new beams would read another beam's past.",
        ),
        Mistake(
            _edit_reordering((".flatten()", ".flatten().argsort(stable=True)")),
            "you used the order that sorts the parents, but `parents` itself already says which "
            "old beam each new beam continues.",
        ),
        Mistake(
            _move_beams_to_parents,
            "this is the wrong way round. You put old beam n into row parents[n], but new beam j "
            "should copy old beam parents[j].",
        ),
        Mistake(
            lambda cache, parents: _move_beams_to_parents(cache, parents, blank=True),
            "this is the wrong way round. You put old beam n into row parents[n], so some rows "
            "stay empty. New beam j should copy old beam parents[j].",
        ),
        Mistake(
            _edit_reordering((".flatten()", ".flatten().sort().values")),
            "these are the right rows, but in the order of the old beams. New beam j should be in "
            "row j.",
        ),
        Mistake(
            _edit_reordering((".flatten()", ".flatten().unique()")),
            "you keep a row only once even if two new beams continue it, but each of them needs "
            "its own copy.",
        ),
        Mistake(
            _edit_reordering(("* beams", "* batch")),
            "you start sentence s at row s · batch, but it should start at row s · beams.",
        ),
        Mistake(
            _edit_reordering((".flatten()", ".T.flatten()")),
            "you order the rows by beam and then by sentence, but the beams of a sentence should "
            "lie side by side.",
        ),
        Mistake(
            _edit_reordering(("keys[rows], values[rows]", "values[rows], keys[rows]")),
            "keys and values are swapped.",
        ),
    ],
)

# ---------------------------------------------------------------- how large it is


def _count_numbers(
    layers: int, d_model: int, num_heads: int, num_key_value_heads: int, source: int, written: int
) -> int:
    width = d_model // num_heads
    return layers * 2 * num_key_value_heads * width * (source + written)


def _work_out_numbers(
    layers: int,
    d_model: int,
    num_heads: int,
    num_key_value_heads: int,
    source: int,
    written: int,
    at: tuple,
) -> Iterator[Step]:
    width = d_model // num_heads
    of_a_word = 2 * num_key_value_heads * width
    yield f"the width of a head, {d_model} divided by {num_heads}", width
    yield f"a word's keys and values in one layer, 2 · {num_key_value_heads} · {width}", of_a_word
    yield f"the words, {source} in the memory and {written} written", source + written
    yield "these two numbers multiplied, for one layer", of_a_word * (source + written)
    yield f"{layers} times that, for all layers", layers * of_a_word * (source + written)


_edit_count = partial(edit_reference, _count_numbers)


def _random_numbers(chance: RandomValues) -> tuple:
    layers, shared, times, width = chance.sizes(4)
    heads = shared * times
    return layers, heads * width, heads, shared, chance.between(1, 999), chance.between(0, 999)


cache_numbers = Check(
    reference=_count_numbers,
    cases=lambda: [
        (1, 6, 3, 1, 2, 5),
        (2, 30, 6, 2, 7, 3),
        (3, 84, 12, 4, 5, 11),
        (6, 512, 8, 8, 1009, 997),
        (5, 70, 10, 5, 13, 0),  # before the first word, only the memory's are there
    ],
    drawn=_random_numbers,
    results=("the count",),
    working=_work_out_numbers,
    verified="keys and values of the shared heads, for written words and memory, in every layer",
    mistakes=[
        Mistake(
            _edit_count(("* num_key_value_heads", "* num_heads")),
            "you count `num_heads` heads, but there are only `num_key_value_heads` heads of keys "
            "and values.",
        ),
        Mistake(
            _edit_count((" * 2", "")),
            "you count one vector for each word, but the cache stores both its key and its value.",
        ),
        Mistake(
            _edit_count(("* 2", "* 3")),
            "you count three vectors for each word, but the cache does not store queries.",
        ),
        Mistake(
            _edit_count(("2 * num_key_value_heads", "(2 * num_key_value_heads + num_heads)")),
            "you also count queries, but a past word's query is never used again.",
        ),
        Mistake(
            _edit_count(("(source + written)", "written")),
            "you forget the memory, but the cache also holds its keys and values, for "
            "cross-attention.",
        ),
        Mistake(
            _edit_count(("(source + written)", "source")),
            "you forget the written words, but the cache also holds their keys and values, for "
            "self-attention.",
        ),
        Mistake(
            _edit_count(("layers * 2", "2")),
            "you count only one layer, but every layer has its own keys and values.",
        ),
        Mistake(
            _edit_count(("layers * 2", "2"), ("(source + written)", "(source + layers * written)")),
            "you count the memory's keys and values only once, but each layer computes its own.",
        ),
        Mistake(
            _edit_count(("d_model // num_heads", "d_model")),
            "you use d_model as the width of a head, but it should be d_model // num_heads.",
        ),
        Mistake(
            _edit_count(("* num_key_value_heads", "* (num_heads // num_key_value_heads)")),
            "you use num_heads // num_key_value_heads, but this is the number of query heads that "
            "share a key head, not the number of key heads.",
        ),
        Mistake(
            _edit_count((" * num_key_value_heads", "")),
            "you count only one head, but there are `num_key_value_heads` heads of keys and "
            "values.",
        ),
        Mistake(
            _edit_count(
                ("num_key_value_heads * width", "width"),
                ("(source + written)", "(num_heads * source + num_key_value_heads * written)"),
            ),
            "you count `num_heads` heads for the memory, but cross-attention, like self-attention, "
            "has only `num_key_value_heads` heads of keys and values.",
        ),
        Mistake(
            _edit_count(
                ("num_key_value_heads * width", "width"),
                ("(source + written)", "(num_key_value_heads * source + num_heads * written)"),
            ),
            "you count `num_heads` heads for the written words, but self-attention, like "
            "cross-attention, has only `num_key_value_heads` heads of keys and values.",
        ),
        Mistake(
            _edit_count(("(source + written)", "source * written")),
            "you multiply `source` by `written`, which is the size of a matrix of scores, but the "
            "cache does not store scores. Add the two numbers instead.",
        ),
        Mistake(
            _edit_count(("return", "return 4 *")),
            "this is the size in bytes, but you should count how many numbers there are.",
        ),
        Mistake(
            _edit_count(("d_model // num_heads", "64")),
            "64 is hard-coded, but the width of a head is d_model // num_heads.",
        ),
    ],
)
