"""What the cache of corpora holds, how much room it takes, and how to get that back."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_lab.data.corpora import OURS, PIPED, user_cache_folder
from transformer_lab.data.stored import empty, told_about
from transformer_lab.lock import FolderLock

FOLDER = re.compile(r"[0-9a-f]{16}")
"""How a folder of a stored corpus is called; nothing else is ever looked into or deleted."""
PIPED_FILE = re.compile(r"[0-9a-f]{16}\.(tsv|jsonl)")
"""The same of a file that came through a pipe."""


@dataclass(frozen=True)
class Cached:
    """One corpus in the cache.

    Attributes:
        path: Its folder, or its file.
        corpus: What it was called, or "" if that cannot be read any more.
        seed: That of its splits; None if there is none.
        pairs: How many there are to train on; None if that is not known.
        size: Bytes of all of its files.
    """

    path: Path
    corpus: str
    seed: int | None
    pairs: int | None
    size: int


def list_cache() -> list[Cached]:
    """The corpora in the cache of this user, the largest first."""
    found = [*stored_corpora(), *debian_files(), *piped_files()]
    return sorted(found, key=lambda one: (-one.size, one.path))


def stored_corpora() -> Iterator[Cached]:
    """Those that are stored as folders, and what is left of unfinished, damaged and older ones."""
    folder = user_cache_folder() / "corpora"
    for path in folder.iterdir() if folder.is_dir() else ():
        if not FOLDER.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
            continue
        about: dict[str, Any] = {}
        with suppress(ValueError):
            about = told_about(path)
        named = about.get("corpus", ""), about.get("seed"), about.get("pairs")
        yield Cached(path, *named, size=size_of(path))


def debian_files() -> Iterator[Cached]:
    """Debian's package descriptions, as far as the files are ours."""
    for path in user_cache_folder().glob("debian-*.tsv"):
        with suppress(OSError), path.open("rb") as file:
            if OURS in file.read(100):
                corpus = f"debian:{path.stem.removeprefix('debian-')}"
                yield Cached(path, corpus, None, None, path.stat().st_size)


def piped_files() -> Iterator[Cached]:
    """What came through pipes and is kept, since a pipe can be read only once."""
    for path in (user_cache_folder() / PIPED).glob("*"):
        if PIPED_FILE.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            with suppress(OSError):
                yield Cached(path, f"piped:{path.stem}", None, None, path.stat().st_size)


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder, as far as they are still there."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size
    return total


def clear_cache(names: Sequence[str] = ()) -> list[Cached]:
    """Delete the corpora of these names, or all of them; those that were deleted.

    A name is a corpus, or its folder's name, as `list_cache` has them. What another process is just
    preparing stays.

    Raises:
        ValueError: No corpus in the cache has one of these names; then nothing is deleted.
        OSError: A file cannot be deleted.
    """
    found = list_cache()
    for name in names:
        if not any(is_called(one, name) for one in found):
            known = ", ".join(sorted({one.corpus or one.path.name for one in found})) or "none"
            raise ValueError(f"The cache has no corpus {name!r}. It has: {known}.")
    chosen = [one for one in found if not names or any(is_called(one, name) for name in names)]
    return [one for one in chosen if delete(one.path)]


def is_called(one: Cached, name: str) -> bool:
    """Whether this is the name of a corpus: as it was called, its folder's, or a file's from here."""
    names = {one.path.name, one.corpus} - {""}
    return name in names or str(Path(name).resolve()) in names


def delete(path: Path) -> bool:
    """Delete a file, or a folder that nobody is preparing; whether it was deleted."""
    if path.is_file():
        path.unlink()
        return True
    lock = FolderLock(path)
    try:
        lock.take()
    except ValueError:
        return False
    try:
        empty(path)
    finally:
        lock.release()
    with suppress(OSError):  # somebody begins to prepare it again
        path.rmdir()
    return True
