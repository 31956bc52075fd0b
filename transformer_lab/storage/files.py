"""Atomic writes: a file, or a group of files, is written completely or not at all.

Models, training states, pages and results are saved this way. A single file is written under a
temporary name and moved into place in one step. Several files are written into a temporary folder,
which is then renamed in one step. From then on, readers get the new files. If the process is killed
before all of them have been moved into place, the next writer moves the rest.
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

STAGING_FOLDER, COMMITTED_FOLDER = ".transformer_lab.new", ".transformer_lab.ready"
"""The names of the folder for new files: while they are being written, and once it is complete."""
REMOVALS_FILE = ".gone"
"""The file in this folder that lists the old files to remove, one per line."""
NAME = re.compile(r"\w[\w.-]*")
"""The pattern for the name of a file in the same folder; paths that lead elsewhere do not match."""
TEMPORARY_NAME = re.compile(r"\.\w+\.(?:json|md|safetensors)\.[0-9a-f]{8}\.part")
"""The pattern for the names of temporary files, which a killed process may leave behind."""


def expand_path(name: str | Path) -> Path:
    """Return the path that a user entered, with `~` expanded.

    Raises:
        ValueError: If the home folder that `~` stands for cannot be found.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:  # the user does not exist
        raise ValueError(
            f"the path {str(name)!r} cannot be resolved, because its home folder is unknown"
        ) from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all.

    The file gets the permissions that the user's umask allows. A symbolic link is kept, and the
    file it points to is replaced.

    Raises:
        OSError: If the disk is full, permission is denied, or writing fails for another reason; the
            message names the file.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():  # write to a device, never replace it
        place.write_bytes(content)
        return
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        write_new_file(beside, content)
        os.replace(beside, place)
        sync_folder(place.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_files_atomically(
    folder: Path, files: Mapping[str, bytes], removed: Iterable[str] = ()
) -> None:
    """Write files to a folder and remove others, either completely or not at all.

    The caller must hold the folder's lock (`storage.lock`). Readers find the files with
    `locate_file`, even before they are moved into place.

    Args:
        folder: The folder, which must exist.
        files: The contents of the files to write, by name.
        removed: The names of the files to remove.
    """
    recover_folder(folder)
    new = folder / STAGING_FOLDER
    try:
        new.mkdir()
        for name, content in files.items():
            write_new_file(new / name, content)
        write_new_file(new / REMOVALS_FILE, "\n".join(removed).encode())
        sync_folder(new)
        new.rename(folder / COMMITTED_FOLDER)
        sync_folder(folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    recover_folder(folder)


def recover_folder(folder: Path) -> None:
    """Finish what a killed writer began: move complete files into place, and delete leftovers."""
    ready = folder / COMMITTED_FOLDER
    if (ready / REMOVALS_FILE).exists():
        for name in (ready / REMOVALS_FILE).read_text().splitlines():
            if NAME.fullmatch(name):  # a damaged or foreign file may name anything
                (folder / name).unlink(missing_ok=True)
        for file in ready.iterdir():
            if file.name != REMOVALS_FILE:
                os.replace(file, folder / file.name)
        sync_folder(folder)
    shutil.rmtree(ready, ignore_errors=True)
    for path in find_leftovers(folder):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def read_consistently(folder: Path, read: Callable[[], T]) -> T:
    """Call `read` and return its result; retry if it fails while another process is writing.

    If it still fails after one second, the last error is raised.
    """
    end = time.monotonic() + 1
    while True:
        before = list_file_states(folder)
        try:
            return read()
        except (ValueError, OSError):
            if list_file_states(folder) == before or time.monotonic() > end:
                raise


def list_file_states(folder: Path) -> set[tuple[str, int, int]]:
    """Return each file's name, inode and modification time; the folder need not exist."""
    found = set()
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # it was removed after it was listed
            status = path.stat()
            found.add((path.name, status.st_ino, status.st_mtime_ns))
    return found


def find_leftovers(folder: Path) -> Iterator[Path]:
    """Yield the temporary files and folders that a killed writer left behind in a folder."""
    for path in list(folder.iterdir()):
        if path.name == STAGING_FOLDER or TEMPORARY_NAME.fullmatch(path.name):
            yield path


def locate_file(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, even if it has not been moved into place yet."""
    waiting = folder / COMMITTED_FOLDER / name
    return waiting if waiting.exists() else folder / name


def write_new_file(path: Path, content: bytes) -> None:
    """Create a file and wait until it is on the disk.

    Raises:
        OSError: If the file already exists, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until a folder's directory entries are on the disk, if the system supports it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):  # some file systems do not support it
                os.fsync(handle)
        finally:
            os.close(handle)
