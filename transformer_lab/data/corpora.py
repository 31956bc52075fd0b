"""Real parallel text that needs no file: the package descriptions of Debian and Ubuntu."""

import errno
import hashlib
import os
import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

from transformer_lab.data.debian import CorpusUnavailable, Row, fetch, rows_from
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import split_groups, without_near_copies
from transformer_lab.files import write_atomically

__all__ = ["CorpusUnavailable", "debian", "debian_rows"]


def debian(
    language: str,
    *,
    cache_folder: Path | str | None = None,
    seed: int = 0,
    validation: int | None = None,
    test: int | None = None,
) -> Splits[Pair]:
    """English sentences of package descriptions and their translations into `language`.

    The first call fetches them through apt, as an ordinary user, from the
    mirrors that this machine uses; later calls read the cache. Families of
    packages, which repeat each other's sentences, are not divided between
    splits, and near copies of training sentences are not held out; so
    validation and test may be a little smaller than asked for.

    Args:
        language: A code as Debian writes it: "fr", "de", "pt_BR".
        cache_folder: By default the one that the system has for this user.
        seed: Chooses the families that are held out.
        validation: Source sentences at most; by default a twentieth, at most 1,000.
        test: The same for the test split.

    Raises:
        ValueError: no such language, or too few sentences in it.
        CorpusUnavailable: there is no apt here, or it did not get the lists.
    """
    rows = debian_rows(language, cache_folder=cache_folder)
    return without_near_copies(split_groups(rows, seed, validation, test))


def debian_rows(language: str, *, cache_folder: Path | str | None = None) -> list[Row]:
    """All pairs of `debian`, each with the family of packages that it describes; same errors."""
    if not re.fullmatch(r"[a-z]{2,3}(?:[_@]\w+)*", language, re.ASCII) or language == "en":
        raise ValueError(f"language is {language!r}; expected a code such as 'fr', 'de' or 'pt_BR'")
    folder = user_cache_folder() if cache_folder is None else Path(cache_folder)
    path = folder / f"debian-{language}.tsv"
    rows = load(path)
    if rows is None:
        unusable = f" ({path} is damaged or old)" if path.exists() else ""
        print(f"fetching package descriptions ({language}) through apt{unusable}", file=sys.stderr)
        rows = rows_from(*fetch(language))
        try:
            save(path, rows)
        except OSError as error:
            warnings.warn(f"{path} cannot be written ({error.strerror})", stacklevel=3)
    return rows


def user_cache_folder() -> Path:
    """Where this user's programs keep what they can make again."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "transformer_lab"


OURS = b" transformer_lab debian"
PIPED = "piped"
"""The folder of the cache that keeps what came through a pipe."""
"""What the beginning of each of our cache files says, whatever its rules."""


def seal(body: str) -> str:
    """The first line of a cache file, by which a damaged one or one of older rules is known."""
    return f"#{OURS.decode()} 1 {hashlib.sha256(body.encode()).hexdigest()}"


def load(path: Path) -> list[Row] | None:
    """The rows of a cache file; None if it is not there or not as it was written."""
    try:
        header, _, body = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if header != seal(body):
        return None
    columns = (line.split("\t") for line in body.split("\n")[:-1])
    return [Row(family, Pair(source, target)) for family, source, target in columns]


def save(path: Path, rows: Iterable[Row]) -> None:
    """Write a cache file: family, source, target. What is no cache of ours is left as it is."""
    begins = path.read_bytes()[:100] if path.exists() else b""
    if begins and OURS not in begins:
        raise FileExistsError(errno.EEXIST, "it is no cache of this package", str(path))
    body = "".join(f"{row.family}\t{row.pair.source}\t{row.pair.target}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, f"{seal(body)}\n{body}".encode())
