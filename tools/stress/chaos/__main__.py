"""Disturb training in every way that a machine can, and see whether anything is lost.

`python -m tools.stress chaos` runs it, for about twelve minutes, and exits with 1 if anything was lost:

    python -m tools.stress chaos             every kind of disturbance
    python -m tools.stress chaos kills       one kind: kills, disks, signals, doubles, several, kernels
    python -m tools.stress chaos --write     and write what was found into docs/trust.md

After each trial, the resumed run must reach exactly the weights of an undisturbed run, and its folder
must hold nothing but the run. At every moment in between, the folder must be usable, or one line must
say why not. It needs Linux, the right to mount a small disk (root) for `disks`, and Chromium for
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
    """Restart the kernel of a live lab in JupyterLab once, and kill it once."""
    report = Report("kernels gone under a live lab")
    for which in ("restarted", "dead"):
        asked = [sys.executable, "-m", "pytest", "-q", RESTARTED, "-k", which]
        done = subprocess.run(asked, capture_output=True, text=True)
        is_held = done.returncode == 0 and "1 passed" in done.stdout  # and it was not skipped
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
    """Run the trials, and return 1 if something was lost."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress chaos")
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], metavar="kind")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the random moments (default 0)"
    )
    parser.add_argument("--trials", type=int, help="number of trials of each kind")
    parser.add_argument("--write", action="store_true", help="also write docs/trust.md")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # a fork only has the thread that forks
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
    """Return one line of the table."""
    moments = ", ".join(f"{count} {moment}" for moment, count in sorted(report.moments.items()))
    return [report.name, str(report.trials), str(report.held), moments or "–"]


if __name__ == "__main__":
    sys.exit(main())
