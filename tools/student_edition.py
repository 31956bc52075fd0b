"""Write the course for learners: the notebooks without solutions, but with all checks.

    python -m tools.student_edition                  the folder `student`
    python -m tools.student_edition --no-outputs     without any outputs
    python -m tools.student_edition --definitions    keep the package's definitions where they are
    python -m tools.student_edition --nbgrader       the folder `grading`: nbgrader's source

The last one holds the solutions, because nbgrader needs them, and is not for learners.
"""

import argparse
import copy
import hashlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbformat import NotebookNode

from tools.build_notebooks import (
    CODE,
    ROOT,
    every_notebook,
    evidence,
    lessons,
    normalise,
    page_name,
    read,
    repository,
    written,
)
from tools.findings.chart import FOLDER as CHARTS
from tools.nbgrader_source import CONFIG, exercises, source_edition
from transformer_lab.course.keys import lesson_key
from transformer_lab.storage.files import write_atomically

README = ROOT / "tools" / "student_readme.md"
MANIFEST = ".written_by_make_student.json"
CLAIM = re.compile(r"#\| package: ((?:\w+\.)+)(\w+)\n")
SOLUTION = re.compile(r"\*A solution, folded[^\n]*\*")
DEFINITION = "*The package's definition is folded below.*"


class EditionError(Exception):
    """An error about a folder that is not ours to write to; the message says what to do."""


def without_answers(notebook: NotebookNode, *, definitions: bool) -> NotebookNode:
    """Return the notebook without solution cells, and without definitions that answer an exercise.

    What the teacher's slides show is also removed, because their titles answer what a page asks.
    """
    notebook = copy.deepcopy(notebook)
    notebook.metadata.pop(
        CODE, None
    )  # it is for the builder, and has hashes of cells that are removed
    cells = [cell for cell in notebook.cells if not is_solution(cell)]
    for cell in cells:
        if cell.metadata.pop("slides", None):
            cell.metadata.tags.remove("slide")
    if not definitions:
        cells = [cell for cell in cells if cell.source != DEFINITION]
        for cell in cells:
            if tagged(cell, "answers"):
                module, name = claimed(cell.source)
                cell.source = imported(module, name)
                cell.metadata.tags.remove("answers")
    notebook.cells = cells
    return notebook


def tagged(cell: NotebookNode, tag: str) -> bool:
    """Return whether a cell has a tag."""
    return tag in cell.metadata.get("tags", ())


def is_solution(cell: NotebookNode) -> bool:
    """Return whether a cell is a solution, or the line that announces one."""
    return tagged(cell, "solution") or SOLUTION.fullmatch(cell.source.strip()) is not None


def claimed(source: str) -> tuple[str, str]:
    """Return the module and the name of the definition that a cell shows."""
    claim = CLAIM.match(source)
    assert claim, source
    return claim.group(1).rstrip("."), claim.group(2)


def imported(module: str, name: str) -> str:
    """Return what replaces a definition: an import of the name, which hides its lines."""
    return (
        "# The package's definition is left out here, because it answers the exercise.\n"
        f"# Once the check says Right, run {name}?? in a cell of its own to compare it with yours.\n"
        f"from {module} import {name}"
    )


