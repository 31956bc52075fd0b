"""Commands in processes that have imported everything before they begin.

To import PyTorch takes seconds: what is killed at a random moment of a fresh process is killed before
it has begun. So each is a fork of this process, which has the package and no thread of its own.
"""

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from transformer_lab.cli import main

BAR = re.compile(r"\d+/\d+ \[|it/s|step/s")
PATIENCE = 300
"""Seconds after which a command counts as hung."""


class Command:
    """One command of the package under way; what it says goes into a file beside its folder.

    `prepare` is called in the new process before the command, to limit it or to close its streams.
    """

    def __init__(
        self, arguments: Sequence[str], log: Path, prepare: Callable[[], object] = lambda: None
    ):
        self.log, self.code = log, None
        self.begun = time.monotonic()
        sys.stdout.flush()
        self.id = os.fork()
        if self.id == 0:
            self.be(arguments, log, prepare)

    def be(self, arguments: Sequence[str], log: Path, prepare: Callable[[], object]) -> None:
        """Be the new process, and never come back."""
        code = 1
        try:
            for name in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(name, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            for number in (1, 2):
                os.dup2(out, number)
            prepare()
            sys.stdout = stream(1)
            sys.stderr = stream(2)
            code = main(arguments)
            sys.stdout.flush()
        except SystemExit as asked:
            code = asked.code if isinstance(asked.code, int) else 1
        except BaseException:
            os.write(out, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def wait(self) -> int:
        """Its exit code, below 0 for a signal; a TimeoutError if it hangs."""
        while self.code is None and time.monotonic() - self.begun < PATIENCE:
            self.look()
            time.sleep(0.002)
        if self.code is None:
            self.send(signal.SIGKILL)
            raise TimeoutError(f"no end after {PATIENCE} s: {self.said}")
        return self.code

    def look(self) -> bool:
        """Whether it has ended."""
        if self.code is None:
            found, status = os.waitpid(self.id, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
                self.seconds = time.monotonic() - self.begun
        return self.code is not None

    def send(self, number: int, after: float = 0.0) -> bool:
        """Send a signal so many seconds after its beginning; False if it had ended before."""
        while not self.look():
            left = self.begun + after - time.monotonic()
            if left <= 0:
                os.kill(self.id, number)
                return True
            time.sleep(min(left, 0.001))
        return False

    @property
    def said(self) -> list[str]:
        """The lines that it has printed, without its progress bar."""
        if not self.log.exists():
            return []
        lines = re.split(r"[\r\n]+", self.log.read_text(encoding="utf-8", errors="replace"))
        return [line.strip() for line in lines if line.strip() and not BAR.search(line)]

    @property
    def errors(self) -> list[str]:
        """Those of these lines that say what went wrong; a traceback has many."""
        said = self.said
        if any("Traceback" in line for line in said):
            return said
        return [line for line in said if line.startswith("error: ")]


def stream(number: int) -> TextIO:
    """A standard stream as Python would open it."""
    return open(number, "w", buffering=1 if number == 2 else -1, encoding="utf-8", closefd=False)


@contextmanager
def closed_pipe():
    """The writing end of a pipe whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)
