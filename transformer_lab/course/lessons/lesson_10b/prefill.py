"""Checks for the exercise of lesson 10b on prefill: reading a prompt in one pass."""

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
from transformer_lab.course.judge.working import Step
from transformer_lab.course.lessons.lesson_10.greedy import as_words

Read = Callable[[Any, Any], tuple[Tensor, tuple[int, ...]]]


def _make_reader(seed: int, vocabulary: int) -> Read:
    """Return a function that reads new words and returns their logits and the extended cache.

    Each row of logits depends on all words so far. The cache is a tuple of these words.
    """
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def read(ids: Any, cache: Any) -> tuple[Tensor, tuple[int, ...]]:
        if not isinstance(ids, Sequence | np.ndarray) and not (
            isinstance(ids, Tensor) and ids.ndim == 1
        ):
            raise UnusableError(
                f"`read` needs a list of words, but got {describe_kind(ids)}. For a single word, "
                "pass [word]"
            )
        seen: tuple[int, ...] = () if cache is None else cache
        rows = []
        for word in ids:
            seen = (*seen, int(word))
            rows.append(table[sum((n + 1) * (w + 3) for n, w in enumerate(seen)) % 97])
        return torch.stack(rows) if rows else table[:0], seen

    return read


def _record_passes(answer: Callable[..., Any], read: Read, prompt: list[int], count: int) -> Any:
    """Call the answer and return the words that it writes and the words read in each pass."""
    passes: list[str] = []

    def note_and_read(ids: Any, cache: Any) -> Any:
        logits, longer = read(ids, cache)
        behind = len(longer) - len(ids)
        passes.append(f"{' '.join(str(int(i)) for i in ids)} after {behind}")
        return logits, longer

    words = as_words(answer, note_and_read, prompt, count)
    return None if words is None else (words, np.array(passes, dtype=str))


def _continue_prompt(read: Read, prompt: list[int], count: int) -> list[int]:
    words: list[int] = []
    new, cache = prompt, None
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(logits[-1].argmax())]
        words += new
    return words


def _work_out_passes(read: Read, prompt: list[int], count: int, at: tuple) -> Iterator[Step]:
    words, passes = _record_passes(_continue_prompt, read, prompt, count)
    logits, _ = read([*prompt, *words[: at[0]]], None)
    yield f"what pass {at[0]} (counted from 0) reads, and after how many words", passes[at[0]]
    yield "the last row of logits that it returns", logits[-1]
    yield "the word with the largest logit, which is written", words[at[0]]
    yield "all words written", words
    yield "what all passes read", "; ".join(passes)


_edit_writing = partial(edit_reference, _continue_prompt)

WORD_BY_WORD = (
    "new, cache = prompt, None",
    "new, cache = prompt[-1:], None\n"
    "    for word in prompt[:-1]:\n"
    "        _, cache = read([word], cache)",
)
READ_LAST_WORD = ("return words", "read(new, cache)\n    return words")
KEEP_PROMPT_CACHE = (
    "logits, cache = read(new, cache)",
    "logits, longer = read(new, cache)\n        cache = cache or longer",
)


def _random_prompt(chance: RandomValues) -> tuple:
    length, count = chance.sizes(2)
    vocabulary = chance.between(5, 20)
    prompt = chance.ids(length, below=vocabulary).tolist()
    return _make_reader(chance.between(5, 999), vocabulary), prompt, count