def student_edition(*, outputs: bool = True, definitions: bool = False) -> dict[str, str]:
    """Return the files of the student edition: path in its folder → text."""
    files, table = {}, []
    for path in every_notebook():
        edition = without_answers(read(path), definitions=definitions)
        edition = normalise(edition, path.stem)
        if not outputs:
            for cell in edition.cells:
                if cell.cell_type == "code":
                    cell.outputs, cell.execution_count = [], None
        files[f"notebooks/{page_name(path)}.ipynb"] = written(edition)
        if path not in evidence():
            number = f"{key} " if (key := lesson_key(path)) else ""
            table.append(f"- {number}[{title(edition)}](notebooks/{path.name}){minutes(edition)}")
    # The other pages of docs are for the website, or for instructors.
    for name in ("LICENSE", "LICENSE-TEXT", "constraints.txt", "docs/findings.md"):
        files[name] = (ROOT / name).read_text(encoding="utf-8")
    own_task = (ROOT / "docs" / "own_task.md").read_text(encoding="utf-8")
    files["docs/own_task.md"] = link_to_repository(own_task, repository())
    for path in sorted(CHARTS.glob("*.svg")):
        files[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    text = text.replace("{repository}", repository()).replace("{notebooks}", "\n".join(table))
    return files | {"README.md": text}


def grading_edition(*, definitions: bool = False) -> dict[str, str]:
    """Return the files of nbgrader's course folder: one assignment per lesson with exercises."""
    files = {"nbgrader_config.py": CONFIG}
    asking = {path.stem: path for path in lessons() if any(exercises(read(path)))}
    for name, path in asking.items():
        notebook = read(path)
        hidden = without_answers(notebook, definitions=definitions)
        edition = source_edition(notebook, hidden, name, asking, repository())
        files[f"source/{name}/{path.name}"] = written(edition)
    return files


def link_to_repository(text: str, where: str) -> str:
    """Return a page of docs whose links lead to the repository, except those to notebooks."""
    text = re.sub(r"\]\(\.\./(?!notebooks/)", f"]({where}/blob/main/", text)
    return re.sub(r"\]\((?!https://|#|\.\./)", f"]({where}/blob/main/docs/", text)


def title(notebook: NotebookNode) -> str:
    """Return the first heading of a notebook."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return next(text.removeprefix("# ").split("\n")[0] for text in texts if text[:2] == "# ")


def minutes(notebook: NotebookNode) -> str:
    """Return the time that a lesson states, for a list of lessons, or nothing."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    said = re.search(r"\*\*Time\*\*: (\d+) minutes", text)
    return f", {said.group(1)} minutes" if said else ""


def digest(content: bytes) -> str:
    """Return the SHA-256 of a file's contents."""
    return hashlib.sha256(content).hexdigest()


def write_edition(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files, and remove those that an earlier call wrote and this one does not.

    All other files in the folder stay as they are.

    Raises:
        EditionError: If this tool did not write the folder, or if one of its files was edited since.
    """
    new = {path: text.encode() for path, text in files.items()}
    manifest = folder / MANIFEST
    if not manifest.exists() and folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise EditionError(
            f"{folder} exists and was not written by this tool; choose another --out"
        )
    old = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
    for path in sorted({*old, *new}):
        if (folder / path).exists():
            there = digest((folder / path).read_bytes())
            # What an interrupted run has already written does not count as an edit.
            if there not in (old.get(path), digest(new.get(path, b""))):
                raise EditionError(
                    f"{folder / path} was edited since it was written; nothing was changed. "
                    "Move it away, or choose another --out"
                )
    for path, content in new.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, content)
    for path in set(old) - set(new):
        (folder / path).unlink(missing_ok=True)
    listed = {path: digest(content) for path, content in sorted(new.items())}
    write_atomically(manifest, (json.dumps(listed, indent=1) + "\n").encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write an edition; return 1 and print one message if the folder is somebody else's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, help="the folder (default: student, or grading)")
    parser.add_argument("--no-outputs", action="store_true", help="remove every saved output")
    parser.add_argument("--definitions", action="store_true", help="keep all definitions")
    parser.add_argument("--nbgrader", action="store_true", help="nbgrader's source, with solutions")
    options = parser.parse_args(arguments)
    if options.nbgrader:
        files = grading_edition(definitions=options.definitions)
    else:
        files = student_edition(outputs=not options.no_outputs, definitions=options.definitions)
    folder = options.out or ROOT / ("grading" if options.nbgrader else "student")
    try:
        write_edition(folder, files)
    except EditionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{len(files)} files in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
