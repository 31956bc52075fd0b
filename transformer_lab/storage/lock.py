"""A lock on a folder, so that only one process can write to it at a time.

Runs, caches, the learner's diary and `Translator.save` use it. The operating system ties the lock
to an open file, so a killed process loses it.
"""

import contextlib
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = ".transformer_lab.lock"


class FolderLock:
    """A lock on a folder; a new object does not hold it until `acquire` is called."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / LOCK
        self.finalizer: weakref.finalize | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self.finalizer is not None and self.finalizer.alive

    def acquire(self) -> None:
        """Acquire the lock, creating the folder if necessary.

        Raises:
            ValueError: If the lock is already held.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = open_and_lock(self.path)
        if handle is None:
            raise ValueError(
                f"another process is using {self.folder}. Wait until it has finished, or choose "
                "another folder"
            )
        self.finalizer = weakref.finalize(self, unlock, handle, self.path)

    def release(self) -> None:
        """Release the lock if this object holds it."""
        if self.finalizer is not None:
            self.finalizer()


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the folder's lock inside the block.

    Raises:
        ValueError: If another process holds it.
    """
    lock = FolderLock(folder)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def open_and_lock(path: Path) -> int | None:
    """Open and lock the lock file; return its descriptor, or None if another process holds it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not try_lock(handle):
            os.close(handle)
            return None
        # The previous holder may have removed the file since it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock an open file without waiting, and return whether that worked."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock(handle: int, path: Path) -> None:
    """Remove and close the lock file; Windows can remove it only after it has been closed."""
    if sys.platform != "win32":
        path.unlink(missing_ok=True)
    os.close(handle)
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            path.unlink()
