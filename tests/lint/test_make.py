"""`make test` runs all of its parts, whatever became of the ones before, and then says which failed.

`make test-all` runs the same parts, and then what they leave out.
"""

import re
import shutil
import subprocess
import sys

import pytest

from tools.build_notebooks import ROOT, every_notebook


def test_the_makefile_shows_at_most_ten_targets():
    shown = re.findall(r"^# make ([\w-]+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {"lab", "quick", "test"} <= set(shown)
    assert len(shown) <= 10


def test_a_failing_part_does_not_hide_the_others(tmp_path):
    (tmp_path / "Makefile").write_text("one three:\n\t@echo did $@\ntwo:\n\t@echo did $@; false\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)

    def run(*parts):
        command = [ROOT / "tools" / "run_parts.sh", *parts]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, printed = run("one", "two", "three")
    assert code == 1
    assert [line for line in printed.splitlines() if line.startswith("did")] == [
        "did one",
        "did two",
        "did three",
    ]
    assert printed.endswith("failed: two\n")
    assert f"Python {sys.version.split()[0]} " in printed
    code, printed = run("one", "three")
    assert (code, printed.splitlines()[-1]) == (0, "passed: one three")


def commands(target):
    """What make would run for a target, were everything installed."""
    if not shutil.which("make"):
        pytest.skip("there is no make here")
    command = ["make", "-n", "--no-print-directory", "--old-file=.venv/.ready", target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_long_suite_is_the_short_one_and_then_what_that_leaves_out():
    short, long = (commands(target).split() for target in ("test", "test-all"))
    assert long[: len(short)] == short
    assert long[len(short) :] == ["check-package-thoroughly", "check-trained-notebooks"]
    assert '-m "not thorough"' in commands("check-package")
    assert "-m thorough" in commands("check-package-thoroughly")


def test_every_notebook_is_run_once():
    found = re.compile(r"notebooks/[\w/]+\.ipynb").findall
    some, others = (found(commands(f"check-{kind}notebooks")) for kind in ("", "trained-"))
    every = sorted(path.relative_to(ROOT).as_posix() for path in every_notebook())
    assert sorted(some + others) == every
    assert some
    assert others
