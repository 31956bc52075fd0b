"""Find corpora by name, such as "world" or "debian:fr", read them and train their tokenizers.

Runs, studies and the command line open every corpus through `find_corpus`.
"""

import difflib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from transformer_lab.config import check, join_with_and
from transformer_lab.data import corpora
from transformer_lab.data.corpus_name import CSV, HUB_KINDS, parse_columns
from transformer_lab.data.filtering import filter_pairs, format_filter_counts
from transformer_lab.data.folders import find_text_folder
from transformer_lab.data.hub import open_hub_dataset
from transformer_lab.data.languages import LANGUAGES
from transformer_lab.data.large import store_corpus
from transformer_lab.data.packed import TextFile, detect_packing, is_pipe, read_raw_lines
from transformer_lab.data.pair import Pair, SentencePair, Splits
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.stored import StoredPairs, open_or_build, seal_folder, verify_folder
from transformer_lab.data.text import escape_for_terminal
from transformer_lab.data.text_files import (
    COLUMNS,
    PairFile,
    ReadResult,
    find_side_files,
    iterate_pairs,
    list_side_suffixes,
    read_pairs,
)
from transformer_lab.data.tokenizer import (
    BPETokenizer,
    Tokenizer,
    WordTokenizer,
    load_tokenizer,
)
from transformer_lab.data.world import grammar
from transformer_lab.storage.files import write_atomically

WORLD_PAIRS = 60_000
"""The number of training pairs from the bilingual world.

New sentences take only seconds to generate, and they teach rules, whereas repeated sentences would
be memorised.
"""

LARGE = 32_000_000
"""The minimum unpacked size, in bytes, of a file that is stored in the cache, not in memory.

Holding a whole file in memory takes about 24 times its size.
"""
PIECES_OF = 500_000
"""The maximum number of stored pairs that are used to learn a BPE vocabulary.

More pairs would hardly change the vocabulary.
"""
KINDS_SHOWN = 5
"""The maximum number of kinds of bad lines to report; only the first of each kind is shown."""
STORED_VERSION = 3
"""The version of the storage format; corpora in any other version are stored again."""
CORPUS_FORMS = (
    "'world', 'debian:LANGUAGE', 'hf:NAME', 'stream:NAME', or a file or folder that exists"
)

Tokenizers = tuple[Tokenizer, Tokenizer]


@dataclass(frozen=True)
class Corpus:
    """A corpus found by `find_corpus`, ready to be opened.

    Attributes:
        name: "world", "debian:LANGUAGE", "hf:NAME", "stream:NAME", or the absolute path of a file
            or folder. The prefix "csv:" means that tables are CSV, and the suffix "@SOURCE,TARGET"
            names the columns or languages.
        read: A function that returns the splits, given a seed and whether to skip bad lines.
        tokenizers: A function that trains the source and target tokenizers, given the pairs and the
            vocabulary size.
        preset: The model preset to start from.
        changes: Fields of the model's configuration that this corpus sets differently from the
            preset.
        validation_translations: The number of validation sentences that a run translates at each
            validation.
        read_test: A function that returns the pairs for scoring a translator that was trained on a
            different corpus, given whether to skip bad lines. For a file, these are all of its
            pairs. For a folder, they are the pairs in its test files. For any other corpus,
            `read_test` is None, and the test split is used.
    """

    name: str
    read: Callable[[int, bool], Splits[Any]]
    tokenizers: Callable[[Sequence[SentencePair], int], Tokenizers]
    preset: str = "small"
    changes: Mapping[str, Any] = field(default_factory=dict)
    validation_translations: int = 0
    read_test: Callable[[bool], Sequence[Pair]] | None = None

    @property
    def has_pieces(self) -> bool:
        """Whether the vocabulary consists of subwords, so its size can be chosen."""
        return self.tokenizers is train_shared_bpe

    def splits(self, seed: int = 0, skip_bad: bool = False) -> Splits[Any]:
        """Return the training, validation and test splits.

        Everything that is left out of a file or dataset is reported on standard error: repeated
        pairs, pairs that the filter rejects (see `filtering`) and, with `skip_bad`, bad lines.

        Raises:
            ValueError: If a line is bad and `skip_bad` is False, or there are too few pairs.
            CorpusUnavailable: If apt or the network is not available.
        """
        return self.read(seed, skip_bad)


