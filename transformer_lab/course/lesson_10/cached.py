"""Lesson 10: one step with a cache, and a prompt that is read in one pass."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer_lab.course.cases import draw
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.errors import UnusableError
from transformer_lab.course.lesson_10.greedy import as_words
from transformer_lab.course.words import kind_of

# ---------------------------------------------------------------- one step with a cache

Step = tuple[Tensor, Tensor, Tensor]


def _grown(x: Tensor, keys: Tensor, values: Tensor, w_k: Tensor, w_v: Tensor) -> Any:
    return torch.cat([keys, (x @ w_k)[:, None]], 1), torch.cat([values, (x @ w_v)[:, None]], 1)


def _attend(query: Tensor, keys: Tensor, values: Tensor, scale: float | None = None) -> Tensor:
    """One query (batch, d_k) among keys (batch, words, d_k)."""
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
    """Only the newest key and value are kept."""
    _, keys, values = _cached_step(x, keys, values, *projections)
    return values[:, -1], keys[:, -1:], values[:, -1:]


def _all_new_outputs(x: Tensor, keys: Tensor, values: Tensor, w_q: Any, w_k: Any, w_v: Any) -> Any:
    """Past queries, too: here the old keys ask."""
    old = keys
    keys, values = _grown(x, keys, values, w_k, w_v)
    queries = torch.cat([old, (x @ w_q)[:, None]], 1)
    return (queries @ keys.mT / keys.size(-1) ** 0.5).softmax(dim=-1) @ values, keys, values


def _step_cases() -> list[tuple]:
    # (batch, past, d_model, d_k, d_v): no words yet, too.
    shapes = ((1, 2, 3, 5, 2), (2, 3, 5, 7, 11), (3, 0, 7, 2, 5), (5, 11, 2, 3, 7))
    return [
        tuple(
            torch.tensor(draw(*shape, seed=10 * n + k))
            for k, shape in enumerate(
                ((b, d), (b, past, d_k), (b, past, d_v), (d, d_k), (d, d_k), (d, d_v))
            )
        )
        for n, (b, past, d, d_k, d_v) in enumerate(shapes)
    ]


cached_step = Check(
    reference=_cached_step,
    cases=_step_cases,
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
        Mistake(_no_softmax, "the softmax is missing: these are scores times values."),
        Mistake(
            _all_new_outputs,
            "there is an output for each past word, too. Nobody needs them, and kept keys are no "
            "queries: the new word alone asks.",
        ),
    ],
)

# ---------------------------------------------------------------- the prompt in one pass

Read = Callable[[Any, Any], tuple[Tensor, tuple[int, ...]]]


def _reader(seed: int, vocabulary: int) -> Read:
    """Logits after each new word, which depend on all words behind which it stands."""
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def read(ids: Any, cache: Any) -> tuple[Tensor, tuple[int, ...]]:
        if not isinstance(ids, Sequence | np.ndarray) and not (
            isinstance(ids, Tensor) and ids.ndim == 1
        ):
            raise UnusableError(
                f"read takes a list of words, and gets {kind_of(ids)}: one word is [word]"
            )
        seen: tuple[int, ...] = () if cache is None else cache
        rows = []
        for word in ids:
            seen = (*seen, int(word))
            rows.append(table[sum((n + 1) * (w + 3) for n, w in enumerate(seen)) % 97])
        return torch.stack(rows) if rows else table[:0], seen

    return read


def _words_and_passes(answer: Callable[..., Any], read: Read, prompt: list[int], count: int) -> Any:
    """The words, and what each pass has read."""
    passes: list[str] = []

    def noted(ids: Any, cache: Any) -> Any:
        logits, longer = read(ids, cache)
        behind = len(longer) - len(ids)
        passes.append(f"{' '.join(str(int(i)) for i in ids)} behind {behind}")
        return logits, longer

    words = as_words(answer, noted, prompt, count)
    return None if words is None else (words, np.array(passes, dtype=str))


def _continued(read: Read, prompt: list[int], count: int) -> list[int]:
    words: list[int] = []
    new, cache = prompt, None
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(logits[-1].argmax())]
        words += new
    return words


def _reads_the_last(read: Read, prompt: list[int], count: int) -> list[int]:
    """A word, then a pass over it, once too often."""
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
    words, new = [], prompt[-1:]
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(logits[-1].argmax())]
        words += new
    return words


def _last_of_the_prompt_alone(
    read: Read, prompt: list[int], count: int, guarded: bool = True
) -> list[int]:
    cache = read(prompt[:-1], None)[1] if prompt[:-1] or not guarded else None
    words, new = [], prompt[-1:]
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(logits[-1].argmax())]
        words += new
    return words


def _row(row: int) -> Callable[..., list[int]]:
    def wrote(read: Read, prompt: list[int], count: int) -> list[int]:
        words: list[int] = []
        new, cache = prompt, None
        for _ in range(count):
            logits, cache = read(new, cache)
            new = [int(logits[max(row, -len(logits))].argmax())]
            words += new
        return words

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
    words: list[int] = []
    new = prompt
    for _ in range(count):
        logits, _ = read(new, None)
        new = [int(logits[-1].argmax())]
        words += new
    return words


def _flat(read: Read, prompt: list[int], count: int) -> list[int]:
    words: list[int] = []
    new, cache = prompt, None
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [int(logits.argmax())]
        words += new
    return words


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
