"""One writer for a folder at a time.

The lock is the operating system's, on an open file: a process that is killed has let go of it.
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
    """A folder's lock, which is free at first; `take` it, and `release` it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / LOCK
        self.let_go: weakref.finalize | None = None

    @property
    def held(self) -> bool:
        """Is it this one that holds the lock?"""
        return self.let_go is not None and self.let_go.alive

    def take(self) -> None:
        """Hold the lock of the folder, which is made; a ValueError if somebody else holds it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = opened(self.path)
        if handle is None:
            expected = "a folder that nobody else trains or saves in: take another (--out), or wait"
            raise ValueError(f"{self.folder} is in use; expected {expected}")
        self.let_go = weakref.finalize(self, free, handle, self.path)

    def release(self) -> None:
        """Let go of the lock, if it is held."""
        if self.let_go is not None:
            self.let_go()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Inside the block nobody else writes to this folder; a ValueError if somebody does."""
    lock = FolderLock(folder)
    lock.take()
    try:
        yield
    finally:
        lock.release()


def opened(path: Path) -> int | None:
    """A descriptor of the lock's file that holds the lock; None if somebody else does."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        if not lock_at_once(handle):
            os.close(handle)
            return None
        # Whoever held it before may have removed the file since it was opened here.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        os.close(handle)


def lock_at_once(handle: int) -> bool:
    """Lock an open file; whether it was free."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def free(handle: int, path: Path) -> None:
    """Remove the lock's file and let go of it; Windows removes none that is open."""
    if sys.platform != "win32":
        path.unlink(missing_ok=True)
    os.close(handle)
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            path.unlink()
