"""Filter sentence pairs: keep those that are fit for training, and count the rest.

`corpus` and `large` apply this filter to every file and dataset.
"""

from collections import Counter
from collections.abc import Iterable

from transformer_lab.data.batching import LONGEST_WORD, is_too_long
from transformer_lab.data.pair import Pair

MOST_WORDS, MOST_RATIO = 250, 9
"""The filter's limits: the maximum number of words per side, and the maximum length ratio.

They come from the Moses project's corpus filter. Because words cannot be counted in languages
written without spaces, the length ratio is too large only if both the ratio of the word counts and
the ratio of the character counts exceed the limit.
"""


def rejection_reason(pair: Pair) -> str:
    """Return the reason why the filter rejects a pair, or "" if the pair passes."""
    if is_too_long(pair, MOST_WORDS):
        return f"with more than {MOST_WORDS} words or a word of more than {LONGEST_WORD} letters"
    sides = (pair.source, pair.target)
    counts = [sorted(len(side.split()) for side in sides), sorted(map(len, sides))]
    uneven = all(most > MOST_RATIO * least for least, most in counts)
    return (
        f"with more than {MOST_RATIO} times as many words on one side as on the other"
        if uneven
        else ""
    )


def filter_pairs(pairs: Iterable[Pair]) -> tuple[list[Pair], Counter[str]]:
    """Return the accepted pairs in order, without repeats, and the rejection count per reason."""
    fit: dict[Pair, None] = {}
    left_out: Counter[str] = Counter()
    for pair in pairs:
        reason = "repeated" if pair in fit else rejection_reason(pair)
        if reason:
            left_out[reason] += 1
        else:
            fit[pair] = None
    return list(fit), left_out


def format_filter_counts(pairs: int, left_out: Counter[str]) -> str:
    """Return one line that says how many pairs were read, and how many were left out and why."""
    reasons = ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(left_out.items()) if count
    )
    return f"{pairs:,} pairs" + (f"; left out: {reasons}" if reasons else "")
