"""Use translator, live explorer and bench for a long time: `make soak`.

    python -m tools.soak                     20,000 translations, 2,000 edits of each: 15 minutes
    python -m tools.soak --minutes 60        as many, and on until an hour has gone
    python -m tools.soak --write             and write what was found into docs/trust.md

Two processes work side by side with one thread each: one translates and edits the live explorer as
its page would ask it, one edits the bench in a browser. Each has a size after the first tenth of the
acts; flat is what never grows to more than 5 % above it.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.report import table
from tools.soak.sizes import Sizes
from tools.written import DOCUMENTS, machine, put

TRANSLATIONS, EDITS = 20_000, 2_000
HEAD = (
    *("what", "acts", "after the warm-up", "the most later", "growth", "at the end"),
    "slope for 1,000 acts",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both; 1 if something grew or failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak")
    parser.add_argument("--minutes", type=float, default=0, help="go on for so long at least")
    parser.add_argument("--share", type=float, default=1, help="of the acts, to try it out")
    parser.add_argument("--write", action="store_true", help="into docs/trust.md too")
    chosen = parser.parse_args(arguments)
    asked = {"translating": TRANSLATIONS, "bench_page": EDITS}
    started = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", f"tools.soak.{name}"),
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
    text = told(every)
    print(text)
    if chosen.write:
        put(DOCUMENTS / "trust.md", "soak", text)
    return 0 if all(sizes.is_flat for sizes in every) else 1


def told(every: Sequence[Sizes]) -> str:
    """The table, and how long it took where."""
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
