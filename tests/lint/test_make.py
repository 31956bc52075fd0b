"""`make test` runs all of its parts, whatever became of the ones before, and then says which failed."""

import subprocess
import sys

from tools.build_notebooks import ROOT


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