continued = Check(
    reference=_continue_prompt,
    run=_record_passes,
    cases=lambda: [
        (_make_reader(0, 7), [1, 5, 6], 3),
        (_make_reader(1, 11), [3, 9, 2, 0, 7], 5),
        (_make_reader(2, 5), [2], 4),
        (_make_reader(3, 13), [0, 12, 12, 1, 8, 3, 11], 2),
        (_make_reader(4, 7), [6, 2], 1),
    ],
    drawn=_random_prompt,
    results=("the list of words", "what the passes read"),
    working=_work_out_passes,
    verified="the prompt in one pass, then one new word per pass, after all earlier words",
    mistakes=[
        Mistake(
            _edit_writing(WORD_BY_WORD),
            "these are the right words, but you make too many passes. The prompt's words are all "
            "known, so read them in one pass.",
        ),
        Mistake(
            _edit_writing(WORD_BY_WORD, READ_LAST_WORD),
            "these are the right words, but you make too many passes. Read the whole prompt in "
            "one pass. And once you have the last word, there is nothing left to read.",
        ),
        Mistake(
            _edit_writing(READ_LAST_WORD),
            "these are the right words, but you make one pass too many. You do not need to know "
            "what comes after the last word.",
        ),
        Mistake(
            _edit_writing(("read(new, cache)", "read([*prompt, *words], None)")),
            "these are the right words, but you read everything again in each pass. Pass the "
            "cache on, and read only the new word.",
        ),
        Mistake(
            _edit_writing(("read(new, cache)", "read([*prompt, *words], cache)")),
            "you read words again that are already in the cache, so the cache contains them twice.",
        ),
        Mistake(
            _edit_writing(("read(new, cache)", "read(words or prompt, cache)")),
            "you read all written words in each pass, but all except the newest are already in "
            "the cache.",
        ),
        Mistake(
            _edit_writing(("prompt, None", "prompt[-1:], read(prompt, None)[1]")),
            "you read the prompt's last word twice, but the first pass already returned its row "
            "of logits.",
        ),
        Mistake(
            _edit_writing(
                ("prompt, None", "prompt[-1:], read(prompt[:-1], None)[1] if prompt[:-1] else None")
            ),
            "these are the right words, but you make one pass too many. Read the prompt's last "
            "word with the others, because its row of logits is the first one that you need.",
        ),
        Mistake(
            _edit_writing(("logits[-1]", "logits[0]")),
            "you use the first row of logits, which predicts what follows the prompt's first "
            "word. Use the last row.",
        ),
        Mistake(
            _edit_writing(("logits[-1]", "logits[max(-2, -len(logits))]")),
            "you use the second-to-last row of logits, which predicts the prompt's last word. You "
            "already know that word, so use the last row.",
        ),
        Mistake(
            _edit_writing(KEEP_PROMPT_CACHE),
            "the cache still holds only the prompt, so all written words except the newest are "
            "forgotten. Keep the longer cache that `read` returns.",
        ),
        Mistake(
            _edit_writing(KEEP_PROMPT_CACHE, READ_LAST_WORD),
            "the cache still holds only the prompt, so all written words except the newest are "
            "forgotten. Keep the longer cache that `read` returns. Also, do not read the last word "
            "that you write.",
        ),
        Mistake(
            _edit_writing(("prompt, None", "prompt[-1:], read(prompt[:-1], None)[1]")),
            "you read the prompt's last word in a separate pass, which is one pass too many. And "
            "if the prompt has only one word, nothing is left for the first pass.",
        ),
        Mistake(
            _edit_writing(("read(new, cache)", "read(new, None)")),
            "you start each pass without a cache, so the new word cannot see the words before it.",
        ),
        Mistake(
            _edit_writing(("logits[-1].argmax()", "logits.argmax()")),
            "you choose the largest logit in all rows, but only the last row predicts the next "
            "word.",
        ),
        Mistake(
            _edit_writing(("return words", "return [*prompt, *words]")),
            "you also return the prompt, but you should return only the words that come after it.",
        ),
        Mistake(
            _edit_writing(("return words", "return [*prompt, *words][-count - 1 : -1]")),
            "your list is one position off: it includes the prompt's last word, and the last "
            "written word is missing.",
        ),
        Mistake(
            _edit_writing(("range(count)", "range(count - 1)")),
            "your list is one word too short. Did you forget the first word, which comes from the "
            "pass over the prompt?",
        ),
        Mistake(
            _edit_writing(("range(count)", "range(count + 1)")),
            "your list is one word too long. The pass over the prompt already gives the first "
            "word, so count that one, too.",
        ),
        Mistake(
            lambda read, prompt, count: read(prompt, None)[0].argmax(-1).tolist()[-count:],
            "you take several words from one pass, but all rows except the last predict words of "
            "the prompt, which you already know. Use one pass for each new word.",
        ),
        Mistake(
            lambda read, prompt, count: read(prompt, None)[0].argmax(-1).tolist()[:count],
            "you write several words in one pass, but all rows except the last predict words of "
            "the prompt, which you already know. Take the first word from the last row, and use a "
            "loop for the others.",
        ),
    ],
)
