"""A corpus by its name: what it splits into, its tokenizers, and how one begins with it."""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data import corpora
from transformer_lab.data.filtering import filtered, told
from transformer_lab.data.hub import open_hub
from transformer_lab.data.large import store_corpus
from transformer_lab.data.pair import Pair, SentencePair, Splits
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.stored import StoredPairs, described, described_as, opened_or_made
from transformer_lab.data.text_files import COLUMNS, pairs_in, read_pairs
from transformer_lab.data.tokenizer import (
    BPETokenizer,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
)
from transformer_lab.data.world import grammar
from transformer_lab.files import write_atomically

WORLD_PAIRS = 60_000
"""Training pairs of the bilingual world. More different ones beat the same ones again: they cost
nothing but the seconds to write them, and rules are learnt instead of sentences."""

LARGE = 32_000_000
"""Bytes of a file from which on it is stored as files that are read piece by piece. Read as a whole
it takes about 16 times its size."""
PACKED = (".gz", ".zst")
PACKING = 4
"""Text that is packed has about so many times its size."""
PIECES_OF = 500_000
"""Pairs of a stored corpus from which its pieces are learnt: more would change few of them."""
STORED = 2
"""The version of what is stored: another one is made anew."""
HUB = ("hf", "stream")
"""Datasets of Hugging Face's hub, fetched as a whole or as they are read."""
FORMS = "'world', 'debian:LANGUAGE', 'hf:NAME', 'stream:NAME', or a file or folder that exists"

