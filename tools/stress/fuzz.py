"""Ask 50,000 random questions of every part, different ones in each run.

`python -m tools.stress fuzz` runs it; `make test` asks 500, the same ones each time. It needs
Chromium for one property (`tools/get_browsers.sh` installs it on Debian). Arguments that this module
does not know are passed on to pytest: `--hypothesis-seed=7` repeats a run.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from tools.checkout import ROOT

PROPERTIES = ("tests/fuzz", "tests/browser/test_records_by_chance.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the properties with this many questions in total; return pytest's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress fuzz")
    parser.add_argument(
        "--cases", type=int, default=50_000, help="number of questions (default 50,000)"
    )
    chosen, rest = parser.parse_known_args(arguments)
    options = ["-n", "2", "--dist", "loadfile", "-o", "timeout=3600"]
    command = [sys.executable, "-m", "pytest", *options, *PROPERTIES, *rest]
    settings = {"FUZZ_CASES": str(chosen.cases), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=ROOT, env=os.environ | settings).returncode


if __name__ == "__main__":
    sys.exit(main())
