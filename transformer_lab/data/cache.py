"""List the corpora in the user's cache with their sizes, or delete corpora from the cache.

The command `transformer-lab cache` uses this module.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_lab.data.corpora import CACHE_MARK, PIPE_FOLDER, user_cache_folder
from transformer_lab.data.stored import delete_contents, read_about
from transformer_lab.storage.lock import FolderLock

FOLDER = re.compile(r"[0-9a-f]{16}")
"""The pattern for the folder names of stored corpora; no other folder is ever read or deleted."""
PIPED_FILE = re.compile(r"[0-9a-f]{16}\.(tsv|jsonl)")
"""The pattern for the names of files saved from a pipe; no other file is ever read or deleted."""


@dataclass(frozen=True)
class CachedCorpus:
    """One corpus in the cache.

    Attributes:
        path: The corpus's folder or file.
        corpus: The name under which it was opened, or "" if the name can no longer be read.
        seed: The seed of its splits, or None if it is unknown or the corpus is not split.
        pairs: The number of training pairs, or None if it is unknown.
        size: The total size of its files in bytes.
    """

    path: Path
    corpus: str
    seed: int | None
    pairs: int | None
    size: int


def list_cache() -> list[CachedCorpus]:
    """Return the corpora in this user's cache, largest first."""
    found = [*list_stored_corpora(), *list_debian_files(), *list_piped_files()]
    return sorted(found, key=lambda one: (-one.size, one.path))


def list_stored_corpora() -> Iterator[CachedCorpus]:
    """Yield the corpora stored as folders, including unfinished, damaged and outdated ones."""
    folder = user_cache_folder() / "corpora"
    for path in folder.iterdir() if folder.is_dir() else ():
        if not FOLDER.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
            continue
        about: dict[str, Any] = {}
        with suppress(ValueError):
            about = read_about(path)
        named = about.get("corpus", ""), about.get("seed"), about.get("pairs")
        yield CachedCorpus(path, *named, size=folder_size(path))


def list_debian_files() -> Iterator[CachedCorpus]:
    """Yield the cache files of Debian's package descriptions.

    Files that this package did not write are left out.
    """
    for path in user_cache_folder().glob("debian-*.tsv"):
        with suppress(OSError), path.open("rb") as file:
            if CACHE_MARK in file.read(100):
                corpus = f"debian:{path.stem.removeprefix('debian-')}"
                yield CachedCorpus(path, corpus, None, None, path.stat().st_size)


def list_piped_files() -> Iterator[CachedCorpus]:
    """Yield the cache files of corpora that were read from a pipe.

    These files are kept because a pipe can be read only once.
    """
    for path in (user_cache_folder() / PIPE_FOLDER).glob("*"):
        if PIPED_FILE.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            with suppress(OSError):
                yield CachedCorpus(path, f"piped:{path.stem}", None, None, path.stat().st_size)


def folder_size(folder: Path) -> int:
    """Return the total size of a folder's files in bytes, skipping files that have disappeared."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size
    return total


def clear_cache(names: Sequence[str] = ()) -> list[CachedCorpus]:
    """Delete the named corpora, or all corpora if no name is given, and return what was deleted.

    A name can be a corpus's name, its path, or the name of its folder, as listed by `list_cache`. A
    corpus that another process is preparing is left alone.

    Raises:
        ValueError: If one of these names matches no corpus in the cache. In that case, nothing is
            deleted.
        OSError: If a file cannot be deleted.
    """
    found = list_cache()
    for name in names:
        if not any(has_name(one, name) for one in found):
            known = ", ".join(sorted({one.corpus or one.path.name for one in found})) or "nothing"
            raise ValueError(f"the cache has no corpus {name!r}. It contains: {known}")
    chosen = [one for one in found if not names or any(has_name(one, name) for name in names)]
    return [one for one in chosen if delete_path(one.path)]


def has_name(one: CachedCorpus, name: str) -> bool:
    """Return whether `name` is the name of this corpus, its path, or the name of its folder."""
    names = {one.path.name, one.corpus} - {""}
    return name in names or str(Path(name).resolve()) in names


def delete_path(path: Path) -> bool:
    """Delete a file or a folder, and return whether it was deleted.

    A folder is left alone if another process is preparing it.
    """
    if path.is_file():
        path.unlink()
        return True
    lock = FolderLock(path)
    try:
        lock.acquire()
    except ValueError:
        return False
    try:
        delete_contents(path)
    finally:
        lock.release()
    with suppress(OSError):  # another process may have begun to prepare it again
        path.rmdir()
    return True
