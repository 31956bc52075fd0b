"""Debian's and Ubuntu's package descriptions as a parallel corpus, cached for the user.

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
    """Return sentences of package descriptions with their translations from English, in three splits.

    The first call fetches them through apt, as an ordinary user, from the mirrors that this machine
    uses; later calls read the cache. Packages of one family repeat each other's sentences, so a
    family is never divided between splits. Near copies of training sentences are removed from
    validation and test, which may therefore be a little smaller than asked for.

    Args:
        language: A language code as Debian writes it: "fr", "de", "pt_BR".
        cache_folder: By default the system's cache folder for this user.
        seed: Chooses the families that are held out.
        validation: Source sentences at most; by default a twentieth, at most 1,000.
        test: The same for the test split.

    Raises:
        ValueError: There is no such language, or it has too few sentences.
        CorpusUnavailable: This machine has no apt, or apt did not get the lists.
    """
    rows = debian_rows(language, cache_folder=cache_folder)
    return remove_near_copies(split_groups(rows, seed, validation, test))


def debian_rows(language: str, *, cache_folder: Path | str | None = None) -> list[Row]:
    """Return all pairs of `debian` before they are split, each with its family of packages.

    Raises:
        ValueError: There is no such language.
        CorpusUnavailable: This machine has no apt, or apt did not get the lists.
    """
    if not re.fullmatch(r"[a-z]{2,3}(?:[_@]\w+)*", language, re.ASCII) or language == "en":
        raise ValueError(f"language is {language!r}; expected a code such as 'fr', 'de' or 'pt_BR'")
    folder = user_cache_folder() if cache_folder is None else Path(cache_folder)
    path = folder / f"debian-{language}.tsv"
    rows = read_cache_file(path)
    if rows is None:
        unusable = f" ({path} is damaged or old)" if path.exists() else ""
        print(f"fetching package descriptions ({language}) through apt{unusable}", file=sys.stderr)
        rows = build_rows(*fetch_description_lists(language))
        try:
            write_cache_file(path, rows)
        except OSError as error:
            warnings.warn(f"{path} cannot be written ({error.strerror})", stacklevel=3)
    return rows


def user_cache_folder() -> Path:
    """Return the folder for files that this package can make again, for this user and system."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "transformer_lab"


CACHE_MARK = b" transformer_lab debian"
"""The mark near the beginning of each of our cache files, whatever their format version."""
PIPE_FOLDER = "piped"
"""The name of the cache's folder for text that came through a pipe."""


def cache_header(body: str) -> str:
    """Return the first line of a cache file: version and checksum, which reveal old or damaged files."""
    return f"#{CACHE_MARK.decode()} 1 {hashlib.sha256(body.encode()).hexdigest()}"


def read_cache_file(path: Path) -> list[Row] | None:
    """Return the rows of a cache file; None if it is missing, damaged or of another version."""
    try:
        header, _, body = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if header != cache_header(body):
        return None
    columns = (line.split("\t") for line in body.split("\n")[:-1])
    return [Row(family, Pair(source, target)) for family, source, target in columns]


def write_cache_file(path: Path, rows: Iterable[Row]) -> None:
    """Write rows into a cache file, as family, source and target with tabs between them.

    Raises:
        FileExistsError: A file is there that is no cache of this package; it is left as it is.
    """
    begins = path.read_bytes()[:100] if path.exists() else b""
    if begins and CACHE_MARK not in begins:
        raise FileExistsError(errno.EEXIST, "it is not a cache of this package", str(path))
    body = "".join(f"{row.family}\t{row.pair.source}\t{row.pair.target}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{cache_header(body)}\n{body}".encode())
