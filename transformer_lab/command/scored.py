"""Choose the pairs that `evaluate` scores, and find out whether the model was trained on them."""

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer_lab.data.corpora import CorpusUnavailable
from transformer_lab.data.corpus import Corpus, find_corpus, fingerprint, language_names
from transformer_lab.data.corpus_name import names_a_place
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.data.splits import explain_new_split
from transformer_lab.runs.run import About


@dataclass(frozen=True)
class Scored:
    """The splits whose test pairs are scored.

    `whole_file` is True if the test pairs are all the pairs of one file. `seen` is the number of
    test pairs whose source was in the model's training split, or None if it is unknown.
    """

    splits: Splits[Any]
    whole_file: bool
    seen: int | None


def find_own_corpus(about: About, model: object) -> Corpus:
    """Return the corpus that a model was trained on.

    Raises:
        ValueError: If the model does not name its corpus, or the corpus is not available.
    """
    if about.corpus is None:
        raise ValueError(
            f"{model} does not say which corpus it was trained on. Name one with --corpus"
        )
    missing = (
        f"{model} was trained on {about.corpus!r}, which was not found. Name a corpus with --corpus"
    )
    if not names_a_place(about.corpus):
        raise ValueError(missing)
    try:
        return find_corpus(about.corpus)
    except ValueError:  # it would tell of a corpus that nobody has typed
        raise ValueError(missing) from None


def has_changed(about: About, splits: Splits[Any]) -> bool:
    """Return whether a run's corpus has changed since training, or False if that is unknown."""
    return about.data not in (None, fingerprint(splits.train))


def check_unchanged(about: About, splits: Splits[Any]) -> Splits[Any]:
    """Return the splits of a run's corpus; raise ValueError if it has changed since training."""
    if has_changed(about, splits):
        raise ValueError("the corpus has changed since the model was trained on it")
    return splits


def open_scored_pairs(
    corpus: Corpus, about: About, skip_bad: bool, is_own: bool, limit: int | None
) -> Scored:
    """Return the pairs of a corpus to score, and print warnings about how to read the scores.

    If the model was trained on the corpus, only the test split is scored, even if the corpus has a
    different name now. Any other file is scored as a whole.
    """
    warn_of_other_languages(corpus, about)
    if not is_own and corpus.read_test:
        copy = split_copy(corpus, about, skip_bad)
        if copy is None:
            pairs = corpus.read_test(skip_bad)[:limit]
            return Scored(Splits([], pairs, pairs), True, count_seen(pairs, about))
        found = "contains the pairs that the model was trained on, so only its test split is scored"
        print(f"corpus {corpus.name!r} {found}", file=sys.stderr)
        splits, is_unseen = copy, True
    else:
        splits = corpus.splits(about.seed, skip_bad)
        changed = has_changed(about, splits)
        if is_own and changed:
            said = "since the model was trained on it, so the model may have seen test sentences"
            told = f"corpus {corpus.name!r} has changed {said}{explain_new_split(splits)}"
            print(told, file=sys.stderr)
        is_unseen = about.data is not None and not changed
    return Scored(replace(splits, test=splits.test[:limit]), False, 0 if is_unseen else None)


def split_copy(corpus: Corpus, about: About, skip_bad: bool) -> Splits[Any] | None:
    """Return the splits of a corpus if it is a copy of the model's training corpus, else None."""
    if about.data is None:  # nobody could tell, so there is no need to read it
        return None
    try:
        splits = split_in_silence(corpus, about.seed, skip_bad)
    except ValueError:  # it cannot be split, so nobody has trained on it
        return None
    return splits if about.data == fingerprint(splits.train) else None


def count_seen(pairs: Sequence[SentencePair], about: About) -> int | None:
    """Return how many of these pairs have a source that the model was trained on.

    The result is None if the number cannot be determined. A number above 0 is also printed.
    """
    if about.corpus is None or about.data is None or not names_a_place(about.corpus):
        return None
    try:
        splits = split_in_silence(find_corpus(about.corpus), about.seed, about.skip_bad)
        train = check_unchanged(about, splits).train
    except (OSError, ValueError, CorpusUnavailable):  # gone or changed: nobody can tell any more
        return None
    sources = {pair.source for pair in pairs}
    trained = {pair.source for pair in train if pair.source in sources}
    seen = sum(pair.source in trained for pair in pairs)
    if seen:
        said = f"{seen:,} of the {len(pairs):,} sentences were in the model's training split"
        print(f"{said}, so they do not show how well it translates new sentences", file=sys.stderr)
    return seen


def split_in_silence(corpus: Corpus, seed: int, skip_bad: bool) -> Splits[Any]:
    """Return the splits of a corpus without printing anything about pairs that were left out."""
    with contextlib.redirect_stderr(io.StringIO()):
        return corpus.splits(seed, skip_bad)


def warn_of_other_languages(corpus: Corpus, about: About) -> None:
    """Print a warning if a corpus is not in the model's languages, or has them in reverse order."""
    unknown = language_names(None)
    own, asked = language_names(about.corpus), language_names(corpus.name)
    if unknown in (own, asked) or own == asked:
        return
    said = f"The model translates {own[0]} to {own[1]}, but the corpus is {asked[0]} to {asked[1]}"
    swapped = ". Did you swap --source and --target?" if own == asked[::-1] else ""
    print(f"{said}{swapped}", file=sys.stderr)
