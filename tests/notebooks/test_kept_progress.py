"""In a learner's kernel progress is kept; where notebooks run by themselves, never."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from nbclient import NotebookClient

from tools.build_notebooks import ROOT, execute, normalise, read
from tools.nbgrader_source import CONFIG
from transformer_lab.course import diary as progress
from transformer_lab.course.diary import FILE, SWITCH

STUB = "def softmax(scores):\n    raise NotImplementedError"
CHECK = "check.softmax(softmax)"
IMPORT = """\
import numpy as np
from transformer_lab.course.lessons.lesson_01 import check, quiz"""
WRITTEN = """\
def softmax(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)"""
SOLUTION = f"### BEGIN SOLUTION\n{WRITTEN}\n### END SOLUTION\n\n{CHECK}"
SHOW = "from transformer_lab.course import progress\n\nprogress.show()"


@pytest.fixture
def put(tmp_path):
    """Put a notebook of these cells into an empty folder."""

    def put(*sources):
        cells = [
            {
                "cell_type": "code",
                "id": f"cell{n}",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for n, source in enumerate(sources)
        ]
        path = tmp_path / "notebooks" / "01_lesson.ipynb"
        path.parent.mkdir(exist_ok=True)
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    return put


def printed(notebook):
    """What each cell prints."""
    return ["".join(output.get("text", "") for output in c.outputs) for c in notebook.cells]


@pytest.mark.thorough(
    caught_by=[
        "test_what_nbgrader_runs_is_nobodys_progress",
        "test_in_a_learners_kernel_a_pass_is_kept_and_the_folded_solution_is_none",
    ]
)
def test_a_notebook_that_the_builder_runs_leaves_no_file_and_reads_none(put):
    path = put(IMPORT, WRITTEN, CHECK, "quiz.answer(1, 'a')", SHOW)
    for before in (None, b"damaged"):
        if before:
            (path.parent / FILE).write_bytes(before)
        notebook = read(path)
        execute(notebook, path)
        _, _, right, replied, shown = printed(normalise(notebook, path.stem))
        assert right.startswith("Right: ")
        assert right.count("\n") == replied.count("\n") == 1
        assert shown == progress.NOTHING + "\n"
    assert {p.name for p in path.parent.iterdir()} == {path.name, FILE}
    assert (path.parent / FILE).read_bytes() == b"damaged"


def test_in_a_learners_kernel_a_pass_is_kept_and_the_folded_solution_is_none(put, monkeypatch):
    monkeypatch.delenv(SWITCH)
    path = put(IMPORT, STUB, CHECK, SOLUTION, CHECK, SHOW, WRITTEN, CHECK, SHOW)
    notebook = read(path)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, kernel_name="python3", resources=resources, timeout=300).execute()
    _, _, stub, solved, again, nothing, _, right, shown = printed(notebook)
    assert stub.startswith("Not written yet")
    assert solved == again
    assert solved.startswith("Right: ")
    assert nothing == progress.NOTHING + "\n"
    assert right.startswith(
        solved + "(Your progress is stored in .progress.json next to the notebooks"
    )
    assert shown.startswith("lesson   exercises   quiz\n    01   1 of ")
    assert {p.name for p in path.parent.iterdir()} == {path.name, FILE}


@pytest.mark.thorough(
    caught_by=[
        "test_what_nbgrader_runs_is_nobodys_progress",
        "test_in_a_learners_kernel_a_pass_is_kept_and_the_folded_solution_is_none",
    ]
)
def test_under_nbval_nothing_is_written_nor_read(put, tmp_path, monkeypatch):
    path = put(IMPORT, WRITTEN, CHECK, SHOW)
    notebook = read(path)
    execute(notebook, path)
    path.write_text(json.dumps(normalise(notebook, path.stem)), encoding="utf-8")
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (path.parent / FILE).write_bytes(b"damaged")
    monkeypatch.delenv(SWITCH)
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-q"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--rootdir={tmp_path}", str(path.parent)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "4 passed" in done.stdout, done.stdout
    assert (path.parent / FILE).read_bytes() == b"damaged"


def test_what_nbgrader_runs_is_nobodys_progress(monkeypatch):
    monkeypatch.delenv(SWITCH)
    nbgrader = SimpleNamespace(NbGraderPreprocessor=object)  # it need not be installed for this
    monkeypatch.setitem(sys.modules, "nbgrader.preprocessors", nbgrader)
    monkeypatch.setitem(sys.modules, "nbgrader", SimpleNamespace(preprocessors=nbgrader))
    course, execute = SimpleNamespace(), SimpleNamespace()
    grading = SimpleNamespace(sanitize_preprocessors=SimpleNamespace(prepend=lambda _: None))
    config = SimpleNamespace(
        CourseDirectory=course, ClearSolutions=course, Execute=execute, Autograde=grading
    )
    exec(CONFIG, {"get_config": lambda: config})
    assert os.environ[SWITCH] == "off"
