"""Use the translator, the live lab and the lab in a page for long, and see whether memory grows.

`python -m tools.stress soak` runs it, and exits with 1 if something grew or failed:

    python -m tools.stress soak                     20,000 translations, 2,000 edits of each: 15 minutes
    python -m tools.stress soak --minutes 60        the same, but for at least an hour
    python -m tools.stress soak --write             and write what was found into docs/trust.md

Two processes work side by side with one thread each: one translates and edits the live lab as
its page would ask it to, the other edits the lab in Chromium (`tools/get_browsers.sh` installs it on
Debian). A size is flat if it never rises more than 5% above what it was after the first tenth of the
acts. One size grows for a known reason, and only counts as a failure if it grows by more than that.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.report import table
from tools.stress.soak.sizes import Sizes
from tools.written import DOCUMENTS, machine, put

TRANSLATIONS, EDITS = 20_000, 2_000
KNOWN_GROWTH = {"lab, heap of its script in MB": 0.3}
"""What may grow for a known reason, and by how much at most: the script engine goes on compiling for
hundreds of edits (docs/trust.md has the measurements)."""
HEAD = (
    *("what", "actions", "after the warm-up", "highest later", "growth", "at the end"),
    "slope per 1,000 actions",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both processes; return 1 if something grew or failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress soak")
    parser.add_argument("--minutes", type=float, default=0, help="go on for at least this long")
    parser.add_argument(
        "--share", type=float, default=1, help="share of the acts to run, for a trial"
    )
    parser.add_argument("--write", action="store_true", help="also write docs/trust.md")
    chosen = parser.parse_args(arguments)
    asked = {"translating": TRANSLATIONS, "lab_page": EDITS}
    started = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", f"tools.stress.soak.{name}"),
                *(str(round(count * chosen.share)), str(chosen.minutes)),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        for name, count in asked.items()
    ]
    printed = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        return 1
    every = [Sizes(**sizes) for text in printed for sizes in json.loads(text.splitlines()[-1])]
    text = report(every)
    print(text)
    if chosen.write:
        put(DOCUMENTS / "trust.md", "soak", text)
    grown = [s for s in every if not s.is_flat and s.growth > KNOWN_GROWTH.get(s.what, 0)]
    return 1 if grown else 0


def report(every: Sequence[Sizes]) -> str:
    """Return the table, with how long it took and on what machine."""
    rows = [
        [
            *(sizes.what, f"{sizes.acts:,}", f"{sizes.first:,.1f}", f"{sizes.most:,.1f}"),
            *(f"{100 * sizes.growth:+.1f} %", f"{sizes.last:,.1f}", f"{sizes.slope:+,.3f}"),
        ]
        for sizes in every
    ]
    minutes = max(sizes.minutes for sizes in every)
    flat = sum(sizes.is_flat for sizes in every)
    said = f"{flat} of {len(every)} sizes are flat. It took {minutes:.0f} minutes on {machine()}."
    return f"{table(HEAD, rows)}\n{said}"


if __name__ == "__main__":
    sys.exit(main())
