"""`python -m benchmarks.gpu` runs where there is neither Jupyter nor what only our tests need."""

import subprocess
import sys

import pytest

from tools.build_notebooks import ROOT

MISSING = (
    "IPython ipywidgets anywidget traitlets jupyterlab nbval nbformat bertviz beartype".split()
)
SCRIPT = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
from benchmarks.gpu import __main__, lesson

names, absent = {{}}, set()
cells = dict(lesson.read_cells())
begin = list(cells)[: list(cells).index("c2c09f67") + 1]
assert "7ae734ba" in begin, "the stub of an exercise, which the cell after it checks"
for name in begin:
    if name != "48625890":  # writes the pairs, which takes a quarter of a minute
        lesson.run_cell(cells[name], names, absent)
assert callable(names["training_step"]) and names["torch"].__name__ == "torch"
names["LivePicture"]().show(names["curves"](1, title="nothing is drawn"), alt="nothing")
print(sorted(absent))
"""


@pytest.mark.slow
def test_its_parts_are_imported_and_the_lessons_names_are_there_without_jupyter():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "'ipywidgets'" in done.stdout


@pytest.mark.slow
@pytest.mark.thorough(
    caught_by=[
        "tests/test_gpu_command.py::test_its_parts_are_imported_and_the_lessons_names_are_there_without_jupyter"
    ]
)
def test_without_a_gpu_all_of_its_parts_run_and_hold():
    """A minute and a half: less to do, but everything that a borrowed GPU will be asked to do."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--minutes", "1", "--device", "cpu"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("6 passed, 0 failed")
