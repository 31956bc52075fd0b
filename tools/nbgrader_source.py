"""A notebook as nbgrader's source: answer cells with their solutions, and checks that give points.

From it, nbgrader makes what learners get: it removes the solutions and the hidden tests, and puts
the hidden tests back when it grades.
"""

import copy
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tools.build_notebooks import METADATA
from transformer_lab.course.keys import KEY, lesson_key

CONFIG = """\
# Written by `make student ARGS=--nbgrader`. This folder holds the solutions, so it is not for learners.
import os

from nbgrader.preprocessors import NbGraderPreprocessor

os.environ["TRANSFORMER_LAB_PROGRESS"] = "off"  # grading is not a learner's progress
c = get_config()  # noqa: F821


class FromRelease(NbGraderPreprocessor):
    # A notebook from elsewhere, such as the student edition, would silently get 0 points.
    def preprocess(self, nb, resources):
        if not any("nbgrader" in cell.metadata for cell in nb.cells):
            raise ValueError(
                f"{resources['metadata']['name']}.ipynb of {resources['nbgrader']['student']} has no "
                "cells that can be graded. Was it handed out from student/ instead of release/? "
                "Copy its answers into the notebook of release/, and submit that"
            )
        return nb, resources


c.Autograde.sanitize_preprocessors.prepend([FromRelease])
c.CourseDirectory.course_id = "transformer_lab"
# The stub is above the solution, so nothing is needed in the place of the solution.
c.ClearSolutions.code_stub = {"python": "# Your lines go where raise stands."}
c.Execute.timeout = 600  # seconds for a cell: some of them train
"""

HIDDEN = """\
{check}
### BEGIN HIDDEN TESTS
from {module} import check as graded
assert graded.{name}.verdict({answer}).right, "the check above says what is missing"
### END HIDDEN TESTS"""


def source_edition(
    notebook: NotebookNode,
    hidden: NotebookNode,
    name: str,
    assignments: Container[str],
    repository: str,
) -> NotebookNode:
    """Return the notebook for nbgrader's `source` folder.

    Args:
        notebook: A lesson as it is committed.
        hidden: The same notebook as learners get it: what stays around the exercises.
        name: The file's name without its ending.
        assignments: The names of all lessons that are assignments.
        repository: The address to which all other links lead.
    """
    edition = copy.deepcopy(hidden)
    cells = {cell.id: cell for cell in edition.cells}
    for stub, check, solution in exercises(notebook):
        as_answer(cells[stub.id], solution.source)
        as_test(cells[check.id], f"transformer_lab.course.lessons.lesson_{lesson_key(Path(name))}")
    for cell in edition.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        else:
            cell.source = moved_links(cell.source, assignments, repository)
    edition.metadata = nbformat.from_dict(METADATA)
    nbformat.validate(edition)
    return edition


def exercises(notebook: NotebookNode) -> Iterator[tuple[NotebookNode, NotebookNode, NotebookNode]]:
    """Yield the stub, check and solution of each exercise, three successive code cells of a lesson."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for place, cell in enumerate(code):
        if "exercise" in cell.metadata.get("tags", ()):
            yield cell, code[place + 1], code[place + 2]


def as_answer(cell: NotebookNode, solution: str) -> None:
    """Put the solution under the stub, which it overrides; nbgrader removes it for learners."""
    asked = re.search(r"^(?:def|class) (\w+)", cell.source, re.MULTILINE)
    assert asked, cell.source
    region = solution[: solution.index("### END SOLUTION")] + "### END SOLUTION"
    cell.source = f"{cell.source}\n\n\n{region}"
    cell.metadata["nbgrader"] = facts(asked.group(1), solution=True)


def as_test(cell: NotebookNode, module: str) -> None:
    """Let the check give a point: learners see the same line, and grading runs one that may fail."""
    line = cell.source
    asked = re.fullmatch(r"check\.(\w+)\((\w+)\)", line)
    assert asked, line
    name, answer = asked.groups()
    cell.source = HIDDEN.format(check=line, module=module, name=name, answer=answer)
    cell.metadata["nbgrader"] = facts(f"check-{name}", solution=False) | {"points": 1}


def facts(grade_id: str, *, solution: bool) -> dict[str, Any]:
    """Return what nbgrader stores about a cell, an answer or a test that must not be edited."""
    return {
        "grade": not solution,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }


def moved_links(text: str, assignments: Container[str], repository: str) -> str:
    """Adapt the links of a notebook in a folder of its own name, like those of all assignments."""

    def moved(link: re.Match[str]) -> str:
        name = link.group(1)
        folder = f"../{name}" if name in assignments else f"{repository}/blob/main/notebooks"
        return f"]({folder}/{name}.ipynb"

    text = re.sub(r"\]\(((?:evidence/)?\w+)\.ipynb", moved, text)
    return re.sub(rf"\]\(\.\./(?!{KEY}_)", f"]({repository}/blob/main/", text)
