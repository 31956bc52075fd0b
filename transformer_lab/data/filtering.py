"""Which pairs of real text are fit to train on, and how it is said what was left out."""

from collections import Counter
from collections.abc import Iterable

from transformer_lab.data.batching import LONGEST_WORD, is_too_long
from transformer_lab.data.pair import Pair

MOST_WORDS, MOST_RATIO = 250, 9
"""Longer sentences, and pairs of which one side has more than so many times the words of the other,
are left out: the limits of the Moses project's filter, which is much used before training. Of a
language that puts no spaces between words, letters are counted as well: both must be so many more."""


def why_not(pair: Pair) -> str:
    """Why the filter leaves a pair out; nothing if it does not."""
    if is_too_long(pair, MOST_WORDS):
        return f"of more than {MOST_WORDS} words, or of a word of more than {LONGEST_WORD} letters"
    sides = (pair.source, pair.target)
    counts = [sorted(len(side.split()) for side in sides), sorted(map(len, sides))]
    uneven = all(most > MOST_RATIO * least for least, most in counts)
    return f"with more than {MOST_RATIO} words for one" if uneven else ""


def filtered(pairs: Iterable[Pair]) -> tuple[list[Pair], Counter[str]]:
    """The pairs that are fit, each once and in their order, and how many are not, by reason."""
    fit: dict[Pair, None] = {}
    left_out: Counter[str] = Counter()
    for pair in pairs:
        reason = "repeated" if pair in fit else why_not(pair)
        if reason:
            left_out[reason] += 1
        else:
            fit[pair] = None
    return list(fit), left_out


def told(pairs: int, left_out: Counter[str]) -> str:
    """How many pairs were read, and how many of them were left out for which reason."""
    reasons = ", ".join(
        f"{count:,} {reason}" for reason, count in sorted(left_out.items()) if count
    )
    return f"{pairs:,} pairs" + (f"; left out: {reasons}" if reasons else "")
