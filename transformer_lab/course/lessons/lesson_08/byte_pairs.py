"""Checks for the exercises of lesson 08: byte-pair encoding."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.errors import UnusableError
from transformer_lab.course.judge.formatting import describe_kind
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

Word = tuple[str, ...]
Pair = tuple[str, str]


def _count_pairs(words: dict[Word, int]) -> dict[Pair, int]:
    counts: Counter[Pair] = Counter()
    for pieces, times in words.items():
        for pair in itertools.pairwise(pieces):
            counts[pair] += times
    return dict(counts)


def _work_out_counts(words: dict[Word, int], at: tuple) -> Iterator[Step]:
    counts = _count_pairs(words)
    if not counts:
        yield "pairs of neighbours inside a word", "none"
        yield "the dictionary", "empty"
        return
    pair = sorted(counts, key=str)[at[0]]
    inside = np.array([[*itertools.pairwise(pieces)].count(pair) for pieces in words])
    occurs = np.array([*words.values()])
    yield "a pair of neighbours", str(pair)
    yield "how often it occurs in each of the words", inside
    yield "how often each of these words occurs in the text", occurs
    yield "the two multiplied, word by word", inside * occurs
    yield "added up, the count of this pair", counts[pair]


_edit_counting = partial(edit_reference, _count_pairs)


def _count_across_words(words: dict[Word, int]) -> dict[Pair, int]:
    text = [piece for pieces, times in words.items() for piece in pieces * times]
    return dict(Counter(itertools.pairwise(text)))


def _sort_pairs(answer: Callable[..., Any], words: dict[Word, int]) -> Any:
    """Call the answer and return its pairs and their counts as two arrays, sorted by pair."""
    counts = answer(words)
    if counts is None:
        return None
    if not isinstance(counts, dict):
        raise UnusableError(
            f"your answer returns {describe_kind(counts)}, but should return a dict that maps "
            "(left, right) to a count"
        )
    rows = sorted((str(pair), times) for pair, times in counts.items() if times)
    return np.array([pair for pair, _ in rows], dtype=str), np.array([times for _, times in rows])


def _random_letters(chance: RandomValues, longest: int) -> Word:
    """Return a random word built from only four different subwords, so pairs repeat and overlap."""
    return tuple(chance.one_of("a", "b", "ab", "aa") for _ in range(chance.between(0, longest)))


def _random_words(chance: RandomValues) -> tuple:
    return (
        {_random_letters(chance, 9): chance.between(1, 30) for _ in range(chance.between(2, 11))},
    )


count_pairs = Check(
    reference=_count_pairs,
    run=_sort_pairs,
    cases=lambda: [
        ({("a", "b"): 3},),
        ({("l", "o", "w"): 5, ("l", "o", "o", "l", "o"): 2},),
        ({("b", "a", "n", "an", "a"): 3, ("a", "b"): 7, ("n", "a", "n", "a"): 11, ("o",): 2},),
        ({("a", "a", "a"): 5, ("aa", "a"): 3, (): 7},),
        ({},),
    ],
    drawn=_random_words,
    arguments=("words",),
    results=("the list of pairs", "the list of counts"),
    working=_work_out_counts,
    verified="neighbours inside words, counted as often as the word occurs",
    mistakes=[
        Mistake(
            _edit_counting(("+= times", "+= 1")),
            "you count each word once, but it should count as many times as it occurs in the text.",
        ),
        Mistake(
            _edit_counting(("itertools.pairwise(pieces)", "set(itertools.pairwise(pieces))")),
            "you count each pair only once per word, but a pair that occurs twice in a word "
            "should be counted twice for each occurrence of the word.",
        ),
        Mistake(
            _edit_counting(("counts[pair]", "counts[min(pair), max(pair)]")),
            "you count (a, b) and (b, a) as one pair, but the order matters.",
        ),
        Mistake(
            _edit_counting(("counts[pair]", "counts[''.join(pair)]")),
            "you join each pair into one string, so it is no longer clear where the left piece "
            "ends. Use pairs (left, right) as keys.",
        ),
        Mistake(
            _count_across_words,
            "you count the last piece of one word and the first piece of the next as a pair, but "
            "only neighbours inside a word should count.",
        ),
        Mistake(
            _edit_counting(("+= times", "= times")),
            "you overwrite a pair's count when the pair occurs again. Add to the count instead.",
        ),
        Mistake(
            _edit_counting(
                ("itertools.pairwise(pieces)", "zip(pieces[::2], pieces[1::2], strict=False)")
            ),
            "you count only every second pair, but each piece except the last forms a pair with "
            "its right neighbour.",
        ),
    ],
)


def _merge(pieces: Word, pair: Pair) -> list[str]:
    merged, i = [], 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            merged.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


def _work_out_merging(pieces: Word, pair: Pair, at: tuple) -> Iterator[Step]:
    merged = _merge(pieces, pair)
    begins = [n for n in range(len(pieces)) if tuple(pieces[n : n + 2]) == pair]
    taken: list[int] = []
    for n in begins:
        taken += [n] if n - 1 not in taken else []
    yield "the positions, counted from 0, at which the pair begins", begins
    yield "the ones that are merged (no piece is merged twice)", taken
    if merged:
        yield f"piece {at[0]} of the new list (counted from 0)", merged[at[0]]
    yield "the new list", merged


_edit_merging = partial(edit_reference, _merge)


def _merge_overlapping(pieces: Word, pair: Pair) -> list[str]:
    merged, skip = [], False
    for i, piece in enumerate(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            merged.append(piece + pieces[i + 1])
            skip = True
        elif skip:
            skip = False
        else:
            merged.append(piece)
    return merged


def _merge_letters(pieces: Word, pair: Pair) -> list[str]:
    whole = "".join(pair)
    left, merged = "".join(pieces), []
    while left:
        size = len(whole) if left.startswith(whole) else 1
        merged.append(left[:size])
        left = left[size:]
    return merged


def _merge_from_right(pieces: Word, pair: Pair) -> list[str]:
    turned = _merge(tuple(p[::-1] for p in pieces[::-1]), (pair[1][::-1], pair[0][::-1]))
    return [piece[::-1] for piece in turned[::-1]]


def _make_array(answer: Callable[..., Any], pieces: Word, pair: Pair) -> Any:
    """Call the answer and convert its list or tuple of strings to an array."""
    merged = answer(pieces, pair)
    if merged is None:
        return None
    if not (isinstance(merged, list | tuple) and all(isinstance(p, str) for p in merged)):
        raise UnusableError(
            f"your answer returns {describe_kind(merged)}, but should return a list of strings"
        )
    return np.array(merged, dtype=str)


def _random_pieces(chance: RandomValues) -> tuple:
    """Return a random case: the subwords of a word, and a pair to merge."""
    pieces = (*_random_letters(chance, 15), "a", *_random_letters(chance, 15))
    at = chance.between(0, max(0, len(pieces) - 2))
    return pieces, (*pieces[at : at + 2], "a")[:2]


merge = Check(
    reference=_merge,
    run=_make_array,
    cases=lambda: [
        (("a", "b"), ("a", "b")),
        (("l", "o", "w", "l", "o"), ("l", "o")),
        (("a", "a", "a"), ("a", "a")),
        (("a", "a", "b", "aa", "b", "a"), ("a", "a")),
        (("lo", "w", "l", "ow"), ("lo", "w")),
        (("b", "a", "a", "b", "o"), ("a", "b")),
        (["x", "a", "b", "a", "b"], ("a", "b")),
        (("a", "a", "a", "a", "a"), ("a", "a")),
        (("a",), ("a", "b")),
        ((), ("a", "b")),
    ],
    drawn=_random_pieces,
    arguments=("pieces", "pair"),
    results=("the list of pieces",),
    working=_work_out_merging,
    verified="every occurrence of the pair is merged, from left to right",
    mistakes=[
        Mistake(
            _edit_merging(("tuple(pieces[i : i + 2])", "pieces[i : i + 2]")),
            "this works if `pieces` is a tuple, but nothing in a list is merged, because a list "
            "never equals a tuple such as `pair`.",
        ),
        Mistake(
            _edit_merging(("i += 2", "return [*merged, *pieces[i + 2 :]]")),
            "you merge only the first occurrence of the pair, but you should merge all of them.",
        ),
        Mistake(
            _merge_overlapping,
            "you merge the same piece twice, but each piece should be merged only once. For "
            "example, merging (a, a) should turn `a a a` into `aa a`.",
        ),
        Mistake(
            _merge_letters,
            "you merge wherever the letters match, even if the pieces do not. Compare pieces, not "
            "letters.",
        ),
        Mistake(
            _merge_from_right,
            "you merge from right to left. Go from left to right, so that `a a a` becomes `aa a`, "
            "not `a aa`.",
        ),
        Mistake(
            _edit_merging(
                ("tuple(pieces[i : i + 2]) == pair", "sorted(pieces[i : i + 2]) == sorted(pair)")
            ),
            "you also merge (b, a), but you should merge only (a, b), in that order.",
        ),
        Mistake(lambda pieces, pair: list(pieces), "nothing is merged."),
    ],
)
