"""Commands of the package, each in a fork of this process; the trials of `chaos` disturb them.

A fresh process takes seconds to import PyTorch, so most random moments would come before training has
begun. A fork has already imported everything, and has only one thread.
"""

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from transformer_lab.command.main import main

BAR = re.compile(r"\d+/\d+ \[|it/s|step/s")
PATIENCE = 300
"""The number of seconds after which a command counts as hung."""


class Command:
    """A running command, whose output goes into a file beside its folder."""

    def __init__(self, arguments: Sequence[str], log: Path):
        self.log, self.code = log, None
        self.begun = time.monotonic()
        sys.stdout.flush()
        self.id = os.fork()
        if self.id == 0:
            self.be(arguments, log)

    def be(self, arguments: Sequence[str], log: Path) -> None:
        """Run the command in the new process, and end the process."""
        code = 1
        try:
            for name in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(name, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            for number in (1, 2):
                os.dup2(out, number)
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
        """Return the exit code, below 0 for a signal; raise a TimeoutError if the command hangs."""
        while self.code is None and time.monotonic() - self.begun < PATIENCE:
            self.look()
            time.sleep(0.002)
        if self.code is None:
            self.send(signal.SIGKILL)
            raise TimeoutError(f"the command did not end in {PATIENCE} s: {self.said}")
        return self.code

    def look(self) -> bool:
        """Return whether it has ended."""
        if self.code is None:
            found, status = os.waitpid(self.id, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
                self.seconds = time.monotonic() - self.begun
        return self.code is not None

    def send(self, number: int, after: float = 0.0) -> bool:
        """Send a signal `after` seconds from the start; return False if the command ended before."""
        while not self.look():
            left = self.begun + after - time.monotonic()
            if left <= 0:
                os.kill(self.id, number)
                return True
            time.sleep(min(left, 0.001))
        return False

    @property
    def said(self) -> list[str]:
        """The lines that the command has printed, without its progress bar."""
        if not self.log.exists():
            return []
        lines = re.split(r"[\r\n]+", self.log.read_text(encoding="utf-8", errors="replace"))
        return [line.strip() for line in lines if line.strip() and not BAR.search(line)]

    @property
    def errors(self) -> list[str]:
        """The printed lines that say what went wrong, which for a traceback are all of them."""
        said = self.said
        if any("Traceback" in line for line in said):
            return said
        return [line for line in said if line.startswith("error: ")]


def stream(number: int) -> TextIO:
    """Return a standard stream, opened as Python does."""
    return open(number, "w", buffering=1 if number == 2 else -1, encoding="utf-8", closefd=False)
