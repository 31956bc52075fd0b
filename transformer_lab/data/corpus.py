"""A corpus by its name: what it splits into, its tokenizers, and how one begins with it."""

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from transformer_lab.config import check
from transformer_lab.data import corpora
from transformer_lab.data.filtering import filtered, told
from transformer_lab.data.folders import text_folder
from transformer_lab.data.hub import open_hub
from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.large import store_corpus
from transformer_lab.data.packed import Part, is_pipe, packing_of, raw_lines
from transformer_lab.data.pair import Pair, SentencePair, Splits
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.stored import StoredPairs, described, described_as, opened_or_made
from transformer_lab.data.text_files import (
    COLUMNS,
    PairFile,
    pairs_in,
    read_pairs,
    siblings_of,
    sides_of,
)
from transformer_lab.data.tokenizer import (
    BPETokenizer,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
)
from transformer_lab.data.world import grammar
from transformer_lab.files import write_atomically
from transformer_lab.streams import escaped

WORLD_PAIRS = 60_000
"""Training pairs of the bilingual world. More different ones beat the same ones again: they cost
nothing but the seconds to write them, and rules are learnt instead of sentences."""

LARGE = 32_000_000
"""Bytes of a file, unpacked, from which on it is stored as files that are read piece by piece. Read
as a whole it takes about 16 times its size."""
PIECES_OF = 500_000
"""Pairs of a stored corpus from which its pieces are learnt: more would change few of them."""
STORED = 2
"""The version of what is stored: another one is made anew."""
HUB = ("hf", "stream")
"""Datasets of Hugging Face's hub, fetched as a whole or as they are read."""
CSV = "csv"
"""A file or folder whose tables have commas and quotes."""
FORMS = "'world', 'debian:LANGUAGE', 'hf:NAME', 'stream:NAME', or a file or folder that exists"

Tokenizers = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True)
class Corpus:
    """What is known of a corpus before it is opened; `find_corpus` makes it.

    Attributes:
        name: "world", "debian:LANGUAGE", "hf:NAME", "stream:NAME", or the whole path of a file or of
            a folder, with "csv:" before it if its tables have commas and quotes; with
            "@SOURCE,TARGET" behind it where the sides have names.
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
        read = partial(open_dataset, hub, columns, kind == "stream", False)
        return Corpus(f"{kind}:{hub}{sides}", read, shared_pieces)
    is_csv = kind == CSV and bool(rest)
    path = whole_path(name, Path(place.partition(":")[2] if is_csv else place), columns)
    whole = f"{CSV}:{path}{sides}" if is_csv else f"{path}{sides}"
    if path.is_dir():
        read = partial(open_dataset, str(path), columns, False, is_csv)
    else:
        read = partial(open_file, str(path), columns, is_csv)
    return Corpus(whole, read, shared_pieces)


def whole_path(name: str, path: Path, columns: tuple[str, str] | None) -> Path:
    """The path of a file or folder from the root, so that a run finds it from any folder.

    A ValueError if it is not there. Of two files, one for each side, it is what their names begin
    with, and of a pipe that of the file in which what came through it is kept.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"corpus is {name!a}; expected a name in UTF-8") from None
    if is_pipe(path):
        return kept_from(path)
    two = path.name and columns and sides_of(path, columns)
    if path.name and not two and not path.exists() and (ends := siblings_of(path)):
        expected = f"--source and --target to name two of its files, which end in {', '.join(ends)}"
        check("corpus", name, expected, holds=False)
    there = path.is_file() or path.is_dir() or bool(two)
    check("corpus", name, FORMS, bool(name) and there)
    return path.resolve()


def kept_from(pipe: Path) -> Path:
    """What comes through a pipe, in a file under its sum.

    A pipe can be read once, and a run reads its corpus again to be resumed and to be scored.
    """
    folder = corpora.user_cache_folder() / corpora.PIPED
    folder.mkdir(parents=True, exist_ok=True)
    sums = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=folder) as own:
        with pipe.open("rb") as stream, (Path(own) / "all").open("wb") as file:
            while block := stream.read(1 << 20):
                sums.update(block)
                file.write(block)
        suffix = ".jsonl" if begins_with_json(Path(own) / "all") else ".tsv"
        kept = folder / f"{sums.hexdigest()[:16]}{suffix}"
        os.replace(Path(own) / "all", kept)
    print(f"{pipe} can be read only once: what came is kept in {kept}", file=sys.stderr)
    return kept


def begins_with_json(path: Path) -> bool:
    """Whether the first line that is not blank is a JSON object, in a file that may be packed."""
    if packing_of(path) == ".zip":
        return False
    try:
        line = next(filter(bytes.strip, raw_lines(Part(path))), b"")
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


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
    sides = columns_of(name or "")[1] or COLUMNS
    if all(side.isdigit() for side in sides):
        sides = COLUMNS
    source, target = (LANGUAGES.get(side.lower(), side) for side in sides)
    return source, target


def open_world(seed: int, skip_bad: bool) -> Splits[grammar.WorldPair]:
    """The bilingual world, which has no bad lines."""
    return grammar.world(train=WORLD_PAIRS, seed=seed)


def open_debian(language: str, seed: int, skip_bad: bool) -> Splits[Pair]:
    """Debian's package descriptions, whose bad lines never come so far."""
    return corpora.debian(language, seed=seed)


def open_file(
    path: str, columns: tuple[str, str] | None, is_csv: bool, seed: int, skip_bad: bool
) -> Splits[Pair]:
    """A file of pairs, filtered and split by source; a large one is stored first, and said to be."""
    file = PairFile(Path(path), columns, is_csv)
    form = file.form
    if file.bytes_at_least(LARGE):
        folder = stored_at(f"{file.identity} {seed} {skip_bad}")
        read = partial(pairs_in, path, columns, skip_bad=skip_bad, is_csv=is_csv)
        return replace(store_corpus(folder, path, read, seed), form=form)
    found = read_pairs(path, columns, skip_bad=skip_bad, is_csv=is_csv)
    pairs, left_out = filtered(found.pairs)
    left_out["bad"] = found.left_out
    said = told(len(found.pairs) + found.left_out, left_out)
    if left_out.total():
        print(f"{path}: {said}", file=sys.stderr)
    if found.left_out:
        print(f"the first bad line: {escaped(found.first_fault)}", file=sys.stderr)
    return replace(split_pairs(pairs, seed=seed), said=said, form=form)


def open_dataset(
    name: str,
    columns: tuple[str, str] | None,
    stream: bool,
    is_csv: bool,
    seed: int,
    skip_bad: bool,
) -> Splits[Pair]:
    """A folder of text files or a dataset of Hugging Face's library, stored.

    Its own validation and test are taken, as far as it has them.
    """
    local = text_folder(name, columns, is_csv) if Path(name).is_dir() else None
    rows = local or open_hub(name, columns, stream=stream)
    folder = stored_at(f"{rows.identity} {seed} {skip_bad}")
    read = partial(rows.pairs, "train", skip_bad)
    splits = store_corpus(folder, name, read, seed, partial(rows.held, skip_bad))
    return replace(splits, form=rows.form)


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
