"""Checks of the exercises of lesson 10: greedy decoding."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array

Scorer = Callable[[Any], Tensor]

BOS, EOS = 1, 2


def _scorer(seed: int, vocabulary: int, ends_after: int, bos: int = BOS, eos: int = EOS) -> Scorer:
    """A function that gives logits from all words so far; eos is best after `ends_after` of them."""
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def next_logits(ids: Sequence[int] | Tensor) -> Tensor:
        words = [int(word) for word in ids]
        place = sum((n + 1) * (word + 3) for n, word in enumerate(words)) % 97
        logits = table[place].clone()
        logits[bos] = -9.0
        logits[eos] = 9.0 if len(words) > ends_after else -9.0
        return logits

    return next_logits


def _greedy(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    words: list[int] = []
    while len(words) < limit and eos not in words:
        words.append(int(next_logits([bos, *words]).argmax()))
    return words


def as_words(answer: Callable[..., Any], *arguments: Any) -> Any:
    """The list of written ids as an array; UnusableError for anything else."""
    words = answer(*arguments)
    if words is None:
        return None
    if not isinstance(words, list):
        raise UnusableError(f"it returns {describe_kind(words)}; a list of ids is asked")
    return np.array([whole(word) for word in words], dtype=int)


def whole(word: Any) -> int:
    """One id as an int, from any kind of whole number; UnusableError for anything else."""
    if isinstance(word, int | np.integer) and not isinstance(word, bool):
        return int(word)
    is_one = isinstance(word, np.ndarray | Tensor) and word.ndim == 0
    if is_one and as_array(word).dtype.kind in "iu":
        return int(word)
    raise UnusableError(f"an id is a whole number; in the list stands {describe_kind(word)}")


def _reads_only_the_last(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    return _greedy(lambda ids: next_logits(ids[-1:]), bos, eos, limit)


def _reads_no_bos(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    return _greedy(lambda ids: next_logits(ids[1:] or ids), bos, eos, limit)


def _never_stops(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    words: list[int] = []
    for _ in range(limit):
        words.append(int(next_logits([bos, *words]).argmax()))
    return words


def _random_scorer(chance: RandomValues) -> tuple:
    bos, eos = chance.different(2, 7)
    vocabulary, ends_after = chance.between(7, 20), chance.between(0, 11)
    return (
        _scorer(chance.between(5, 999), vocabulary, ends_after, bos, eos),
        bos,
        eos,
        chance.between(1, 13),
    )


greedy_words = Check(
    reference=_greedy,
    run=as_words,
    cases=lambda: [
        (_scorer(0, 7, 2), BOS, EOS, 11),
        (_scorer(1, 11, 5), BOS, EOS, 11),
        (_scorer(2, 13, 11), BOS, EOS, 5),
        (_scorer(3, 7, 3, bos=4, eos=0), 4, 0, 7),
        (_scorer(4, 5, 0, bos=2, eos=1), 2, 1, 3),
    ],
    drawn=_random_scorer,
    arguments=("next_logits", "bos", "eos", "limit"),
    results=("the list of words",),
    verified="the best word each time, all words so far are read, stop at eos or at the limit",
    mistakes=[
        Mistake(
            lambda *a: [a[1], *_greedy(*a)],
            "bos is no word of the translation: it is read, and not returned.",
        ),
        Mistake(
            lambda *a: [w for w in _greedy(*a) if w != a[2]],
            "eos is missing. It belongs to what was written: its probability counts too.",
        ),
        Mistake(
            _reads_only_the_last,
            "only the last word is read; the model wants all words so far.",
        ),
        Mistake(_reads_no_bos, "bos is not read; the model has always begun with it."),
        Mistake(_never_stops, "it writes on behind eos; stop there."),
        Mistake(
            lambda f, bos, eos, limit: _greedy(lambda ids: -f(ids), bos, eos, limit),
            "this takes the least probable word each time.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, limit - 1),
            "one word too few at the limit: bos does not count.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, limit + 1),
            "one word too many at the limit: stop when there are `limit` words.",
        ),
        Mistake(
            lambda f, bos, eos, limit: [bos, *_greedy(f, bos, eos, limit - 1)],
            "bos is returned, and counted as a word: leave it out, and there is room for one more.",
        ),
        Mistake(
            lambda *a: [a[1], *(w for w in _greedy(*a) if w != a[2])],
            "the two ends have changed places: eos belongs to what was written, bos does not.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, 10_000),
            "the limit is not kept: a model may never write eos.",
        ),
    ],
)
