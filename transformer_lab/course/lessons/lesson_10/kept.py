"""Checks of the exercises of lesson 10: padding in front, reordered beams, and the size of a cache."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- padding in front

Places = tuple[Tensor, Tensor]


def _next_places(ids: Tensor, pad_id: int) -> Places:
    seen = ids != pad_id
    return seen.sum(dim=1), _with_itself(seen)


def _with_itself(seen: Tensor, itself: bool = True, front: bool = False) -> Tensor:
    own = torch.full_like(seen[:, :1], itself)
    return torch.cat([own, seen] if front else [seen, own], dim=1)[:, None, None, :]


def _as_if_behind(ids: Tensor, pad_id: int, more: int = 1) -> Places:
    count = (ids != pad_id).sum(dim=1)
    places = torch.arange(ids.size(1) + 1)
    return count, (places < count[:, None] + more)[:, None, None, :]


def _random_ids(chance: RandomValues) -> tuple:
    batch, length = chance.sizes(2)
    pad_id = chance.between(0, 9)
    return chance.padded(batch, length, 10, pad_id, in_front=True), pad_id


next_places = Check(
    reference=_next_places,
    cases=lambda: [
        (torch.tensor([[0, 0, 5], [4, 6, 7]]), 0),
        (torch.tensor([[1, 1, 0, 2, 5], [1, 1, 1, 1, 3], [0, 2, 2, 0, 4]]), 1),
        (torch.tensor([[7, 7, 7, 7, 7, 7, 2], [7, 7, 1, 9, 0, 3, 8]]), 7),
        # A sentence of which no word has been read yet, and one below 0.
        (torch.tensor([[-1, -1], [-1, 5], [3, 0], [-1, 2], [4, 4]]), -1),
    ],
    drawn=_random_ids,
    results=("the positions", "the mask"),
    verified="each sentence's own count of words, and a mask that hides the padding in front",
    mistakes=[
        Mistake(
            lambda ids, pad: (
                torch.full_like(ids[:, 0], ids.size(1)),
                _next_places(ids, pad)[1],
            ),
            "the position is the length of the cache, in which the padding counts: a sentence "
            "would be another one for standing beside a longer one.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0] - 1, _next_places(ids, pad)[1]),
            "this is the position of the last word that was read; the new word's is the next.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0] + 1, _next_places(ids, pad)[1]),
            "one too far: positions count from 0.",
        ),
        Mistake(
            lambda ids, pad: ((ids == pad).sum(dim=1), _next_places(ids, pad)[1]),
            "the padding is counted, and not the words.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], (ids != pad)[:, None, None, :]),
            "the mask has no column for the new word, which sees itself: past + 1.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], _with_itself(ids != pad, itself=False)),
            "the new word is hidden from itself.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], _with_itself(ids != pad, front=True)),
            "the new word's column stands in front; its key comes behind those that are kept.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], _with_itself(ids == pad)),
            'the padding is marked True; True means "may be seen".',
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], ~_next_places(ids, pad)[1]),
            'the mask is turned round: True means "may be seen", and words are.',
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], torch.ones_like(_with_itself(ids == pad))),
            "nothing is hidden: the padding has keys in the cache, too, and must not be seen.",
        ),
        Mistake(
            _as_if_behind,
            "this mask hides the last keys, as for padding behind the words. Here it is in front.",
        ),
        Mistake(
            lambda ids, pad: _as_if_behind(ids, pad, more=0),
            "this mask hides the last keys, as for padding behind the words, and the new word, too.",
        ),
        Mistake(
            lambda ids, pad: _next_places(ids, 0),
            "0 is written in; padding is `pad_id`, and in some models that is another number.",
        ),
        Mistake(
            lambda ids, pad: ((ids > pad).sum(dim=1), _with_itself(ids > pad)),
            "ids smaller than pad_id are words too: compare with !=.",
        ),
        Mistake(
            lambda ids, pad: (_next_places(ids, pad)[0], _next_places(ids, pad)[1][:, 0, 0]),
            "the mask (batch, past + 1) does not broadcast to (batch, heads, query, key): put two "
            "dimensions of size 1 in the middle.",
        ),
        Mistake(
            lambda ids, pad: ((ids != pad).cumsum(dim=1) - 1, _next_places(ids, pad)[1]),
            "these are the positions of the words that were read; one for each new word is asked.",
        ),
        Mistake(
            lambda ids, pad: (
                torch.full_like(ids[:, 0], int((ids != pad).sum(dim=1).max())),
                _next_places(ids, pad)[1],
            ),
            "all get the position of the longest sentence; each has its own.",
        ),
        Mistake(
            lambda ids, pad: ((ids != pad).sum(), _next_places(ids, pad)[1]),
            "all words of the batch are counted together; each sentence has its own count.",
        ),
    ],
)

# ---------------------------------------------------------------- beams that change places

Cache = list[tuple[Tensor, Tensor]]


def _rows(parents: Tensor) -> Tensor:
    batch, beams = parents.shape
    return (torch.arange(batch)[:, None] * beams + parents).flatten()


def _reordered(cache: Cache, parents: Tensor) -> Cache:
    rows = _rows(parents)
    return [(keys[rows], values[rows]) for keys, values in cache]


def _by(rows_of: Callable[[Tensor], Tensor]) -> Callable[..., Cache]:
    """An answer that takes other rows of the cache."""

    def answer(cache: Cache, parents: Tensor) -> Cache:
        rows = rows_of(parents)
        return [(keys[rows], values[rows]) for keys, values in cache]

    return answer


def _put_there(cache: Cache, parents: Tensor, blank: bool = False) -> Cache:
    """A mistake: old row n goes to row rows[n], and the later of two overwrites the other."""

    def put(old: Tensor) -> Tensor:
        new = torch.zeros_like(old) if blank else old.clone()
        for n, row in enumerate(_rows(parents).tolist()):
            new[row] = old[n]
        return new

    return [(put(keys), put(values)) for keys, values in cache]


def _stacked(answer: Callable[..., Any], cache: Cache, parents: Tensor) -> Any:
    """All layers' keys as one tensor, and all their values as another."""
    found = answer(cache, parents)
    if found is None:
        return None
    asked = "a list of pairs (keys, values), one for each layer, is asked"
    if not isinstance(found, list | tuple) or not found:
        raise UnusableError(f"it returns {describe_kind(found)}; {asked}")
    parts: list[list[Tensor]] = [[], []]
    for pair in found:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise UnusableError(f"a layer's entry is {describe_kind(pair)}; {asked}")
        for part, one in zip(parts, pair, strict=True):
            if not isinstance(one, Tensor):
                raise UnusableError(
                    f"in a pair stands {describe_kind(one)}; keys and values are tensors, as the next "
                    "step needs them"
                )
            if part and one.shape != part[0].shape:
                shapes = f"{tuple(part[0].shape)} and {tuple(one.shape)}"
                raise UnusableError(f"the layers do not fit together: shapes {shapes}")
            part.append(one)
    return tuple(map(torch.stack, parts))


