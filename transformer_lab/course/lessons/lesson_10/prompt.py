"""Checks of the exercises of lesson 10: a prompt that is read in one pass, and gone on with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.lessons.lesson_10.greedy import as_words

Read = Callable[[Any, Any], tuple[Tensor, tuple[int, ...]]]


def _reader(seed: int, vocabulary: int) -> Read:
    """A function that gives logits after each new word, from all words up to it."""
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def read(ids: Any, cache: Any) -> tuple[Tensor, tuple[int, ...]]:
        if not isinstance(ids, Sequence | np.ndarray) and not (
            isinstance(ids, Tensor) and ids.ndim == 1
        ):
            raise UnusableError(
                f"read takes a list of words, and gets {describe_kind(ids)}: one word is [word]"
            )
        seen: tuple[int, ...] = () if cache is None else cache
        rows = []
        for word in ids:
            seen = (*seen, int(word))
            rows.append(table[sum((n + 1) * (w + 3) for n, w in enumerate(seen)) % 97])
        return torch.stack(rows) if rows else table[:0], seen

    return read


def _words_and_passes(answer: Callable[..., Any], read: Read, prompt: list[int], count: int) -> Any:
    """The written words, and the words that each pass has read."""
    passes: list[str] = []

    def noted(ids: Any, cache: Any) -> Any:
        logits, longer = read(ids, cache)
        behind = len(longer) - len(ids)
        passes.append(f"{' '.join(str(int(i)) for i in ids)} behind {behind}")
        return logits, longer

    words = as_words(answer, noted, prompt, count)
    return None if words is None else (words, np.array(passes, dtype=str))


def _last(logits: Tensor) -> Tensor:
    return logits[-1].argmax()


def _go_on(
    read: Read, new: Any, cache: Any, count: int, chosen: Callable[[Tensor], Tensor] = _last
) -> list[int]:
    """Read the new words, choose one, and read that, with the cache."""
    words: list[int] = []
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(chosen(logits))]
        words += new
    return words


def _continued(read: Read, prompt: list[int], count: int) -> list[int]:
    return _go_on(read, prompt, None, count)


def _reads_the_last(read: Read, prompt: list[int], count: int) -> list[int]:
    """A mistake: one pass too many, over the last word."""
    logits, cache = read(prompt, None)
    words: list[int] = []
    for _ in range(count):
        words.append(int(logits[-1].argmax()))
        logits, cache = read(words[-1:], cache)
    return words


def _prompt_word_by_word(read: Read, prompt: list[int], count: int, more: int = 0) -> list[int]:
    cache = None
    for word in prompt:
        logits, cache = read([word], cache)
    words = [int(logits[-1].argmax())]
    while len(words) < count:
        logits, cache = read(words[-1:], cache)
        words.append(int(logits[-1].argmax()))
    if more:
        read(words[-1:], cache)
    return words


def _all_again(read: Read, prompt: list[int], count: int, keep: bool = False) -> list[int]:
    words: list[int] = []
    cache = None
    for _ in range(count):
        logits, longer = read([*prompt, *words], cache)
        cache = longer if keep else None
        words.append(int(logits[-1].argmax()))
    return words


def _written_again(read: Read, prompt: list[int], count: int) -> list[int]:
    words: list[int] = []
    cache = None
    for _ in range(count):
        logits, cache = read(words or prompt, cache)
        words.append(int(logits[-1].argmax()))
    return words


def _last_of_the_prompt_twice(read: Read, prompt: list[int], count: int) -> list[int]:
    _, cache = read(prompt, None)
    return _go_on(read, prompt[-1:], cache, count)


def _last_of_the_prompt_alone(
    read: Read, prompt: list[int], count: int, guarded: bool = True
) -> list[int]:
    cache = read(prompt[:-1], None)[1] if prompt[:-1] or not guarded else None
    return _go_on(read, prompt[-1:], cache, count)


def _row(row: int) -> Callable[..., list[int]]:
    def wrote(read: Read, prompt: list[int], count: int) -> list[int]:
        return _go_on(read, prompt, None, count, lambda x: x[max(row, -len(x))].argmax())

    return wrote


def _cache_of_the_prompt(read: Read, prompt: list[int], count: int, more: int = 0) -> list[int]:
    logits, cache = read(prompt, None)
    words = [int(logits[-1].argmax())]
    while len(words) < count:
        logits, _ = read(words[-1:], cache)
        words.append(int(logits[-1].argmax()))
    if more:
        read(words[-1:], cache)
    return words


def _no_cache(read: Read, prompt: list[int], count: int) -> list[int]:
    return _go_on(lambda new, _: read(new, None), prompt, None, count)


def _flat(read: Read, prompt: list[int], count: int) -> list[int]:
    return _go_on(read, prompt, None, count, lambda logits: logits.argmax())


def _random_prompt(chance: RandomValues) -> tuple:
    length, count = chance.sizes(2)
    vocabulary = chance.between(5, 20)
    prompt = chance.ids(length, below=vocabulary).tolist()
    return _reader(chance.between(5, 999), vocabulary), prompt, count


continued = Check(
    reference=_continued,
    run=_words_and_passes,
    cases=lambda: [
        (_reader(0, 7), [1, 5, 6], 3),
        (_reader(1, 11), [3, 9, 2, 0, 7], 5),
        (_reader(2, 5), [2], 4),
        (_reader(3, 13), [0, 12, 12, 1, 8, 3, 11], 2),
        (_reader(4, 7), [6, 2], 1),
    ],
    drawn=_random_prompt,
    results=("the list of words", "what the passes read"),
    verified="the prompt in one pass, then one new word a pass, each behind all before it",
    mistakes=[
        Mistake(
            _prompt_word_by_word,
            "the right words, and too many passes: the prompt's words are all known, so one pass "
            "reads them.",
        ),
        Mistake(
            lambda read, prompt, count: _prompt_word_by_word(read, prompt, count, 1),
            "the right words, and too many passes: one pass reads the whole prompt; and when the "
            "last word is found, nothing needs to be read any more.",
        ),
        Mistake(
            _reads_the_last,
            "the right words, and one pass too many: nobody asks what comes after the last word.",
        ),
        Mistake(
            _all_again,
            "the right words, and everything is read again each time: hand the cache on, and read "
            "the new word alone.",
        ),
        Mistake(
            lambda read, prompt, count: _all_again(read, prompt, count, keep=True),
            "the cache has the words already; read again behind it they stand there twice.",
        ),
        Mistake(
            _written_again,
            "all written words are read in each pass; those but the newest are in the cache.",
        ),
        Mistake(
            _last_of_the_prompt_twice,
            "the prompt's last word is read twice: its row of logits came with the first pass.",
        ),
        Mistake(
            _last_of_the_prompt_alone,
            "the right words, and a pass too many: the prompt's last word goes with the others, "
            "and its row of logits is the first that you need.",
        ),
        Mistake(
            _row(0),
            "the first row of logits is taken: what follows the prompt's first word. Take the last.",
        ),
        Mistake(
            _row(-2),
            "the row before the last is taken: it is for the prompt's last word, which is known.",
        ),
        Mistake(
            _cache_of_the_prompt,
            "the cache stays that of the prompt, so the words written are forgotten: keep the "
            "longer one that `read` returns.",
        ),
        Mistake(
            lambda read, prompt, count: _cache_of_the_prompt(read, prompt, count, more=1),
            "the cache stays that of the prompt, so the words written are forgotten: keep the "
            "longer one that `read` returns. And the last word need not be read.",
        ),
        Mistake(
            lambda read, prompt, count: _last_of_the_prompt_alone(read, prompt, count, False),
            "the prompt's last word is read by itself: that is a pass too many, and of a prompt of "
            "one word nothing is left for the first.",
        ),
        Mistake(
            _no_cache,
            "each pass begins without a cache, so the new word knows nothing of those before it.",
        ),
        Mistake(
            _flat,
            "the largest logit of all rows together is taken; the last row alone speaks of the "
            "next word.",
        ),
        Mistake(
            lambda read, prompt, count: [*prompt, *_continued(read, prompt, count)],
            "the prompt is returned, too: only what comes behind it is asked.",
        ),
        Mistake(
            lambda read, prompt, count: [*prompt, *_continued(read, prompt, count)][
                -count - 1 : -1
            ],
            "moved by one: the prompt's last word is in it, and the last written one is not.",
        ),
        Mistake(
            lambda read, prompt, count: _continued(read, prompt, count - 1),
            "one word is missing: the first one comes from the pass over the prompt.",
        ),
        Mistake(
            lambda read, prompt, count: _continued(read, prompt, count + 1),
            "one word too many: the first one comes from the pass over the prompt.",
        ),
        Mistake(
            lambda read, prompt, count: read(prompt, None)[0].argmax(-1).tolist()[-count:],
            "one pass cannot write: its rows are the best words behind each word of the prompt, "
            "and only the last row is news.",
        ),
        Mistake(
            lambda read, prompt, count: read(prompt, None)[0].argmax(-1).tolist()[:count],
            "one pass cannot write: row n is the best word behind word n of the prompt, which the "
            "prompt says itself. Only the last row is news; then a loop begins.",
        ),
    ],
)
