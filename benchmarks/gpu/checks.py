"""The tests of tests/gpu, run on the device."""

import os
import re
import subprocess
import sys
from pathlib import Path

import torch

ROOT = Path(__file__).parents[2]


def run_command(command: list[str], seconds: float, **variables: str) -> str:
    """Return what a command prints; raise a RuntimeError with the end of that if it fails."""
    done = subprocess.run(  # noqa: S603
        command,
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=max(180.0, 2 * seconds),
        check=False,
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command[:4])} failed:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout


def run_tests(device: torch.device, seconds: float) -> str:
    """Run tests/gpu and list the tests; raise a RuntimeError if one fails or is skipped."""
    # The options in pyproject.toml need packages that a machine with a GPU may not have.
    options = ["-o", "addopts=--import-mode=importlib -p no:nbval", "-o", "filterwarnings=default"]
    command = [sys.executable, "-m", "pytest", "tests/gpu", "-v", "--tb=short", *options]
    printed = run_command(command, seconds, TEST_DEVICE=str(device), OMP_NUM_THREADS="1")
    outcomes = re.findall(r"::(test_.+?) (PASSED|SKIPPED)", printed)
    if not outcomes or any(outcome == "SKIPPED" for _, outcome in outcomes):
        raise RuntimeError(f"expected every test to run:\n{printed[-3000:]}")
    names = "\n".join(f"- {name.replace('_', ' ').removeprefix('test ')}" for name, _ in outcomes)
    return (
        f"{len(outcomes)} tests passed on {device.type}, each beside the CPU or float64:\n\n{names}"
    )