def find_corpus(name: str) -> Corpus:
    """Return the corpus with this name (see `Corpus`), without reading its pairs.

    If the name is the path of a pipe, the pipe's content is saved to a file.

    Raises:
        ValueError: If there is no such corpus.
    """
    if name == "world":
        # A run sees each of its many sentences once or twice: too rarely to learn it by heart.
        return Corpus(
            name,
            open_world,
            train_word_tokenizers,
            "tiny",
            {"dropout": 0.0},
            validation_translations=200,
        )
    kind, _, rest = name.partition(":")
    if kind == "debian" and rest:
        return Corpus(name, partial(open_debian, rest), train_shared_bpe)
    place, columns = parse_columns(name)
    sides = "" if columns is None else f"@{','.join(columns)}"
    if kind in HUB_KINDS and rest:
        hub = place.partition(":")[2]
        if Path(hub).is_dir():
            hub = str(Path(hub).resolve())
        read = partial(open_dataset, hub, columns, kind == "stream", False)
        return Corpus(f"{kind}:{hub}{sides}", read, train_shared_bpe)
    is_csv = kind == CSV and bool(rest)
    path = resolve_corpus_path(name, Path(place.partition(":")[2] if is_csv else place), columns)
    whole = f"{CSV}:{path}{sides}" if is_csv else f"{path}{sides}"
    if path.is_dir():
        read = partial(open_dataset, str(path), columns, False, is_csv)
    else:
        read = partial(open_file, str(path), columns, is_csv)
    read_test = partial(read_test_pairs, str(path), columns, is_csv)
    return Corpus(whole, read, train_shared_bpe, read_test=read_test)


def resolve_corpus_path(name: str, path: Path, columns: tuple[str, str] | None) -> Path:
    """Return the absolute path of a corpus's file or folder.

    A run can use this path from any working directory. For two parallel files, `path` may be the
    part that their names share. If `path` is a pipe, its content is saved, and the path of the
    saved file is returned.

    Raises:
        ValueError: If the file or folder does not exist, or the name is not valid UTF-8.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"corpus is {name!a}; expected a name that can be encoded in UTF-8"
        ) from None
    if is_pipe(path):
        return save_pipe(path)
    two = path.name and columns and find_side_files(path, columns)
    if path.name and not two and not path.exists() and (ends := list_side_suffixes(path)):
        expected = (
            "the full name of a file. To read two parallel files, give their suffixes, such as "
            f"{join_with_and(ends[:2])}, with --source and --target, or with NAME@SOURCE,TARGET in "
            "Python"
        )
        check("corpus", name, expected, holds=False)
    there = path.is_file() or path.is_dir() or bool(two)
    near = "" if there or path.exists() or path.is_symlink() else find_similar_name(path)
    expected = f"{CORPUS_FORMS}. Did you mean {near}?" if near else CORPUS_FORMS
    check("corpus", name, expected, bool(name) and there)
    return path.resolve()


def find_similar_name(path: Path) -> str:
    """Return the path in the same folder whose name is most similar, or "" if none is similar.

    Names are compared both with and without their suffixes.
    """
    if not path.name or not path.parent.is_dir():
        return ""
    names = {name for one in path.parent.iterdir() for name in (one.name, one.stem)}
    found = difflib.get_close_matches(path.name, sorted(names), n=1)
    return str(path.with_name(found[0])) if found else ""


def save_pipe(pipe: Path) -> Path:
    """Save a pipe's content to a cache file named after its checksum, and return the file's path.

    A pipe can be read only once, but a run reads its corpus again when it is resumed or scored.
    """
    folder = corpora.user_cache_folder() / corpora.PIPE_FOLDER
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
    print(f"{pipe} can be read only once, so its pairs were saved in {kept}", file=sys.stderr)
    return kept


def begins_with_json(path: Path) -> bool:
    """Return whether a file's first non-blank line is a JSON object.

    The file may be compressed as .gz or .zst. For a .zip, the result is False.
    """
    if detect_packing(path) == ".zip":
        return False
    try:
        line = next(filter(bytes.strip, read_raw_lines(TextFile(path))), b"")
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def language_names(name: str | None) -> tuple[str, str]:
    """Return the names of a corpus's languages, or "source" and "target" if they are unknown."""
    kind, _, code = (name or "").partition(":")
    if kind == "debian" and code:
        return "English", LANGUAGES.get(code, code)
    if name == "world":
        return "English", "French"
    sides = parse_columns(name or "")[1] or COLUMNS
    if all(side.isdigit() for side in sides):
        sides = COLUMNS
    source, target = (LANGUAGES.get(side.lower(), side) for side in sides)
    return source, target


def open_world(seed: int, skip_bad: bool) -> Splits[grammar.WorldPair]:
    """Return the splits of the bilingual world; `skip_bad` has no effect."""
    return grammar.world(train=WORLD_PAIRS, seed=seed)


def open_debian(language: str, seed: int, skip_bad: bool) -> Splits[Pair]:
    """Return the splits of Debian's package descriptions; `skip_bad` has no effect."""
    return corpora.debian(language, seed=seed)


