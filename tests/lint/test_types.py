"""mypy finds nothing in the package and the benchmarks.

As a test it runs beside the others, where a step of its own would leave the other core idle for a minute.
"""

import subprocess
import sys

from tools.build_notebooks import ROOT


def test_mypy_finds_nothing():
    command = [sys.executable, "-m", "mypy"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