def _cache(layers: int, batch: int, beams: int, heads: int, words: int, *widths: int) -> Cache:
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
    cache = _cache(min(layers, 3), batch, beams, heads, words, width, width + 2)
    return cache, chance.ids(batch, beams, below=beams)


reordered = Check(
    reference=_reordered,
    run=_stacked,
    cases=lambda: [
        (_cache(1, 1, 3, 2, 2, 5, 7), torch.tensor([[1, 0, 0]])),
        (_cache(2, 2, 3, 2, 5, 7, 3), torch.tensor([[0, 0, 2], [1, 0, 1]])),
        (_cache(3, 3, 2, 5, 1, 3, 2), torch.tensor([[1, 1], [0, 1], [1, 0]])),
        (_cache(2, 2, 5, 3, 7, 2, 3), torch.tensor([[4, 3, 0, 0, 1], [2, 2, 2, 4, 1]])),
    ],
    drawn=_random_cache,
    arguments=("cache", "parents"),
    results=("the keys of all layers", "the values of all layers"),
    verified="keys and values of every layer follow their beam, within each sentence",
    mistakes=[
        Mistake(
            _by(lambda parents: parents.flatten()),
            "all sentences get rows of the first one: the beams of sentence s begin at row "
            "s · beams.",
        ),
        Mistake(
            _by(lambda parents: parents),
            "one axis too many, and rows of the first sentence alone: sentence s begins at row "
            "s · beams, and a batch of rows is one axis.",
        ),
        Mistake(
            _by(lambda parents: _rows(parents).view_as(parents)),
            "the right rows with one axis too many: batch and beams are one axis of the cache.",
        ),
        Mistake(
            lambda cache, parents: [(k[_rows(parents)], v.clone()) for k, v in cache],
            "the keys follow and the values stay: both belong to the beam.",
        ),
        Mistake(
            lambda cache, parents: [(k.clone(), v[_rows(parents)]) for k, v in cache],
            "the values follow and the keys stay: both belong to the beam.",
        ),
        Mistake(
            lambda cache, parents: [*_reordered(cache[:1], parents), *cache[1:]],
            "only the first layer's follow; each layer has its keys and values.",
        ),
        Mistake(
            lambda cache, parents: _reordered(cache[:1], parents),
            "only the first layer comes back; each layer has its keys and values.",
        ),
        Mistake(
            lambda cache, parents: [(k.clone(), v.clone()) for k, v in cache],
            "nothing has moved: the new beams would read the past of others.",
        ),
        Mistake(
            _by(lambda parents: _rows(parents).argsort(stable=True)),
            "the places are sorted: parents say already which old row a new one takes.",
        ),
        Mistake(
            _put_there,
            "turned round: old beam n is put at place parents[n]. New beam j takes from parents[j].",
        ),
        Mistake(
            lambda cache, parents: _put_there(cache, parents, blank=True),
            "turned round: old beam n is put at place parents[n], and where none is put there is "
            "nothing. New beam j takes from parents[j].",
        ),
        Mistake(
            _by(lambda parents: _rows(parents).sort().values),
            "the right rows in the order of the old ones: new beam j stands at place j.",
        ),
        Mistake(
            _by(lambda parents: _rows(parents).unique()),
            "a row that two new beams go on from is there once; each needs its own.",
        ),
        Mistake(
            _by(
                lambda parents: (
                    parents + torch.arange(len(parents))[:, None] * len(parents)
                ).flatten()
            ),
            "sentence s begins at row s · beams, and not at s · batch.",
        ),
        Mistake(
            _by(lambda parents: _rows(parents).view_as(parents).T.flatten()),
            "the rows go by beam and then by sentence; the beams of a sentence lie side by side.",
        ),
        Mistake(
            lambda cache, parents: [(v, k) for k, v in _reordered(cache, parents)],
            "keys and values have changed places.",
        ),
    ],
)