def open_file(
    path: str, columns: tuple[str, str] | None, is_csv: bool, seed: int, skip_bad: bool
) -> Splits[Pair]:
    """Read the pairs in a file, filter them, and split them by source.

    A large file is first stored in the cache.
    """
    file = PairFile(Path(path), columns, is_csv)
    form = file.form
    if file.has_at_least_bytes(LARGE):
        folder = stored_corpus_folder(f"{file.cache_key} {seed} {skip_bad}")
        read = partial(iterate_pairs, path, columns, skip_bad=skip_bad, is_csv=is_csv)
        return replace(store_corpus(folder, path, read, seed), form=form)
    found = read_pairs(path, columns, skip_bad=skip_bad, is_csv=is_csv)
    pairs, left_out = filter_pairs(found.pairs)
    left_out["bad"] = found.left_out
    said = format_filter_counts(len(found.pairs) + found.left_out, left_out)
    if left_out.total():
        print(f"{path}: {said}", file=sys.stderr)
    print_faults(found)
    return replace(split_pairs(pairs, seed=seed), said=said, form=form)


def print_faults(found: ReadResult) -> None:
    """Report the first bad line of each kind on standard error, for up to `KINDS_SHOWN` kinds."""
    for fault, number in list(found.faults.items())[:KINDS_SHOWN]:
        like = f"{number:,} bad lines like this one" if number > 1 else "bad line"
        print(f"{like}: {escape_for_terminal(fault)}", file=sys.stderr)


def read_test_pairs(
    path: str, columns: tuple[str, str] | None, is_csv: bool, skip_bad: bool
) -> Sequence[Pair]:
    """Return all pairs in a file, or the pairs in a folder's test files; see `Corpus.read_test`.

    If a folder has no test files, all of its pairs are returned. If its data is in a different
    format, such as Parquet, the pairs of its test split are returned. Pairs from text files are not
    filtered, so the scores apply to whole files. With `skip_bad`, bad lines are left out and
    reported.
    """
    files = [Path(path)]
    if files[0].is_dir():
        folder = find_text_folder(path, columns, is_csv, to_train=False)
        if folder is None:
            return open_dataset(path, columns, False, is_csv, 0, skip_bad).test
        parts = ["test"] if "test" in folder.files else sorted(folder.files)
        files = [file for part in parts for file in folder.files[part]]
    pairs: list[Pair] = []
    for file in files:
        found = read_pairs(file, columns, skip_bad=skip_bad, is_csv=is_csv)
        print_faults(found)
        pairs += found.pairs
    return pairs


def open_dataset(
    name: str,
    columns: tuple[str, str] | None,
    stream: bool,
    is_csv: bool,
    seed: int,
    skip_bad: bool,
) -> Splits[Pair]:
    """Return the splits of a folder of text files or of a Hugging Face dataset.

    The splits are stored in the cache. If the folder or dataset has its own validation or test set,
    that set is used.
    """
    local = find_text_folder(name, columns, is_csv) if Path(name).is_dir() else None
    rows = local or open_hub_dataset(name, columns, stream=stream)
    folder = stored_corpus_folder(f"{rows.cache_key} {seed} {skip_bad}")
    read = partial(rows.pairs, "train", skip_bad)
    splits = store_corpus(folder, name, read, seed, partial(rows.read_held_out, skip_bad))
    return replace(splits, form=rows.form)


def stored_corpus_folder(identity: str) -> Path:
    """Return the cache folder for a corpus with this cache key."""
    name = hashlib.sha256(f"{STORED_VERSION} {identity}".encode()).hexdigest()[:16]
    return corpora.user_cache_folder() / "corpora" / name


def train_word_tokenizers(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """Train a word tokenizer for each language on all of its words; `vocab_size` is ignored."""
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    return WordTokenizer.train(sources), WordTokenizer.train(targets)


def train_shared_bpe(pairs: Sequence[SentencePair], vocab_size: int) -> Tokenizers:
    """Train one BPE tokenizer for both languages, as in the paper (§5.1).

    For a stored corpus, the tokenizer is kept in the corpus's folder and trained only once.
    """
    if not isinstance(pairs, StoredPairs):
        texts = [p.source for p in pairs] + [p.target for p in pairs]
        tokenizer = BPETokenizer.train(texts, vocab_size)
        return tokenizer, tokenizer

    def make(folder: Path) -> None:
        tokenizer, _ = train_shared_bpe(pairs.sample(PIECES_OF), vocab_size)
        write_atomically(folder / "tokenizer.json", tokenizer.to_json().encode())
        seal_folder(folder)

    def open_whole(folder: Path) -> Tokenizer:
        verify_folder(folder)
        return load_tokenizer(folder / "tokenizer.json")

    folder = pairs.folder / f"pieces-{vocab_size}-{pairs.fingerprint}"
    kept = open_or_build(folder, open_whole, make)
    return kept, kept


def fingerprint(pairs: Sequence[SentencePair]) -> str:
    """Return a short hash of these pairs.

    A run stores this hash, and refuses to resume with different pairs.
    """
    if isinstance(pairs, StoredPairs):
        return pairs.fingerprint
    sums = hashlib.sha256()
    for pair in pairs:
        sums.update(f"{pair.source}\t{pair.target}\n".encode())
    return sums.hexdigest()[:16]
