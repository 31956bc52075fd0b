"""Split real text so that training, validation and test sets share no sentences or near copies.

`corpus`, `corpora` and `large` use this module. A test on training sentences would only measure
memorisation.
"""

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from transformer_lab.config import describe_count, join_with_and
from transformer_lab.data.pair import Pair, SentencePair, Splits
from transformer_lab.data.text import remove_invisible, to_nfc


def split_pairs(
    pairs: Iterable[Pair], *, seed: int = 0, validation: int | None = None, test: int | None = None
) -> Splits[Pair]:
    """Split pairs by source, keeping sources with the same `source_key` in the same split.

    A repeated pair counts once. Sources that differ only in their numbers have the same key, so
    they stay together. There is one exception: if ignoring the numbers would more than halve the
    count of distinct sources (see `digits_matter`), as with sources such as "483" or "14 Feb 2021",
    the task is about the digits. In that case, sources with different numbers count as different.

    Args:
        pairs: The sentence pairs.
        seed: The random seed that determines which sources are held out.
        validation: The number of source sentences for validation; by default, a twentieth of all
            source sentences, but at most 1,000.
        test: The number of source sentences for testing, with the same default.

    Raises:
        ValueError: If there are too few sentences for these sizes.
    """
    pairs = list(pairs)
    key = number_key if digits_matter(pairs) else source_key
    return split_groups(((key(pair.source), pair) for pair in pairs), seed, validation, test, key)


def digits_matter(pairs: Iterable[SentencePair]) -> bool:
    """Return whether ignoring the numbers would more than halve the count of distinct sources."""
    keys = {number_key(pair.source) for pair in pairs}
    return most_differ_in_digits(len({without_digits(key) for key in keys}), len(keys))


def explain_new_split(splits: Splits[Any]) -> str:
    """Return a note for the message that a corpus has changed since the model was trained on it.

    The note says that earlier versions of this package split the corpus differently. If
    `digits_matter` is False, the split is still the same, so the note is "".
    """
    pairs = itertools.chain(splits.train, splits.validation, splits.test)
    if not digits_matter(pairs):
        return ""
    return (
        ". Its lines differ mostly in digits, and this version of the package splits such a corpus "
        "differently from earlier versions"
    )


def most_differ_in_digits(alike: int, different: int) -> bool:
    """Return whether a corpus has fewer than half as many distinct sources if numbers are ignored.

    `alike` is the number of distinct sources without their numbers (values of `source_key`), and
    `different` is the number of distinct sources with them (values of `number_key`).
    """
    return 2 * alike < different


WORD = re.compile(r"\w+")
DIGITS = re.compile(r"\d+")


def split_words(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return WORD.findall(sentence.casefold())


def source_key(sentence: str) -> str:
    """Return a comparison key that ignores case, spaces, punctuation, Unicode form and digits.

    Every number becomes 0, so "page 7" and "page 12" have the same key.
    """
    return without_digits(number_key(sentence))


def without_digits(key: str) -> str:
    """Convert a `number_key` to a `source_key` by replacing every number with 0."""
    return DIGITS.sub("0", key)


def number_key(sentence: str) -> str:
    """Return a comparison key like that of `source_key`, but with the numbers kept."""
    sentence = to_nfc(remove_invisible(sentence))
    return " ".join(split_words(sentence)) or sentence


def check_train_split(name: str, parts: Iterable[str]) -> None:
    """Raise a ValueError unless a dataset, given by name, has a split called "train"."""
    if "train" not in parts:
        raise ValueError(
            f"{name} has no split 'train', only {join_with_and(sorted(map(repr, parts)))}"
        )


def split_groups(
    rows: Iterable[tuple[str, Pair]],
    seed: int,
    validation: int | None,
    test: int | None,
    key: Callable[[str], str] | None = None,
) -> Splits[Pair]:
    """Split (group, pair) rows without dividing a group between splits.

    A sentence that occurs in several groups is never held out. `key` decides which sources count as
    the same; the default is `source_key`. See `split_pairs` for the other arguments and the error.
    """
    key = key or source_key
    groups: dict[str, dict[str, list[Pair]]] = {}
    for group, pair in dict.fromkeys(rows):
        groups.setdefault(group, {}).setdefault(key(pair.source), []).append(pair)
    holders = Counter(k for keys in groups.values() for k in keys)
    usual = max(1, min(1000, len(holders) // 20))
    wanted = {
        "test": usual if test is None else test,
        "validation": usual if validation is None else validation,
    }
    held: dict[str, list[Pair]] = {name: [] for name in wanted}
    room = dict(wanted)
    for name, count in wanted.items():
        if count < 0:
            raise ValueError(f"{name} is {count}; expected 0 or more")
    # The order depends on nothing but names and seed, so that it is the same everywhere.
    order = sorted(groups, key=lambda g: hashlib.sha256(f"{seed} {g}".encode()).digest())
    train: dict[Pair, None] = {}
    for group in order:
        own = [pairs for k, pairs in groups[group].items() if holders[k] == 1]
        for name, count in wanted.items():
            # No single group, unless it is small, may make up more than a twentieth of a split.
            if 0 < len(own) <= min(room[name], max(20, count // 20)):
                held[name] += [pair for pairs in own for pair in pairs]
                room[name] -= len(own)
                break
        else:
            train |= {pair: None for pairs in groups[group].values() for pair in pairs}
    if not train or any(count and not held[name] for name, count in wanted.items()):
        least = sum(wanted.values()) + 1
        first = next(
            (pair.source for keys in groups.values() for own in keys.values() for pair in own), ""
        )
        seen = f". The first source sentence is {first[:60]!r}" if first else ""
        raise ValueError(
            f"the corpus has {describe_count(len(holders), 'distinct source sentence')} in "
            f"{describe_count(len(groups), 'group')}; expected at least {least} in as many small "
            f"groups, to hold out {wanted['validation']} for validation and {wanted['test']} for "
            f"testing without dividing a group{seen}"
        )
    return Splits(list(train), held["validation"], held["test"])


NEAR = 0.7
"""Two sentences are near copies if more than this fraction of all their words occurs in both."""


def remove_near_copies(splits: Splits[Pair]) -> Splits[Pair]:
    """Remove validation and test pairs whose sources are near copies of training sources."""
    sources = (
        split_words(pair.source) for pair in (*splits.train, *splits.validation, *splits.test)
    )
    frequency = Counter(itertools.chain.from_iterable(sources))
    rank = {word: i for i, (word, _) in enumerate(reversed(frequency.most_common()))}

    def ranks(pair: Pair) -> frozenset[int]:
        return frozenset(rank[word] for word in split_words(pair.source))

    def rarest(sentence: frozenset[int]) -> list[int]:
        # A near copy lacks too few of a sentence's words to lack all of these, and vice versa.
        # So two sentences that share none of each other's rarest words need not be compared.
        return sorted(sentence)[: int((1 - NEAR) * len(sentence)) + 1]

    holders: dict[int, list[frozenset[int]]] = {}
    for sentence in set(map(ranks, splits.train)):
        for word in rarest(sentence):
            holders.setdefault(word, []).append(sentence)

    def is_new(pair: Pair) -> bool:
        mine = ranks(pair)
        others = (other for word in rarest(mine) for other in holders.get(word, ()))
        return not any(len(mine & other) > NEAR * len(mine | other) for other in others)

    validation, test = (list(filter(is_new, part)) for part in (splits.validation, splits.test))
    return Splits(splits.train, validation, test)
