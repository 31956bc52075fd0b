"""nbgrader makes assignments of the course: full marks for the solutions, none for the stubs.

pip install -e ".[grade]"
pytest tests/notebooks/test_nbgrader.py               all lessons, each run twice
pytest tests/notebooks/test_nbgrader.py -k "01 or 07"
"""

import csv
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.build_notebooks import lessons, read
from tools.nbgrader_source import exercises
from tools.student_edition import grading_edition, student_edition, write_edition

if importlib.util.find_spec("nbgrader") is None:
    pytest.skip('nbgrader is not installed: pip install -e ".[grade]"', allow_module_level=True)

PATHS = [path for path in lessons() if list(exercises(read(path)))]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """nbgrader's course folder, as `make student ARGS=--nbgrader` writes it."""
    folder = tmp_path_factory.mktemp("grading")
    write_edition(folder, grading_edition())
    return folder


def nbgrader(folder, *arguments, refused=False):
    command = [sys.executable, "-m", "nbgrader", *arguments]
    # As in an active environment: nbgrader calls the program `alembic` by its name.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    variables = os.environ | {"OMP_NUM_THREADS": "1", "PATH": path}
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0) == refused, done.stderr[-5000:]
    return done.stderr


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_solutions_get_full_marks_and_stubs_none(course, path):
    name = path.stem
    nbgrader(course, "generate_assignment", name)
    source = course / "source" / name / path.name
    release = course / "release" / name / path.name
    text = release.read_text(encoding="utf-8")
    assert "SOLUTION" not in text
    assert "HIDDEN" not in text
    triples = list(exercises(read(path)))
    sources = {cell.id: cell.source for cell in read(release).cells}
    for stub, check, _ in triples:
        assert sources[stub.id].startswith(stub.source)
        assert sources[check.id] == check.source
    for student, submitted in (("reference", source), ("empty", release)):
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        shutil.copy(submitted, folder)
    nbgrader(course, "autograde", name, "--create")
    nbgrader(course, "export")
    with (course / "grades.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == name]
    marks = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in rows}
    assert marks == {"reference": (len(triples), len(triples)), "empty": (0, len(triples))}


def test_a_notebook_from_the_student_edition_is_refused_and_named(course):
    path = PATHS[0]
    name = path.stem
    nbgrader(course, "generate_assignment", name, "--force")
    folder = course / "submitted" / "stranger" / name
    folder.mkdir(parents=True)
    text = student_edition()[f"notebooks/{path.name}"]
    (folder / path.name).write_text(text, encoding="utf-8")
    said = nbgrader(course, "autograde", name, "--create", "--student=stranger", refused=True)
    assert f"{path.name} of stranger has no cells that can be graded" in said