LANGUAGES = {
    "de": "German",
    "en": "English",
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
        name: "world", "debian:LANGUAGE", "hf:NAME", "stream:NAME", or the whole path of a file or of
            a dataset's folder; with "@SOURCE,TARGET" behind it where the sides have names.
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

        What is left out of a file or a dataset is said on standard error: pairs that are repeated,
        or unfit (see `filtering`), and with `skip_bad` bad lines.

        Raises:
            ValueError: For a file with bad lines, or too few of them.
            CorpusUnavailable: Where apt or the network is missing.
        """
        return self.read(seed, skip_bad)


def find_corpus(name: str) -> Corpus:
    """The corpus of this name; a ValueError if there is none."""
    if name == "world":
        # A run sees its many different sentences once or twice: too little to learn by heart.
        return Corpus(name, open_world, words_of_each, "tiny", {"dropout": 0.0}, watched=200)
    kind, _, rest = name.partition(":")
    if kind == "debian" and rest:
        return Corpus(name, partial(open_debian, rest), shared_pieces)
    place, columns = columns_of(name)
    sides = "" if columns is None else f"@{','.join(columns)}"
    if kind in HUB and rest:
        hub = place.partition(":")[2]
        if Path(hub).is_dir():
            hub = str(Path(hub).resolve())
        read = partial(open_dataset, hub, columns, kind == "stream")
        return Corpus(f"{kind}:{hub}{sides}", read, shared_pieces)
    path = Path(place)
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"corpus is {name!a}; expected a name in UTF-8") from None
    check("corpus", name, FORMS, bool(name) and (path.is_file() or path.is_dir()))
    whole = str(path.resolve())  # so that a run finds its file from any folder
    if path.is_dir():
        return Corpus(whole + sides, partial(open_dataset, whole, columns, False), shared_pieces)
    return Corpus(whole + sides, partial(open_file, whole, columns or COLUMNS), shared_pieces)


def columns_of(name: str) -> tuple[str, tuple[str, str] | None]:
    """A corpus's name without "@SOURCE,TARGET" at its end, and these two, if they are there."""
    found = re.fullmatch(r"(.+)@([^@,/]+),([^@,/]+)", name, re.DOTALL)
    if found is None or Path(name).exists():
        return name, None
    return found[1], (found[2], found[3])


def languages_of(name: str | None) -> tuple[str, str]:
    """What the two languages of a corpus are called: "source" and "target" where nobody knows."""
    kind, _, code = (name or "").partition(":")
    if kind == "debian" and code:
        return "English", LANGUAGES.get(code, code)
    if name == "world":
        return "English", "French"
    source, target = columns_of(name or "")[1] or COLUMNS
    return LANGUAGES.get(source, source), LANGUAGES.get(target, target)


def open_world(seed: int, skip_bad: bool) -> Splits[grammar.WorldPair]:
    """The bilingual world, which has no bad lines."""
    return grammar.world(train=WORLD_PAIRS, seed=seed)


def open_debian(language: str, seed: int, skip_bad: bool) -> Splits[Pair]:
    """Debian's package descriptions, whose bad lines never come so far."""
    return corpora.debian(language, seed=seed)


def open_file(path: str, columns: tuple[str, str], seed: int, skip_bad: bool) -> Splits[Pair]:
    """A file of pairs, filtered and split by source; a large one is stored first, and said to be."""
    file = Path(path).stat()
    if file.st_size * (PACKING if Path(path).suffix in PACKED else 1) >= LARGE:
        identity = f"{path} {file.st_size} {file.st_mtime_ns} {columns} {seed} {skip_bad}"
        read = partial(pairs_in, path, columns, skip_bad=skip_bad)
        return store_corpus(stored_at(identity), path, read, seed)
    found = read_pairs(path, columns, skip_bad=skip_bad)
    pairs, left_out = filtered(found.pairs)
    left_out["bad"] = found.left_out
    said = told(len(found.pairs) + found.left_out, left_out)
    if left_out.total():
        print(f"{path}: {said}", file=sys.stderr)
    return replace(split_pairs(pairs, seed=seed), said=said)


def open_dataset(
    name: str, columns: tuple[str, str] | None, stream: bool, seed: int, skip_bad: bool
) -> Splits[Pair]:
    """A dataset of Hugging Face's library, stored; its own validation and test, as far as it has them."""
    hub = open_hub(name, columns, stream=stream)
    folder = stored_at(f"{hub.identity} {seed} {skip_bad}")
    read = partial(hub.pairs, "train", skip_bad)
    return store_corpus(folder, name, read, seed, partial(hub.held, skip_bad))


def stored_at(identity: str) -> Path:
    """The folder of a corpus that is stored, by all that it is made from."""
    name = hashlib.sha256(f"{STORED} {identity}".encode()).hexdigest()[:16]
    return corpora.user_cache_folder() / "corpora" / name


def words_of_each(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """The bilingual world has few words: each language gets its own, however many they are."""
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    return WordTokenizer.train(sources), WordTokenizer.train(targets)


def shared_pieces(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """Real text gets one vocabulary of pieces for both languages, as in the paper (§5.1).

    That of a stored corpus is kept beside it.
    """
    if not isinstance(pairs, StoredPairs):
        texts = [p.source for p in pairs] + [p.target for p in pairs]
        tokenizer = BPETokenizer.train(texts, vocab_size)
        return tokenizer, tokenizer

    def make(folder: Path) -> None:
        tokenizer, _ = shared_pieces(pairs.sample(PIECES_OF), vocab_size)
        write_atomically(folder / "tokenizer.json", tokenizer.to_json().encode())
        described_as(folder)

    def open_whole(folder: Path) -> Tokenizer:
        described(folder)
        return load_tokenizer(folder / "tokenizer.json")

    folder = pairs.folder / f"pieces-{vocab_size}-{pairs.fingerprint}"
    kept = opened_or_made(folder, open_whole, make)
    return kept, kept


def fingerprint(pairs: Sequence[SentencePair]) -> str:
    """A short name for exactly these pairs, so that a run is not resumed on others."""
    if isinstance(pairs, StoredPairs):
        return pairs.fingerprint
    sums = hashlib.sha256()
    for pair in pairs:
        sums.update(f"{pair.source}\t{pair.target}\n".encode())
    return sums.hexdigest()[:16]
