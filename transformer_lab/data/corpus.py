"""A corpus by its name: what it splits into, its tokenizers, and how one begins with it."""

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data import corpora
from transformer_lab.data.pair import Pair, SentencePair, Splits
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.tokenizer import BPETokenizer, Tokenizer, WordTokenizer
from transformer_lab.data.world import grammar

WORLD_PAIRS = 60_000
"""Training pairs of the bilingual world. More different ones beat the same ones again: they cost
nothing but the seconds to write them, and rules are learnt instead of sentences."""

LANGUAGES = {
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "ja": "Japanese",
    "pt": "Portuguese",
    "ru": "Russian",
}
"""Some of Debian's codes in words; another code is its own name."""

Tokenizers = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True)
class Corpus:
    """What is known of a corpus before it is opened; `find_corpus` makes it.

    Attributes:
        name: "world", "debian:LANGUAGE", or the whole path of a TSV file.
        read: From a seed, and whether bad lines are left out, to its splits.
        tokenizers: From training pairs and a size of vocabulary to those of source and target.
        preset: The size of model that one begins with.
        changes: Fields of the model's configuration that are other here than in the preset.
        watched: How many validation sentences a run translates whenever it validates.
    """

    name: str
    read: Callable[[int, bool], Splits[Any]]
    tokenizers: Callable[[Sequence[SentencePair], int], Tokenizers]
    preset: str = "small"
    changes: Mapping[str, Any] = field(default_factory=dict)
    watched: int = 0

    def splits(self, seed: int = 0, skip_bad: bool = False) -> Splits[Any]:
        """Training, validation and test.

        With `skip_bad` the bad lines of a file are left out and their number is said on standard
        error.

        Raises:
            ValueError: For a file with bad lines, or too few of them.
            CorpusUnavailable: Where apt or the network is missing.
        """
        return self.read(seed, skip_bad)


def find_corpus(name: str) -> Corpus:
    """The corpus of this name: "world", "debian:LANGUAGE" or a TSV file; else a ValueError."""
    if name == "world":
        # A run sees its many different sentences once or twice: too little to learn by heart.
        return Corpus(name, open_world, words_of_each, "tiny", {"dropout": 0.0}, watched=200)
    kind, _, language = name.partition(":")
    if kind == "debian" and language:
        return Corpus(name, partial(open_debian, language), shared_pieces)
    path = Path(name)
    check("corpus", name, "'world', 'debian:LANGUAGE' or a TSV file that exists", path.is_file())
    whole = str(path.resolve())  # so that a run finds its file from any folder
    return Corpus(whole, partial(open_file, whole), shared_pieces)


def languages_of(name: str | None) -> tuple[str, str]:
    """What the two languages of a corpus are called: "source" and "target" where nobody knows."""
    kind, _, code = (name or "").partition(":")
    if kind == "debian" and code:
        return "English", LANGUAGES.get(code, code)
    return ("English", "French") if name == "world" else ("source", "target")


def open_world(seed: int, skip_bad: bool) -> Splits[grammar.WorldPair]:
    """The bilingual world, which has no bad lines."""
    return grammar.world(train=WORLD_PAIRS, seed=seed)


def open_debian(language: str, seed: int, skip_bad: bool) -> Splits[Pair]:
    """Debian's package descriptions, whose bad lines never come so far."""
    return corpora.debian(language, seed=seed)


def open_file(path: str, seed: int, skip_bad: bool) -> Splits[Pair]:
    """A TSV file, split by source."""
    read = corpora.read_tsv(path, skip_bad=skip_bad)
    if read.left_out:
        print(f"{path}: {read.left_out} bad lines left out", file=sys.stderr)
    return split_pairs(read.pairs, seed=seed)


def words_of_each(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """The bilingual world has few words: each language gets its own, however many they are."""
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    return WordTokenizer.train(sources), WordTokenizer.train(targets)


def shared_pieces(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """Real text gets one vocabulary of pieces for both languages, as in the paper (§5.1)."""
    texts = [*(p.source for p in pairs), *(p.target for p in pairs)]
    tokenizer = BPETokenizer.train(texts, vocab_size)
    return tokenizer, tokenizer


def fingerprint(pairs: Sequence[SentencePair]) -> str:
    """A short name for exactly these pairs, so that a run is not resumed on others."""
    texts = (f"{pair.source}\t{pair.target}\n".encode() for pair in pairs)
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]
