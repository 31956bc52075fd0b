"""Load Debian and Ubuntu package descriptions as a parallel corpus, cached per user.

Lessons call `debian`, and `corpus` uses it for "debian:LANGUAGE". The text comes from
`data.debian`.
"""

import errno
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from transformer_lab.data.debian import CorpusUnavailable, Row, build_rows, fetch_description_lists
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import remove_near_copies, split_groups
from transformer_lab.storage.files import write_atomically

__all__ = ["CorpusUnavailable", "debian", "debian_rows"]


def debian(
    language: str,
    *,
    cache_folder: Path | str | None = None,
    seed: int = 0,
    validation: int | None = None,
    test: int | None = None,
) -> Splits[Pair]:
    """Return sentence pairs from package descriptions and their translations, in three splits.

    The first call fetches the descriptions through apt, as an ordinary user, from this machine's
    mirrors; later calls read the cache. Packages of the same family repeat each other's sentences,
    so a family is never divided between splits. Validation and test sentences that are near copies
    of training sentences are removed, so these two splits may be slightly smaller than requested.

    Args:
        language: A language code as Debian spells it, such as "fr", "de" or "pt_BR".
        cache_folder: Where to cache the corpus; by default, the system's cache folder for this
            user.
        seed: The random seed that determines which families are held out.
        validation: The maximum number of source sentences for validation; by default, a twentieth
            of all source sentences, but at most 1,000.
        test: The maximum number of source sentences for testing, with the same default.

    Raises:
        ValueError: If there are no translations into this language, or too few sentences.
        CorpusUnavailable: If this machine has no apt, or apt could not fetch the lists.
    """
    rows = debian_rows(language, cache_folder=cache_folder)
    return remove_near_copies(split_groups(rows, seed, validation, test))


def debian_rows(language: str, *, cache_folder: Path | str | None = None) -> list[Row]:
    """Return all sentence pairs before splitting, each with its package family.

    Raises:
        ValueError: If there are no translations into this language.
        CorpusUnavailable: If this machine has no apt, or apt could not fetch the lists.
    """
    if not re.fullmatch(r"[a-z]{2,3}(?:[_@]\w+)*", language, re.ASCII) or language == "en":
        raise ValueError(f"language is {language!r}; expected a code such as 'fr', 'de' or 'pt_BR'")
    folder = user_cache_folder() if cache_folder is None else Path(cache_folder)
    path = folder / f"debian-{language}.tsv"
    rows = read_cache_file(path)
    if rows is None:
        unusable = f" ({path} is damaged or outdated)" if path.exists() else ""
        print(f"fetching package descriptions ({language}) through apt{unusable}", file=sys.stderr)
        rows = build_rows(*fetch_description_lists(language))
        try:
            write_cache_file(path, rows)
        except OSError as error:
            warnings.warn(f"{path} cannot be written ({error.strerror})", stacklevel=3)
    return rows


def user_cache_folder() -> Path:
    """Return the folder in which this package caches files for the current user."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "transformer_lab"


CACHE_MARK = b" transformer_lab debian"
"""A marker near the start of every cache file; it is the same in all versions of the format."""
PIPE_FOLDER = "piped"
"""The name of the cache folder for corpora that were read from a pipe."""


def cache_header(body: str) -> str:
    """Return a cache file's header line, with a version and a checksum to detect unusable files."""
    return f"#{CACHE_MARK.decode()} 1 {hashlib.sha256(body.encode()).hexdigest()}"


def read_cache_file(path: Path) -> list[Row] | None:
    """Return the rows of a cache file, or None if it is missing, damaged or outdated."""
    try:
        header, _, body = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if header != cache_header(body):
        return None
    columns = (line.split("\t") for line in body.split("\n")[:-1])
    return [Row(family, Pair(source, target)) for family, source, target in columns]


def write_cache_file(path: Path, rows: Iterable[Row]) -> None:
    """Write rows to a cache file as tab-separated lines of family, source and target.

    Raises:
        FileExistsError: If the file exists and this package did not write it. The file is then left
            unchanged.
    """
    begins = path.read_bytes()[:100] if path.exists() else b""
    if begins and CACHE_MARK not in begins:
        raise FileExistsError(errno.EEXIST, "the file was written by another program", str(path))
    body = "".join(f"{row.family}\t{row.pair.source}\t{row.pair.target}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{cache_header(body)}\n{body}".encode())
