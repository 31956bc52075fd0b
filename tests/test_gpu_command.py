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
lesson.run_cell(cells["ebc25373"], names, absent)
lesson.run_cell(cells["c2c09f67"], names, absent)
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
