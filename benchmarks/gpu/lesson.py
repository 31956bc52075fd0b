"""Lesson 09's cells up to its trained translator, run on the device as the notebook has them."""

import ast
import contextlib
import io
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

NOTEBOOK = Path("notebooks/09_training.ipynb")
LAST = "b1604c8e"
"""The cell in which the trained translator translates unseen sentences, the last one that is run."""
CPU_STEPS = 40
"""The number of steps after which training stops without a GPU: enough to show that it runs."""


class Absent:
    """A stand-in for a name whose package is missing, as without Jupyter; it does nothing."""

    def __call__(self, *_: object, **__: object) -> "Absent":
        """Take anything; give something that can be called again."""
        return self

    def __getattr__(self, name: str) -> "Absent":
        return self


def read_cells() -> Iterator[tuple[str, str]]:
    """Iterate over the id and the code of each cell to run; cells that only draw are left out."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        tags = set(cell["metadata"].get("tags", []))
        if cell["cell_type"] == "code" and cell["id"] != "setup" and "drawing" not in tags:
            yield cell["id"], "".join(cell["source"])
        if cell["id"] == LAST:
            return
    raise ValueError(f"{NOTEBOOK} has no cell {LAST!r}; which cell ends its training now?")


def run_cell(code: str, names: dict[str, Any], absent: set[str]) -> None:
    """Run a cell's statements; names from a missing package do nothing."""
    for statement in ast.parse(code).body:
        try:
            exec(compile(ast.Module([statement], []), str(NOTEBOOK), "exec"), names)  # noqa: S102
        except ModuleNotFoundError as error:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                raise
            absent.add(str(error.name))
            names |= {alias.asname or alias.name: Absent() for alias in statement.names}


def stop_training(names: dict[str, Any], seconds: float | None, ended: threading.Event) -> None:
    """Press Ctrl-C after `seconds`, or, if that is None, after CPU_STEPS training steps."""
    if seconds is not None:
        ended.wait(seconds)
    else:
        while not ended.wait(0.1):
            trainer = names.get("trainer")
            if trainer is not None and trainer.progress.step >= CPU_STEPS:
                break
    if not ended.is_set():
        os.kill(os.getpid(), signal.SIGINT)


def section(device: torch.device, seconds: float) -> str:
    """Run the cells and return what they print; the training is stopped when the time is up.

    On a CPU, it is stopped after a few steps instead, because a busy one may use up its seconds
    before training begins.
    """
    names: dict[str, Any] = {"__name__": "lesson_09"}
    limit, ended = (None if device.type == "cpu" else seconds), threading.Event()
    interrupt = threading.Thread(target=stop_training, args=(names, limit, ended), daemon=True)
    absent: set[str] = set()
    printed, rows, start = io.StringIO(), [], time.perf_counter()
    try:
        with contextlib.redirect_stdout(printed):
            interrupt.start()
            for name, code in read_cells():
                began = time.perf_counter()
                run_cell(code, names, absent)
                rows.append(f"{name} {time.perf_counter() - began:.1f} s")
    except KeyboardInterrupt:
        if interrupt.is_alive():  # so a person pressed Ctrl-C
            raise
        done = ", ".join(rows)
        raise TimeoutError(f"the time was up while nothing was training; done: {done}") from None
    finally:
        ended.set()
    where = names["translator"].device
    if where.type != device.type:
        raise RuntimeError(
            f"the lesson trained on {where}; expected {device}, as device='auto' takes it"
        )
    missing = f" Missing, and left out: {', '.join(sorted(absent))}." if absent else ""
    return (
        f"{len(rows)} cells in {time.perf_counter() - start:.0f} s, the translator on {where}.{missing} "
        f"Cells and their seconds: {', '.join(rows)}.\n\n```\n{printed.getvalue().strip()}\n```"
    )
