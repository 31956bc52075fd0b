"""Disturb training in every way that a machine has, and see whether anything is lost.

`python -m tools.stress chaos` runs it, for about twelve minutes, and exits with 1 if anything was lost:

    python -m tools.stress chaos             every kind of disturbance
    python -m tools.stress chaos kills       one kind: kills, disks, signals, doubles, several, kernels
    python -m tools.stress chaos --write     and write what was found into docs/trust.md

After each trial, a run that is resumed must reach exactly the weights of a run that nobody disturbed,
and its folder must hold nothing but the run. At each moment in between, the folder can be used, or one
line says why not. It needs Linux, the right to mount a small disk (root) for `disks`, and Chromium for
`kernels` (`tools/get_browsers.sh` installs it on Debian).
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.report import table
from tools.stress.chaos import disks, doubles, kills, several, signals
from tools.stress.chaos.trials import Place, Report
from tools.written import DOCUMENTS, machine, put

HEAD = ("what", "trials", "held", "when")
RESTARTED = "tests/browser/test_widget_restart.py"


def kernels(*_: Any) -> Report:
    """Restart the kernel under a live lab in JupyterLab once, and kill it once."""
    report = Report("kernels gone under a live lab")
    for which in ("restarted", "dead"):
        asked = [sys.executable, "-m", "pytest", "-q", RESTARTED, "-k", which]
        done = subprocess.run(asked, capture_output=True, text=True)
        is_held = done.returncode == 0 and "1 passed" in done.stdout  # and was not left out
        report.add([] if is_held else [done.stdout[-2000:]], which)
    return report


KINDS = {
    "kills": kills.trials,
    "disks": disks.trials,
    "signals": signals.trials,
    "doubles": doubles.trials,
    "several": several.trials,
    "kernels": kernels,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the trials; 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress chaos")
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], metavar="kind")
    parser.add_argument("--seed", type=int, default=0, help="for the moments (default 0)")
    parser.add_argument("--trials", type=int, help="how many of each kind")
    parser.add_argument("--write", action="store_true", help="into docs/trust.md too")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # a fork has no other threads than the one that forks
    reports = []
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), chosen.seed)
        for kind in chosen.kinds or KINDS:
            asked = (chosen.trials,) if chosen.trials else ()
            reports.append(KINDS[kind](place, *asked))
            print(table(HEAD, [row_of(reports[-1])]), flush=True)
            for failure in reports[-1].failures:
                print(failure, file=sys.stderr, flush=True)
    if chosen.write:
        text = f"{table(HEAD, list(map(row_of, reports)))}\nOn {machine()}; seed {chosen.seed}."
        put(DOCUMENTS / "trust.md", "chaos", text)
    return 1 if any(report.failures for report in reports) else 0


def row_of(report: Report) -> list[str]:
    """One line of the table."""
    moments = ", ".join(f"{count} {moment}" for moment, count in sorted(report.moments.items()))
    return [report.name, str(report.trials), str(report.held), moments or "–"]


if __name__ == "__main__":
    sys.exit(main())
