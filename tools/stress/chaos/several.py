"""Two processes under torchrun, one of which is killed: the other ends too, and both are resumed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.stress.chaos import disturbed
from tools.stress.chaos.process import PATIENCE
from tools.stress.chaos.trials import Place, Report

KILLS = 4
LATER = 0.6
"""The longest time between the first save and the kill, in seconds."""
FIRST, OTHER = "the first process", "the other process"


def trials(place: Place, count: int = KILLS) -> Report:
    """While both train, kill in turn the process that saves and the one that does not."""
    report = Report("torchrun")
    whole = place.fresh()
    code, said = end_of(start(disturbed.begin(place.corpus, whole), whole))
    if code:
        raise RuntimeError(said)
    expected = disturbed.sum_of_weights(whole)
    for number in range(count):
        out, rank = place.fresh(), number % 2
        together = start(disturbed.begin(place.corpus, out), out)
        while disturbed.step_of(out) is None and together.poll() is None:
            time.sleep(0.01)  # imports take most of the time, but the kill should come in training
        time.sleep(place.random.uniform(0.0, LATER))
        victims = children_of(together.pid)
        if len(victims) == 2:
            os.kill(victims[rank], signal.SIGKILL)
            report.count(OTHER if rank else FIRST)
        code, said = end_of(together)
        wrong = [] if code or len(victims) < 2 else ["torchrun ended with 0"]
        wrong += place.wrong_use(out)
        code, said = end_of(start(disturbed.go_on(place.corpus, out), out))
        wrong += [said] if code else place.wrong_folder(out, expected) + place.wrong_use(out)
        report.add(wrong, f"process {rank} of 2")
    return report


def start(arguments: Sequence[str], out: Path) -> subprocess.Popen:
    """Start two processes that train together, with a log file beside their folder."""
    engine = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
    ]
    with out.with_suffix(".torchrun.log").open("ab") as log:
        return subprocess.Popen(
            [*engine, "-m", "tools.stress.chaos.disturbed", *arguments],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=log,
            stderr=log,
        )


def end_of(together: subprocess.Popen) -> tuple[int, str]:
    """Return the exit code of torchrun, and a line that names its command."""
    return together.wait(PATIENCE), f"{together.args} ended with {together.returncode}"


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started, in the order of their start."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    return [int(number) for number in listed.read_text().split()] if listed.exists() else []
