"""Files that are there as a whole or not at all: one alone, or several together.

One file is written beside its place and moved there in one step. Several are written into a folder
beside theirs, which then gets another name in one step: from there on they count, and after a crash
whoever writes next moves what has not been moved.
"""

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

NEW, READY = ".transformer_lab.new", ".transformer_lab.ready"
"""The folder of files that do not count yet, and its name from the moment on in which they do."""
GONE = ".gone"
"""In that folder: the names of files that leave when the others come, one a line."""
NAME = re.compile(r"\w[\w.-]*")
"""A file's name in the same folder, and no path to anywhere else."""
LEFT = re.compile(r"\.\w+\.(?:json|md|safetensors)\.[0-9a-f]{8}\.part")
"""Names of what a process that was killed has left beside its files; nobody else would choose them."""


def path_of(name: str | Path) -> Path:
    """The path of a name that a user gave; `~` is their home."""
    try:
        return Path(name).expanduser()
    except RuntimeError as error:  # of a user who is not there
        raise ValueError(
            f"path is {str(name)!r}; expected one that can be found: {error}"
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file or nothing; an OSError, which names the file, without room or permission.

    The file gets the rights that the user's umask leaves. A link keeps pointing where it points.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():  # a device takes bytes, and is never replaced
        place.write_bytes(content)
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        write_new(beside, content)
        os.replace(beside, place)
        sync(place.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_together(folder: Path, files: Mapping[str, bytes], gone: Iterable[str] = ()) -> None:
    """Write all these files of a folder, and remove those that are `gone`, or change nothing.

    For one writer at a time, see `lock.py`. Until the last file is moved, `current` finds them.
    """
    settle(folder)
    new = folder / NEW
    try:
        new.mkdir()
        for name, content in files.items():
            write_new(new / name, content)
        write_new(new / GONE, "\n".join(gone).encode())
        sync(new)
        new.rename(folder / READY)
        sync(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    settle(folder)


def settle(folder: Path) -> None:
    """Finish what a writer that was killed had begun: move what counts, remove what does not."""
    ready = folder / READY
    if (ready / GONE).exists():
        for name in (ready / GONE).read_text().splitlines():
            if NAME.fullmatch(name):  # a folder from elsewhere may ask for anything
                (folder / name).unlink(missing_ok=True)
        for file in ready.iterdir():
            if file.name != GONE:
                os.replace(file, folder / file.name)
        sync(folder)
    shutil.rmtree(ready, ignore_errors=True)
    for path in leftovers(folder):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def read_settled(folder: Path, read: Callable[[], T]) -> T:
    """What `read` finds in a folder, which it reads anew if somebody was writing there meanwhile.

    Whoever has to wait for more than a second gets the error of the last time.
    """
    end = time.monotonic() + 1
    while True:
        before = state_of(folder)
        try:
            return read()
        except (ValueError, OSError):
            if state_of(folder) == before or time.monotonic() > end:
                raise


def state_of(folder: Path) -> set[tuple[str, int, int]]:
    """What changes whenever a file of a folder does; empty if there is no such folder."""
    found = set()
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # gone since it was listed
            status = path.stat()
            found.add((path.name, status.st_ino, status.st_mtime_ns))
    return found


def leftovers(folder: Path) -> Iterator[Path]:
    """What was being written when its writer was killed, and counts for nothing."""
    for path in list(folder.iterdir()):
        if path.name == NEW or LEFT.fullmatch(path.name):
            yield path


def current(folder: Path, name: str) -> Path:
    """Where a file of a folder is: in its place, or still where its writer was killed."""
    waiting = folder / READY / name
    return waiting if waiting.exists() else folder / name


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, and wait for the disk to have it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Wait for the disk to have the names in a folder, where the system can tell."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some file systems have nothing to say
                os.fsync(handle)
        finally:
            os.close(handle)