# ---------------------------------------------------------------- how large it is


def _cache_numbers(
    layers: int, d_model: int, num_heads: int, num_key_value_heads: int, source: int, written: int
) -> int:
    width = d_model // num_heads
    return layers * 2 * num_key_value_heads * width * (source + written)


Sizes = tuple[int, int, int, int, int, int]


def _counted(count: Callable[..., float], hint: str) -> Mistake:
    """A wrong count, from layers, heads, key-value heads, head size, source and written words."""
    return Mistake(
        lambda layers, d_model, heads, groups, source, written: count(
            layers, heads, groups, d_model // heads, source, written
        ),
        hint,
    )


def _random_numbers(chance: RandomValues) -> tuple:
    layers, shared, times, width = chance.sizes(4)
    heads = shared * times
    return layers, heads * width, heads, shared, chance.between(1, 999), chance.between(0, 999)


cache_numbers = Check(
    reference=_cache_numbers,
    cases=lambda: [
        (1, 6, 3, 1, 2, 5),
        (2, 30, 6, 2, 7, 3),
        (3, 84, 12, 4, 5, 11),
        (6, 512, 8, 8, 1009, 997),
        (5, 70, 10, 5, 13, 0),  # before the first word the memory's are there
    ],
    drawn=_random_numbers,
    results=("the numbers",),
    verified="keys and values of the fewer heads, of own words and memory, in every layer",
    mistakes=[
        _counted(
            lambda l, h, g, w, s, t: l * 2 * h * w * (s + t),
            "all heads are counted; only num_key_value_heads of them have keys and values.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * g * w * (s + t),
            "one vector for each word is counted; both key and value are kept.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 3 * g * w * (s + t),
            "three vectors for each word are counted; queries are not kept.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * (2 * g + h) * w * (s + t),
            "queries are counted, too; a past word's query is used by nobody.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * g * w * t,
            "the memory is forgotten: cross-attention keeps keys and values of the source.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * g * w * s,
            "the written words are forgotten: self-attention keeps keys and values of them.",
        ),
        _counted(
            lambda l, h, g, w, s, t: 2 * g * w * (s + t),
            "one layer is counted; every layer has its keys and values.",
        ),
        _counted(
            lambda l, h, g, w, s, t: 2 * g * w * (s + l * t),
            "the memory's keys and values are counted once; each layer projects its own.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * g * h * w * (s + t),
            "each head is taken to be d_model wide; it is d_model // num_heads.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * (h // g) * w * (s + t),
            "num_heads // num_key_value_heads is how many queries share a key, not how many keys "
            "there are.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * w * (s + t),
            "one head is counted; num_key_value_heads of them have keys and values.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * w * (g * t + h * s),
            "the memory is counted with all heads; cross-attention's are shared as well.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * w * (h * t + g * s),
            "the written words are counted with all heads; self-attention's are shared as well.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * g * w * s * t,
            "source times written is a matrix of scores, which is not kept: words are added.",
        ),
        _counted(
            lambda l, h, g, w, s, t: 4 * l * 2 * g * w * (s + t),
            "these are bytes; numbers are asked.",
        ),
        _counted(
            lambda l, h, g, w, s, t: l * 2 * g * 64 * (s + t),
            "64 is written in; a head is d_model // num_heads wide.",
        ),
    ],
)
