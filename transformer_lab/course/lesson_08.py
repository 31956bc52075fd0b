"""Lesson 08, text to batches: the checks of its exercises, and its quiz."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.data import batching
from transformer_lab.training import schedule

Word = tuple[str, ...]
Pair = tuple[str, str]

# ---------------------------------------------------------------- byte-pair encoding


def _count_pairs(words: dict[Word, int]) -> dict[Pair, int]:
    counts: Counter[Pair] = Counter()
    for pieces, times in words.items():
        for pair in itertools.pairwise(pieces):
            counts[pair] += times
    return dict(counts)


def _each_word_once(words: dict[Word, int]) -> dict[Pair, int]:
    return _count_pairs(dict.fromkeys(words, 1))


def _once_a_word(words: dict[Word, int]) -> dict[Pair, int]:
    counts: Counter[Pair] = Counter()
    for pieces, times in words.items():
        for pair in set(itertools.pairwise(pieces)):
            counts[pair] += times
    return dict(counts)


def _unordered(words: dict[Word, int]) -> dict[Pair, int]:
    counts: Counter[Pair] = Counter()
    for (a, b), times in _count_pairs(words).items():
        counts[min(a, b), max(a, b)] += times
    return dict(counts)


def _joined(words: dict[Word, int]) -> dict[str, int]:
    return {a + b: times for (a, b), times in _count_pairs(words).items()}


def _across_words(words: dict[Word, int]) -> dict[Pair, int]:
    text = [piece for pieces, times in words.items() for piece in pieces * times]
    return dict(Counter(itertools.pairwise(text)))


def _every_second(words: dict[Word, int]) -> dict[Pair, int]:
    counts: Counter[Pair] = Counter()
    for pieces, times in words.items():
        for pair in zip(pieces[::2], pieces[1::2], strict=False):
            counts[pair] += times
    return dict(counts)


def _counts_in_words(answer: Callable[..., Any], words: dict[Word, int]) -> str | None:
    """Counts of any kind of dictionary, in one order, so that they can be compared and shown."""
    counts = answer(words)
    if not isinstance(counts, dict):
        return counts
    return ", ".join(sorted(f"{pair}: {times}" for pair, times in counts.items() if times))


count_pairs = Check(
    reference=_count_pairs,
    run=_counts_in_words,
    cases=lambda: [
        ({("a", "b"): 3},),
        ({("l", "o", "w"): 5, ("l", "o", "o", "l", "o"): 2},),
        ({("b", "a", "n", "an", "a"): 3, ("a", "b"): 7, ("n", "a", "n", "a"): 11, ("o",): 2},),
    ],
    arguments=("words",),
    results=("the dictionary",),
    verified="neighbours inside words, counted as often as the word occurs",
    mistakes=[
        Mistake(
            _each_word_once,
            "each word is counted once; it counts as often as it occurs in the text.",
        ),
        Mistake(
            _once_a_word,
            "a pair that stands twice in a word counts twice for each time the word occurs.",
        ),
        Mistake(_unordered, "(a, b) and (b, a) are two pairs: the order matters."),
        Mistake(
            _joined, "the keys are pairs (left, right); joined to one string, they lose the border."
        ),
        Mistake(
            _across_words,
            "the last piece of a word and the first of the next are no pair: merges stay inside "
            "words.",
        ),
        Mistake(
            lambda words: {
                pair: times
                for pieces, times in words.items()
                for pair in itertools.pairwise(pieces)
            },
            "a pair's count is overwritten each time; add to it.",
        ),
        Mistake(
            _every_second,
            "only every second pair is looked at; each piece but the last has a right neighbour.",
        ),
    ],
)


def _merge(pieces: Word, pair: Pair, key: Callable[[Sequence[str]], Any] = tuple) -> list[str]:
    merged, i = [], 0
    while i < len(pieces):
        if key(pieces[i : i + 2]) == key(pair):
            merged.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


def _first_only(pieces: Word, pair: Pair) -> list[str]:
    for i in range(len(pieces) - 1):
        if pieces[i : i + 2] == pair:
            return [*pieces[:i], pair[0] + pair[1], *pieces[i + 2 :]]
    return list(pieces)


def _overlapping(pieces: Word, pair: Pair) -> list[str]:
    merged, skip = [], False
    for i, piece in enumerate(pieces):
        if pieces[i : i + 2] == pair:
            merged.append(piece + pieces[i + 1])
            skip = True
        elif skip:
            skip = False
        else:
            merged.append(piece)
    return merged


def _by_letters(pieces: Word, pair: Pair) -> list[str]:
    whole = "".join(pair)
    left, merged = "".join(pieces), []
    while left:
        size = len(whole) if left.startswith(whole) else 1
        merged.append(left[:size])
        left = left[size:]
    return merged


def _from_the_right(pieces: Word, pair: Pair) -> list[str]:
    turned = _merge(tuple(p[::-1] for p in pieces[::-1]), (pair[1][::-1], pair[0][::-1]))
    return [piece[::-1] for piece in turned[::-1]]


def _either_way(pieces: Word, pair: Pair) -> list[str]:
    return _merge(pieces, pair, key=sorted)


def _pieces_in_words(answer: Callable[..., Any], pieces: Word, pair: Pair) -> str | None:
    """The pieces as one text, whether they came as a list or as a tuple."""
    merged = answer(pieces, pair)
    return " | ".join(merged) if isinstance(merged, list | tuple) else merged


merge = Check(
    reference=_merge,
    run=_pieces_in_words,
    cases=lambda: [
        (("a", "b"), ("a", "b")),
        (("l", "o", "w", "l", "o"), ("l", "o")),
        (("a", "a", "a"), ("a", "a")),
        (("a", "a", "b", "aa", "b", "a"), ("a", "a")),
        (("lo", "w", "l", "ow"), ("lo", "w")),
        (("b", "a", "a", "b", "o"), ("a", "b")),
    ],
    arguments=("pieces", "pair"),
    results=("the list",),
    verified="every pair merged once, from left to right",
    mistakes=[
        Mistake(_first_only, "only the first pair is merged; merge all of them."),
        Mistake(
            _overlapping,
            "a a a with (a, a) gives aa a: a piece that has been merged is not merged again.",
        ),
        Mistake(
            _by_letters,
            "the letters are the same, but the pieces are not: compare pieces, not strings.",
        ),
        Mistake(_from_the_right, "go from left to right: a a a gives aa a, not a aa."),
        Mistake(_either_way, "(b, a) is merged too; only (a, b), in this order, should be."),
        Mistake(lambda pieces, pair: list(pieces), "nothing is merged."),
    ],
)

# ---------------------------------------------------------------- batches


pad = Check(
    reference=lambda sequences, pad_id: batching.pad(sequences, pad_id),
    cases=lambda: [
        ([[5, 7], [6]], 0),
        ([[5, 7, 9], [6, 8, 4, 4, 2], [3]], 0),
        ([[5, 0], [6, 8, 4]], 1),
    ],
    arguments=("sequences", "pad_id"),
    results=("the batch",),
    verified="one row for each sentence, filled up on the right, sentences left as they were",
    mistakes=[
        Mistake(
            lambda sequences, pad_id: batching.pad([s[::-1] for s in sequences], pad_id).flip(1),
            "padding stands on the left; on the right the causal mask hides it at no extra cost.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sequences, 0),
            "0 is written in; fill up with `pad_id`.",
        ),
        Mistake(
            lambda sequences, pad_id: torch.tensor(
                [s[: min(map(len, sequences))] for s in sequences]
            ),
            "cut to the shortest: words are lost. Fill up to the longest.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad([[*s, pad_id] for s in sequences], pad_id),
            "one column too many: the longest sentence needs no padding.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad([sorted(s) for s in sequences], pad_id),
            "the words have changed places.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sorted(sequences, key=len), pad_id),
            "the sentences have changed places: row i is sentence i.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sequences, pad_id).T,
            "one column for each sentence; here the batch comes first.",
        ),
    ],
)

# ---------------------------------------------------------------- label smoothing


def _smoothed(word: int, vocab_size: int, smoothing: float) -> Tensor:
    target = torch.full((vocab_size,), smoothing / vocab_size, dtype=torch.float64)
    target[word] += 1 - smoothing
    return target


def _spread(word: int, vocab_size: int, right: float, other: float) -> Tensor:
    target = torch.full((vocab_size,), other, dtype=torch.float64)
    target[word] = right
    return target


smoothed_target = Check(
    reference=_smoothed,
    cases=lambda: [(0, 4, 0.2), (2, 5, 0.1), (6, 7, 0.3)],
    arguments=("word", "vocab_size", "smoothing"),
    results=("the target",),
    verified="it sums to 1, and the right word has its share of ε too",
    tolerance=1e-6,  # single precision is right enough
    mistakes=[
        Mistake(
            lambda w, v, e: _spread(w, v, 1 - e, e / (v - 1)),
            "this spreads ε over the wrong words alone. It sums to 1, and some programs do it so; "
            "here, as in PyTorch, ε is spread over all words, the right one included.",
        ),
        Mistake(
            lambda w, v, e: _spread(w, v, 1 - e, e / v),
            "it sums to less than 1: the right word has lost its own share of ε.",
        ),
        Mistake(
            lambda w, v, e: _spread(w, v, 1.0 + e / v, e / v),
            "it sums to 1 + ε: the right word gets 1 − ε on top of its share, not 1.",
        ),
        Mistake(
            lambda w, v, e: _spread(w, v, 1.0, e / v),
            "it sums to more than 1: take ε away from the right word.",
        ),
        Mistake(lambda w, v, e: _spread(w, v, 1.0, 0.0), "nothing is smoothed: ε is not used."),
        Mistake(
            lambda w, v, e: _spread(w, v, 1 - e, e),
            "ε for every word sums to far more than 1: divide it among them.",
        ),
        Mistake(
            lambda w, v, e: _spread(w, v, e + (1 - e) / v, (1 - e) / v),
            "ε and 1 − ε have changed places.",
        ),
    ],
)

# ---------------------------------------------------------------- the schedule


def _steps() -> Sequence[tuple[int, int, int]]:
    sizes = [(512, 4_000), (37, 11)]
    return [(step, d, w) for d, w in sizes for step in (1, w // 2, w, 3 * w)]


paper_rate = Check(
    reference=schedule.paper_rate,
    cases=_steps,
    arguments=("step", "d_model", "warmup_steps"),
    results=("the rate",),
    verified="up in a straight line, then down with 1/√step; highest at the end of the warm-up",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
            "max where the paper has min: this begins high, and rises without end.",
        ),
        Mistake(
            lambda s, d, w: min(s**-0.5, s * w**-1.5),
            "d_model^−0.5 is missing: wider models get smaller rates.",
        ),
        Mistake(
            lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5),
            "multiplied by √d_model; the paper divides.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * s**-0.5,
            "there is no warm-up: the first step has the largest rate of all.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * s * w**-1.5,
            "it rises for ever: after the warm-up the rate falls with 1/√step.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(s**-0.5, s / w),
            "the two branches do not meet at step = warmup_steps: look at the exponent −1.5.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(w**-0.5, s * w**-1.5),
            "after the warm-up the rate stays; it should fall with 1/√step.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(s**-0.5, (s - 1) * w**-1.5),
            "the first step has the rate 0; steps count from 1.",
        ),
    ],
)

check = SimpleNamespace(
    count_pairs=count_pairs,
    merge=merge,
    pad=pad,
    smoothed_target=smoothed_target,
    paper_rate=paper_rate,
)

quiz = Quiz(
    [
        Question(
            "Why pieces of words instead of whole words?",
            (
                ("they make sentences shorter", "Longer: a rare word becomes several pieces."),
                (
                    "no word is unknown",
                    "Any string can be spelt in pieces, in the worst case byte by byte; and rare "
                    "forms share pieces with frequent ones.",
                ),
                (
                    "they are grammatical units",
                    "Merges follow counts; that they often look like endings is a by-product.",
                ),
            ),
            right=1,
        ),
        Question(
            "On which part of the data may a tokenizer be trained?",
            (
                (
                    "on all of it, since it learns no translations",
                    "Then test words have their own pieces, which unseen text would not have.",
                ),
                (
                    "on the test set too, if it is small",
                    "What is measured must not have been seen.",
                ),
                ("on the training set alone", "As everything else that is learnt."),
            ),
            right=2,
        ),
        Question(
            "Two batches: 1,000 real tokens with loss 2, and 100 with loss 4. What is the mean "
            "loss per token?",
            (
                (
                    "3",
                    "That is the mean of the batches; it counts a token of the small one tenfold.",
                ),
                ("2.18", "(1,000 · 2 + 100 · 4) / 1,100."),
                ("2.5", "Neither mean gives that."),
            ),
            right=1,
        ),
        Question(
            "With label smoothing 0.1, towards which value does the training loss of a perfect "
            "model go?",
            (
                (
                    "0, since it makes no mistakes",
                    "That would need all the weight on one word, and the target has not.",
                ),
                (
                    "the entropy of the smoothed target",
                    "Nothing can be below it: 0.97 nats for 633 words. Where a next word is "
                    "uncertain, even a perfect model stays above.",
                ),
                (
                    "0.1, the share that is spread over all words",
                    "A share of probability is not a loss, which is measured in nats.",
                ),
            ),
            right=1,
        ),
        Question(
            "What does the warm-up do to the learning rate?",
            (
                (
                    "it begins small and grows in a straight line",
                    "Until step = warmup_steps; then it falls with 1/√step.",
                ),
                ("it begins large and falls", "That is what comes after the warm-up."),
                ("it is constant until the model is warm", "Each step of it is a little larger."),
            ),
            right=0,
        ),
        Question(
            "What do length buckets change?",
            (
                (
                    "the loss of each sentence, through its neighbours",
                    "With the padding masked, a sentence does not know its neighbours.",
                ),
                (
                    "how much of each batch is padding",
                    "Like lengths stand together, and less is computed for nothing.",
                ),
                ("the order of the words", "Only which sentences share a batch."),
            ),
            right=1,
        ),
    ]
)
