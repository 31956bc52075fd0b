"""The course opens on Colab: what it installs there replaces nothing, and its notebooks run.

Colab's kernel has its packages loaded, some of them old. An install that
replaces one of them asks for a restart, and readers give up there.
"""

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from tests.lent import lend
from tools.build_notebooks import execute, normalise, read
from tools.checkout import copy_of_checkout
from tools.stress.versions import COLAB

WHERE = "import transformer_lab; print(transformer_lab.__file__)"
WIDGETS = """\
_, choices, word = quiz.widget.children[1].children
choices.index = 0
print(word.value == f"<b>{quiz.questions[0].verdict(0)}".replace(" ", "</b> ", 1))

import ipywidgets, matplotlib.figure, os
del os.environ["TRANSFORMER_LAB_FRAMES"]  # the builder's, not Colab's
slider, drawn = ipywidgets.IntSlider(1), []
show_live(lambda n: drawn.append(n) or (matplotlib.figure.Figure(), "nothing"), slider)
slider.value = 2
print(drawn)"""


def pip(python, *arguments):
    command = [python, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "(from versions: none)" in done.stderr and not os.environ.get("CI"):
        pytest.skip("no package index within reach has Colab's packages")
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed(python):
    """Each package of an environment, and its version."""
    return {p["name"]: p["version"] for p in json.loads(pip(python, "list", "--format=json"))}


@pytest.fixture
def python(tmp_path, monkeypatch):
    """The Python of an environment as Colab's, which the kernel `python3` now means.

    torch is the one that is here: it has a gigabyte to write and to delete.
    """
    folder = tmp_path / "colab"
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    (site,) = folder.glob("lib/*/site-packages")
    try:
        lend(site, "torch")
        pip(python, "install", "--quiet", "torch", "ipykernel", *COLAB)
        install_kernel = [python, "-m", "ipykernel", "install", "--sys-prefix"]
        subprocess.run(install_kernel, check=True, capture_output=True)
        monkeypatch.setenv("JUPYTER_PATH", str(folder / "share" / "jupyter"))
        monkeypatch.delenv("PYTHONPATH", raising=False)
        yield python
    finally:
        shutil.rmtree(folder)  # of which pytest would keep three


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A copy of the checkout for the setup cell to install: pip leaves a `build` folder behind."""
    copy = copy_of_checkout(tmp_path / "checkout")
    monkeypatch.setenv("TRANSFORMER_LAB_SRC", str(copy))
    return copy


def run(path, folder, *more):
    """A notebook after a run in a folder of its own, with more cells at its end."""
    notebook = read(path)
    notebook.cells += [new_code_cell(source) for source in more]
    folder.mkdir()
    execute(notebook, folder / path.name)
    return normalise(notebook, path.stem)


def printed(notebook):
    """What each code cell prints, but for those whose output is not compared."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [
        "".join(output.text for output in cell.outputs if output.output_type == "stream")
        for cell in code
        if "nbval-ignore-output" not in cell.metadata.get("tags", ())
    ]


@pytest.mark.thorough(
    caught_by=[
        "tests/lint/test_house.py::test_what_is_pinned_runs_on_the_python_that_a_promised_system_brings",
        "tests/test_wheel.py::test_the_wheel_has_each_file_of_the_package_and_no_other",
    ]
)
def test_it_installs_beside_colabs_packages_and_runs_without_a_restart(python, checkout, tmp_path):
    before = installed(python)
    start, lesson = sorted((checkout / "notebooks").glob("0[01]_*.ipynb"))
    setup, *stored = printed(read(lesson))

    ran = run(lesson, tmp_path / "lesson", read(lesson).cells[0].source, WHERE, WIDGETS)
    first, *outputs, again, where, widgets = printed(ran)

    assert first != setup == ""  # pip has something to say
    assert outputs == stored
    assert again == "", "the setup cell installed a second time"
    assert Path(where.strip()).parents[1] in python.parents[1].glob("lib/*/site-packages")
    assert widgets == "True\n[1, 2]\n"
    after = installed(python)
    assert {name: after.get(name) for name in before} == before

    assert printed(run(start, tmp_path / "start")) == printed(read(start))
