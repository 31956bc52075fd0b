"""Checks for the exercises of lesson 13: failures, reach and the smallest detectable difference."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- in what way does it fail?

EOS = 2


def _find_difference(got: Sequence[int], want: Sequence[int]) -> int:
    pairs = enumerate(zip(got, want, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(got), len(want)))


def _classify_failure(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    same = _find_difference(got, want)
    if same < len(got) and got[same] == EOS:
        return "stopped"
    if same == len(got) or same == len(want) or want[same] == EOS:
        return "went on"
    return "word"


_edit_classification = partial(edit_reference, _classify_failure)


def _compare_lengths(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    if len(got) != len(want):
        return "stopped" if len(got) < len(want) else "went on"
    return "word"


def _compare_ends(got: Sequence[int], want: Sequence[int]) -> str:
    if got == want:
        return "exact"
    if EOS in got and got.index(EOS) < len(want) - 1:
        return "stopped"
    return "went on" if len(got) > len(want) else "word"


def _compare_words(got: Sequence[int], want: Sequence[int]) -> str:
    return "exact" if sorted(got) == sorted(want) else _classify_failure(got, want)


def _excuse_last_word(got: Sequence[int], want: Sequence[int]) -> str:
    is_cut_off = got[-1] != EOS and _find_difference(got, want) == len(got) - 1
    return "went on" if is_cut_off else _classify_failure(got, want)


def _random_answer(chance: RandomValues) -> tuple:
    """Return a random case: the sentence that a model wrote, and the correct sentence.

    They agree up to a random position. After it, the model's sentence has random words, or the
    correct words in a different order. Its eos may be missing.
    """
    right = [*chance.ids(chance.between(1, 9), below=4).add(EOS + 1).tolist(), EOS]
    agreed = chance.one_of(chance.between(0, len(right) - 1), len(right) - 1, len(right))
    if agreed == len(right):
        return right, right
    others = chance.ids(chance.between(0, 3), below=4).add(EOS + 1).tolist()
    rest = chance.one_of(others, chance.random.permutation(right[agreed:-1]).tolist())
    written = [*right[:agreed], *rest]
    is_cut_off = bool(written) and chance.between(0, 2) == 0
    return written if is_cut_off else [*written, EOS], right


_REASONS = {
    "exact": "no position differs",
    "stopped": "eos is written where a word is due",
    "went on": "a word is written where eos is due",
    "cut off": "everything is right up to where it was cut off",
    "word": "a word is written in place of another word",
}


def _work_out_failure(got: Sequence[int], want: Sequence[int], at: tuple) -> Iterator[Step]:
    def name(sentence: Sequence[int]) -> str:
        there = sentence[same : same + 1]
        return "eos" if there == [EOS] else f"the word {there[0]}" if there else "nothing more"

    same, kind = _find_difference(got, want), _classify_failure(got, want)
    yield "the ids that are written", got
    yield "the right ids", want
    if kind != "exact":
        yield "the first position where they differ, counted from 0", same
        yield "what is written there", name(got)
        yield "what should be written there", name(want)
    reason = _REASONS["cut off" if kind == "went on" and same == len(got) else kind]
    yield f"{reason}, which is called", kind


failure = Check(
    reference=_classify_failure,
    cases=lambda: [
        ([5, 6, 7, EOS], [5, 6, 7, EOS]),
        ([5, 6, EOS], [5, 6, 7, EOS]),
        ([5, 6, 7, 8, EOS], [5, 6, 7, EOS]),
        ([5, 9, 7, EOS], [5, 6, 7, EOS]),
        ([5, 9, EOS], [5, 6, 7, 8, EOS]),
        ([5, 9, 7, 8, 8, EOS], [5, 6, 7, EOS]),
        ([EOS], [5, 6, EOS]),
        ([5, 6, 6, 6, 9, 9], [5, 6, EOS]),
        ([5, 6, 7], [5, 6, 7, EOS]),
        ([5, 6, 7, EOS], [5, 6, EOS]),
        ([5, 6, 7, 9, 9, 9, 9, EOS], [5, 6, 7, 8, EOS]),
        ([5, 9, 7, 7, 7, 7], [5, 6, 7, EOS]),
        ([5, 7, 6, EOS], [5, 6, 7, EOS]),  # the right words in another order
        ([5, 6, 9], [5, 6, 7, EOS]),  # cut off after its only wrong word
        ([5, 6, 9], [5, 6, EOS]),
        ([*range(500, 502)], [*range(500, 504), EOS]),  # cut off before anything was wrong
    ],
    drawn=_random_answer,
    arguments=("written", "right"),
    results=("the kind of failure",),
    working=_work_out_failure,
    verified="the first difference counts, whether an early eos, a missing eos or a wrong word",
    mistakes=[
        Mistake(
            _compare_lengths,
            "this compares the lengths, but the first wrong word decides. If an answer has a "
            "wrong word and then ends too early, its failure is “word”.",
        ),
        Mistake(
            _edit_classification(
                ('"stopped"', '"other"'), ('"went on"', '"stopped"'), ('"other"', '"went on"')
            ),
            "“stopped” and “went on” are swapped. If eos is written where a word is due, the "
            "failure is “stopped”.",
        ),
        Mistake(
            _edit_classification(
                (
                    "    if same <",
                    '    if same == min(len(got), len(want)):\n        return "exact"\n    if same <',
                )
            ),
            "an answer is not exact if it is only the beginning of the right answer. It was cut "
            "off, so it “went on”.",
        ),
        Mistake(
            _edit_classification(('"word"', '"went on"')),
            "a wrong word in place of another word is “word”. “Went on” means a word where eos is "
            "due.",
        ),
        Mistake(
            _compare_ends,
            "this looks at where eos is, but the first wrong word should decide which failure it is.",
        ),
        Mistake(
            _compare_words,
            "you accepted the same words in another order, but that is not an exact match. "
            "Compare position by position.",
        ),
        Mistake(
            _excuse_last_word,
            "you ignored the last word of an answer that was cut off. If that word is wrong, "
            "and another word was due there, the failure is “word”.",
        ),
        Mistake(
            _edit_classification(("same == len(got) or ", "")),
            "an answer that is right up to the point where it was cut off should count as “went "
            "on”, even if the right answer is longer.",
        ),
    ],
)

# ---------------------------------------------------------------- how far does it reach?


def _find_reach(lengths: Sequence[int], exact: Sequence[float]) -> int:
    found = 0
    for length, share in zip(lengths, exact, strict=True):
        if share < 0.5:
            break
        found = length
    return found


_edit_reach = partial(edit_reference, _find_reach)


def _random_shares(chance: RandomValues) -> tuple:
    count = chance.between(2, 13)
    lengths = sorted(n + 1 for n in chance.different(count, 40))
    return lengths, sorted(
        (chance.real(0.2, 1.0) for _ in lengths), reverse=chance.between(0, 3) > 0
    )


def _work_out_reach(lengths: Sequence[int], exact: Sequence[float], at: tuple) -> Iterator[Step]:
    good = [share >= 0.5 for share in exact]
    first = [*good, False].index(False)
    yield "the lengths", lengths
    yield "the share of right answers at each length", exact
    yield "whether that share is half or more", good
    yield "the first length with a share below half", "none" if all(good) else lengths[first]
    before = "the last length before that one (0 if there is none)"
    yield "the last of all lengths" if all(good) else before, _find_reach(lengths, exact)


reach = Check(
    reference=_find_reach,
    cases=lambda: [
        ([2, 4, 6], [1.0, 0.5, 0.1]),
        ([2, 4, 5, 6, 8], [1.0, 0.9, 0.2, 0.7, 0.0]),
        ([1, 2, 3], [0.3, 0.6, 0.0]),
        ([3, 5, 7, 11], [1.0, 1.0, 0.9, 0.8]),
        ([4, 9, 10], [0.5, 0.4999, 0.5]),
        ([13], [0.75]),
        ([6, 7], [0.0, 0.0]),
    ],
    drawn=_random_shares,
    results=("the length",),
    working=_work_out_reach,
    verified="the last length before the share falls below a half, or 0 if there is none",
    mistakes=[
        Mistake(
            lambda lengths, exact: max(
                (n for n, share in zip(lengths, exact, strict=True) if share >= 0.5), default=0
            ),
            "this is the longest of all lengths with at least half of the answers right. Stop at "
            "the first length with a share below 0.5, even if a longer one does better.",
        ),
        Mistake(
            _edit_reach(("< 0.5", "<= 0.5")),
            "you stop at a share of exactly 0.5, but exactly half should still count.",
        ),
        Mistake(
            _edit_reach(("break", "return length")),
            "this is the first length that is too long. The answer should be the length before it.",
        ),
        Mistake(
            _edit_reach(("zip(lengths, exact, strict=True)", "enumerate(exact)")),
            "this is the position in the list. The answer should be the length at that position.",
        ),
        Mistake(
            lambda lengths, exact: sum(share >= 0.5 for share in exact),
            "this is the number of lengths with at least half of the answers right, but you should "
            "return a length, not a count.",
        ),
        Mistake(
            _edit_reach(("< 0.5", "< 0.99")),
            "this requires (nearly) all answers to be right, but half should be enough.",
        ),
    ],
)

# ---------------------------------------------------------------- what could have been seen?


def _compute_smallest_difference(one: np.ndarray, other: np.ndarray) -> float:
    pooled = (np.var(one, ddof=1) + np.var(other, ddof=1)) / 2
    return 2 * np.sqrt(pooled) * np.sqrt(2 / len(one))


def _random_runs(chance: RandomValues) -> tuple:
    count = chance.between(3, 20)
    scale = chance.real(0.5, 9.0)
    return chance.numbers(count) + chance.real(-9, 9), chance.numbers(count, scale=scale)


def _work_out_smallest_difference(one: np.ndarray, other: np.ndarray, at: tuple) -> Iterator[Step]:
    variances = [np.var(one, ddof=1), np.var(other, ddof=1)]
    deviation = np.sqrt(np.mean(variances))
    squares = "the squared distances from each group's mean"
    yield f"both variances, {squares}, summed and divided by {len(one) - 1}", variances
    yield "their mean", np.mean(variances)
    yield "its square root, the standard deviation", deviation
    yield f"times √(2/{len(one)})", deviation * np.sqrt(2 / len(one))
    yield "times 2", _compute_smallest_difference(one, other)


smallest_difference = Check(
    reference=_compute_smallest_difference,
    cases=lambda: [
        (np.array([1.0, 5.0]), np.array([6.0, 6.0])),
        (np.array([12.0, 13.0, 17.0]), np.array([11.0, 18.0, 22.0])),
        (random_array(5, seed=1), 3 * random_array(5, seed=2) + 1),
    ],
    drawn=_random_runs,
    arguments=("one", "other"),
    results=("the difference",),
    working=_work_out_smallest_difference,
    verified="2 · sd · √(2/n), with the mean of the two variances, each divided by n − 1",
    mistakes=[
        Mistake(
            lambda a, b: 2 * np.sqrt((np.var(a) + np.var(b)) / 2) * np.sqrt(2 / len(a)),
            "your variances divide by n. With so few numbers, they should divide by n − 1 "
            "(ddof=1).",
        ),
        Mistake(
            lambda a, b: _compute_smallest_difference(a, b) / 2,
            "this is one standard error of the difference, but it should be two.",
        ),
        Mistake(
            lambda a, b: _compute_smallest_difference(a, b) / np.sqrt(2),
            "this is the uncertainty of one mean. A difference includes the uncertainty of two "
            "means, so the factor should be √(2/n).",
        ),
        Mistake(
            lambda a, b: 2 * np.std(np.concatenate([a, b]), ddof=1) * np.sqrt(2 / len(a)),
            "you pooled the two groups, so the difference between them counts as spread. Keep the "
            "groups apart.",
        ),
        Mistake(
            lambda a, b: (np.std(a, ddof=1) + np.std(b, ddof=1)) * np.sqrt(2 / len(a)),
            "this averages the two standard deviations. Average the variances, and then take the "
            "square root.",
        ),
        Mistake(
            lambda a, b: 2 * np.std(a - b, ddof=1) * np.sqrt(2 / len(a)),
            "this is the spread of the run-by-run differences. But the two groups are not paired, "
            "so use the mean of their variances.",
        ),
        Mistake(
            lambda a, b: 2 * np.std(np.concatenate([a, b])) * np.sqrt(2 / len(a)),
            "you pooled the two groups and divided the variance by n. Compute each group's "
            "variance with ddof=1, and then the mean of the two.",
        ),
        Mistake(
            lambda a, b: abs(np.mean(a) - np.mean(b)),
            "this is the difference that was found between the two means. Return the smallest "
            "difference that could have been detected.",
        ),
        Mistake(
            lambda a, b: (np.var(a, ddof=1) + np.var(b, ddof=1)) * np.sqrt(2 / len(a)),
            "this uses variances. Use the standard deviation instead, which is the square root of "
            "the mean variance.",
        ),
        Mistake(
            lambda a, b: 2 * np.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2),
            "this does not get smaller with more seeds, because the factor √(2/n) is missing.",
        ),
    ],
)
