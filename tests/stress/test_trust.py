"""The long trials start by their names, and those of training and of memory do what they say."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.report import table
from tools.stress.__main__ import TRIALS
from tools.stress.soak.sizes import sizes_of, soak
from tools.written import DOCUMENTS, put

ROOT = Path(__file__).parents[2]
KINDS = ("kills", "signals", "doubles")


def test_every_trial_of_the_folder_is_listed():
    folder = ROOT / "tools" / "stress"
    found = {path.stem for path in folder.iterdir() if not path.name.startswith("_")}
    assert found == set(TRIALS)
    command = [sys.executable, "-m", "tools.stress"]
    listed = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert listed.returncode == 0
    assert all(f"  {name} " in listed.stdout for name in TRIALS)
    unknown = subprocess.run([*command, "chaso"], capture_output=True, text=True, cwd=ROOT)
    assert unknown.returncode == 2
    assert "no trial 'chaso'" in unknown.stderr


@pytest.mark.thorough(
    caught_by=[
        "tests/training/test_trainer.py::test_a_killed_run_resumes_to_the_same_bits",
        "tests/test_runs.py::test_two_runs_in_one_folder_are_one_run_and_a_refusal",
    ]
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="forks and signals as Linux has them")
def test_training_that_is_killed_signalled_and_started_twice_loses_nothing():
    command = [sys.executable, "-m", "tools.stress", "chaos", *KINDS, "--trials", "2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith(("| k", "| s", "| d"))]
    assert [row.split(" | ")[1:3] for row in rows] == [["2", "2"]] * 3


def test_what_grows_is_not_flat_and_what_does_not_is(monkeypatch):
    monkeypatch.setattr(gc, "collect", lambda: 0)  # 60 times, with a whole test run in memory
    held = []

    def grows(_):
        held.append(0)

    found = soak(grows, lambda: {"held": len(held), "kept": 7.0}, 200, 0.0)
    held_sizes, kept = found
    assert (held_sizes.acts, held_sizes.first, held_sizes.last) == (200, 20, 200)
    assert held_sizes.slope == pytest.approx(1000)
    assert not held_sizes.is_flat
    assert kept.is_flat
    assert kept.growth == 0


def test_a_size_that_rises_in_between_is_not_flat():
    seen = [(1, {"x": 100.0}), (2, {"x": 105.5}), (3, {"x": 100.0})]
    assert not sizes_of("x", seen, 0.0).is_flat
    assert sizes_of("x", [*seen[:1], *seen[2:]], 0.0).is_flat


def test_a_table_goes_between_its_marks_and_nothing_else_changes(tmp_path):
    document = tmp_path / "some.md"
    document.write_text("before\n<!-- a: written by a tool -->\nold\n<!-- end of a -->\nafter\n")
    put(document, "a", table(["x", "y"], [["1", "2"]]))
    text = document.read_text()
    assert text.startswith(
        "before\n<!-- a: written by a tool -->\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n"
    )
    assert text.endswith("\n<!-- end of a -->\nafter\n")
    put(document, "a", table(["x", "y"], [["1", "2"]]))
    assert document.read_text() == text
    with pytest.raises(ValueError, match="no part 'b'"):
        put(document, "b", "")


@pytest.mark.parametrize("name", ["chaos", "soak", "mutants"])
def test_the_document_has_a_table_of_each(name):
    part = (
        (DOCUMENTS / "trust.md").read_text("utf-8").split(f"<!-- {name}: written by a tool -->")[1]
    )
    rows = [line for line in part.split("<!-- end of")[0].splitlines() if line.startswith("|")]
    assert len(rows) >= 4
