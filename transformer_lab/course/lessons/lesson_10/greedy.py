"""Checks for the exercises of lesson 10: greedy decoding."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array
from transformer_lab.course.judge.working import Step

Scorer = Callable[[Any], Tensor]

BOS, EOS = 1, 2


def _make_scorer(
    seed: int, vocabulary: int, ends_after: int, bos: int = BOS, eos: int = EOS
) -> Scorer:
    """Return a function that computes the next word's logits from all words so far.

    After `ends_after` words, not counting bos, eos has the largest logit.
    """
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def next_logits(ids: Sequence[int] | Tensor) -> Tensor:
        words = [int(word) for word in ids]
        place = sum((n + 1) * (word + 3) for n, word in enumerate(words)) % 97
        logits = table[place].clone()
        logits[bos] = -9.0
        logits[eos] = 9.0 if len(words) > ends_after else -9.0
        return logits

    return next_logits


def _write_greedily(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    words: list[int] = []
    while len(words) < limit and eos not in words:
        words.append(int(next_logits([bos, *words]).argmax()))
    return words


def _work_out_words(
    next_logits: Scorer, bos: int, eos: int, limit: int, at: tuple
) -> Iterator[Step]:
    words = _write_greedily(next_logits, bos, eos, limit)
    read = [bos, *words[: at[0]]]
    yield f"what next_logits reads before word {at[0]} (counted from 0)", read
    yield "the logits it returns, starting with word 0 of the vocabulary", next_logits(read)
    yield "the word with the largest logit, which is written", words[at[0]]
    yield "all words written", words
    yield "why it stops there", f"{eos} is eos" if eos in words else f"the limit is {limit}"


_edit_writing = partial(edit_reference, _write_greedily)


def as_words(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Call the answer and return its list of ids as an array, or None if the answer returns None.

    Raises:
        UnusableError: If the answer returns anything else.
    """
    words = answer(*arguments)
    if words is None:
        return None
    if not isinstance(words, list | tuple):
        kind = describe_kind(words)
        raise UnusableError(f"your answer returns {kind}, but should return a list of ids")
    return np.array([as_int(word) for word in words], dtype=int)


def as_int(word: Any) -> int:
    """Convert one id of any integer type to an int.

    Raises:
        UnusableError: If the id is not a whole number.
    """
    if isinstance(word, int | np.integer) and not isinstance(word, bool):
        return int(word)
    is_one = isinstance(word, np.ndarray | Tensor) and word.ndim == 0
    if is_one and as_array(word).dtype.kind in "iu":
        return int(word)
    raise UnusableError(
        f"each id should be a whole number, but the list contains {describe_kind(word)}"
    )


def _random_scorer(chance: RandomValues) -> tuple:
    bos, eos = chance.different(2, 7)
    vocabulary, ends_after = chance.between(7, 20), chance.between(0, 11)
    return (
        _make_scorer(chance.between(5, 999), vocabulary, ends_after, bos, eos),
        bos,
        eos,
        chance.between(1, 13),
    )


greedy_words = Check(
    reference=_write_greedily,
    run=as_words,
    cases=lambda: [
        (_make_scorer(0, 7, 2), BOS, EOS, 11),
        (_make_scorer(1, 11, 5), BOS, EOS, 11),
        (_make_scorer(2, 13, 11), BOS, EOS, 5),
        (_make_scorer(3, 7, 3, bos=4, eos=0), 4, 0, 7),
        (_make_scorer(4, 307, 0, bos=2, eos=300), 2, 300, 3),
    ],
    drawn=_random_scorer,
    arguments=("next_logits", "bos", "eos", "limit"),
    results=("the list of words",),
    working=_work_out_words,
    verified="the best word each time, after reading all words so far, until eos or the limit",
    mistakes=[
        Mistake(
            _edit_writing(("return words", "return [bos, *words]")),
            "you return bos, but it is not part of the translation. The model should only read it.",
        ),
        Mistake(
            _edit_writing(("return words", "return [word for word in words if word != eos]")),
            "you leave out eos. It is part of what the model writes, and its probability counts.",
        ),
        Mistake(
            _edit_writing(("[bos, *words]", "[bos, *words][-1:]")),
            "you give the model only the last word, but it should read all words so far.",
        ),
        Mistake(
            _edit_writing(("[bos, *words]", "words or [bos]")),
            "you leave out bos, but the model should always read it first.",
        ),
        Mistake(
            _edit_writing((" and eos not in words", "")),
            "this goes on writing after eos, but it should stop there.",
        ),
        Mistake(
            _edit_writing(("argmax", "argmin")),
            "you choose the least probable word each time. Choose the most probable one.",
        ),
        Mistake(
            _edit_writing(("< limit", "< limit - 1")),
            "at the limit, your list is one word too short. Do not count bos as a word.",
        ),
        Mistake(
            _edit_writing(("< limit", "<= limit")),
            "at the limit, your list is one word too long. Stop when there are `limit` words.",
        ),
        Mistake(
            _edit_writing(("< limit", "< limit - 1"), ("return words", "return [bos, *words]")),
            "you return bos and count it as a word. Leave it out, and there is room for one more "
            "word.",
        ),
        Mistake(
            _edit_writing(
                ("return words", "return [bos, *(word for word in words if word != eos)]")
            ),
            "you keep bos and drop eos, but it should be the other way round: eos is part of what "
            "was written, and bos is not.",
        ),
        Mistake(
            _edit_writing(("< limit", "< 10_000")),
            "you ignore the limit, but a model may never write eos.",
        ),
    ],
)
