"""Run the notebooks and write them back as they are committed: executed, and identical each time.

    python -m tools.build_notebooks                  all of them
    python -m tools.build_notebooks 03 11_explore    those whose names begin like this, and their evidence
    python -m tools.build_notebooks evidence/09      only the evidence
    python -m tools.build_notebooks --rerun 03       run it even if none of its code has changed
    python -m tools.build_notebooks --measure        renew the outputs of cells tagged `measures`

A notebook runs only if its code has changed since its outputs were stored, and only the outputs of
the first changed cell and those after it are replaced. So changing a sentence costs nothing, and trained
numbers don't change because somebody mended a comma. A record with outdated head scores is rebuilt.
If the package has changed otherwise, use --rerun, because the builder can't know which outputs are
affected.

Nothing is written unless every cell of every notebook asked for has run.
"""

import argparse
import configparser
import copy
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.exercise_hints import place_hints
from tools.findings.citations import write_verdicts
from tools.stills import take_stills
from tools.stored_scores import shows_old_scores
from transformer_lab.course.diary import SWITCH
from transformer_lab.course.keys import EVIDENCE, find_lessons, lesson_key
from transformer_lab.lab.sliders import STORE_FRAMES
from transformer_lab.storage.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SANITIZE = ROOT / "tools" / "nbval_sanitize.cfg"
CELL_TIMEOUT = 600  # seconds; this only ends cells that hang
FOLDED = {"solution", "answers", "drawing"}
"""Tags of folded cells: solutions, answers to exercises, and code that only draws or prints a table."""
WIDGET = "application/vnd.jupyter.widget-view+json"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    # For nbconvert: without this, a script would be text, and code would have no colours.
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
SETUP = """\
# On Colab this installs the course; where it is installed this does nothing. No restart is needed.
import importlib.util, os

if importlib.util.find_spec("transformer_lab") is None:
    source = os.environ.get("TRANSFORMER_LAB_SRC", "git+{repository}@{tag}")
    %pip install --quiet "{{source}}"
    importlib.invalidate_caches()
    if importlib.util.find_spec("transformer_lab") is None:
        raise RuntimeError(f"pip did not install the course from {{source}}; it says why above")"""


CODE = "code_that_ran"
"""The key in a notebook's metadata for the hash of each code cell when its outputs were stored."""


class BuildError(Exception):
    """A notebook that could not be built; the message names notebook, cell and error."""


def project() -> dict[str, Any]:
    """Return what pyproject.toml says about the project; every tool asks here."""
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def repository() -> str:
    """Return the address of the course."""
    return str(project()["urls"]["Repository"])


def tag() -> str:
    """Return this version's tag: a page on Colab installs the package that it was written with."""
    return f"v{project()['version']}"


def setup_cell() -> str:
    """Return the source of every notebook's first cell."""
    return SETUP.format(repository=repository(), tag=tag())


def lessons() -> list[Path]:
    """Return the notebooks with a key, in order; every tool and every test asks here."""
    return find_lessons(NOTEBOOKS)


def evidence() -> list[Path]:
    """Return the notebooks with the evidence; each belongs to the lesson of the same name."""
    return sorted((NOTEBOOKS / EVIDENCE).glob("*.ipynb"))


def every_notebook() -> list[Path]:
    """Return all notebooks that are built and tested: lessons, those without a key, and evidence."""
    return [*sorted(NOTEBOOKS.glob("*.ipynb")), *evidence()]


def page_name(path: Path) -> str:
    """Return a notebook's unique name, such as "09_training" or "evidence/09_training"."""
    return path.relative_to(NOTEBOOKS).with_suffix("").as_posix()


def read(path: Path) -> NotebookNode:
    """Read a notebook as it is on disk; `nbformat.read` would add random ids where they are missing."""
    return nbformat.v4.reads_json(path.read_text(encoding="utf-8"))


def build(path: Path, *, measure: bool = False, rerun: bool = False) -> str:
    """Return the text of a notebook, run if its code has changed, and normalised.

    The file itself stays as it is. With `measure` or `rerun`, it runs in any case.

    Raises:
        BuildError: If a cell fails; the message is about the first such cell.
    """
    stored = read(path)
    stamp(stored, path.stem)
    place_hints(stored, lesson_key(path))
    for cell in stored.cells:
        if cell.cell_type == "markdown":
            cell.source = write_verdicts(cell.source)
    sums = code_sums(stored)
    is_stale = any(shows_old_scores(cell) for cell in stored.cells)
    if measure or rerun or is_stale or stored.metadata.get(CODE) != sums:
        fresh = copy.deepcopy(stored)
        execute(fresh, path)
        if not (measure or rerun):
            keep_unchanged(stored, fresh)
        if not measure:
            keep_measured(stored, fresh)
        take_stills(fresh)  # of new drawings; stored ones have theirs already
        stored = fresh
    stored.metadata[CODE] = sums
    return written(normalise(stored, path.stem))


def code_sums(notebook: NotebookNode) -> list[str]:
    """Return the hash of each code cell in order, except the first, which sets the notebook up."""
    return [code_sum(cell) for cell in notebook.cells if is_run(cell)]


def is_run(cell: NotebookNode) -> bool:
    """Return whether this is code of the lesson, not the cell that sets the notebook up."""
    return bool(cell.cell_type == "code" and cell.source != setup_cell())


def code_sum(cell: NotebookNode) -> str:
    """Return a short hash of a cell's code."""
    return hashlib.sha256(cell.source.strip("\n").encode()).hexdigest()[:8]


def keep_unchanged(stored: NotebookNode, fresh: NotebookNode) -> None:
    """Restore the stored outputs of each cell that has no changed code in or above it.

    A record with outdated head scores counts as changed; the scores come from a table in the package.
    """
    ran = iter(stored.metadata.get(CODE, ()))
    for old, new in zip(stored.cells, fresh.cells, strict=True):
        if not is_run(old):
            continue
        if next(ran, None) != code_sum(old):
            return
        if not shows_old_scores(old):
            new.outputs = old.outputs


def stamp(notebook: NotebookNode, name: str) -> None:
    """Put the current setup cell first, and give an id to each cell that lacks one."""
    cells = notebook.cells
    if not cells or cells[0].cell_type != "code" or "TRANSFORMER_LAB_SRC" not in cells[0].source:
        cells.insert(0, nbformat.v4.new_code_cell(id="setup"))
    cells[0].source = setup_cell()
    give_ids(notebook, name)


def execute(notebook: NotebookNode, path: Path) -> None:
    """Run all cells in a fresh kernel of this environment, in the notebook's folder.

    They run with one thread, as in the tests, because sums of floats depend on the number of threads.
    A learner's progress is neither written nor read.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],  # or it warns about its unencrypted local connection
    )
    try:
        client.execute(env=os.environ | {STORE_FRAMES: "1", SWITCH: "off"})
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        raise BuildError(f"{path.name}, {failed_cell(notebook)}: {plain(str(error))}") from error


def failed_cell(notebook: NotebookNode) -> str:
    """Return the cell at which a run stopped: the last one that has begun."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    begun = [n for n, cell in enumerate(code) if "execution" in cell.metadata]
    number = begun[-1] if begun else 0
    return f"code cell {number + 1} (id {code[number].id})"


def keep_measured(stored: NotebookNode, fresh: NotebookNode) -> None:
    """Restore the stored outputs of cells tagged `measures`, if they have any."""
    outputs = {cell.id: cell.outputs for cell in stored.cells if cell.cell_type == "code"}
    for cell in fresh.cells:
        if "measures" in cell.metadata.get("tags", ()) and outputs[cell.id]:
            cell.outputs = outputs[cell.id]


def normalise(notebook: NotebookNode, name: str) -> NotebookNode:
    """Return the notebook without anything that depends on when, where or in which editor it ran.

    `name` is the file's name without its ending; missing ids of cells are derived from it.
    """
    notebook = copy.deepcopy(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    ran = {CODE: notebook.metadata[CODE]} if CODE in notebook.metadata else {}
    notebook.metadata = nbformat.from_dict(METADATA | ran)
    give_ids(notebook, name)
    count = 0
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(cell_metadata(cell))
        cell.source = cell.source.strip("\n")
        if cell.cell_type != "code":
            continue
        count += bool(cell.source)
        cell.execution_count = count if cell.source else None
        cell.outputs = normal_outputs(cell.outputs, cell.execution_count)
        if "picture-only" in cell.metadata.get("tags", ()):
            for output in cell.outputs:
                output.data["text/html"] = picture_alone(output.data["text/html"])
    nbformat.validate(notebook)
    return notebook


def give_ids(notebook: NotebookNode, name: str) -> None:
    """Give cells with no id, or another's, one made from the file's name and their position."""
    taken: set[str] = set()
    missing = []
    for place, cell in enumerate(notebook.cells):
        if cell.get("id") and cell.id not in taken:
            taken.add(cell.id)
        else:
            missing.append((place, cell))
    for place, cell in missing:
        attempt = 0
        while True:
            key = f"{name} {place} {attempt}".encode()
            cell.id = hashlib.sha256(key).hexdigest()[:8]
            if cell.id not in taken:
                break
            attempt += 1
        taken.add(cell.id)


def cell_metadata(cell: NotebookNode) -> dict[str, Any]:
    """Return tags, slides and what follows from them: folded answers, outputs that are not compared."""
    tags = list(dict.fromkeys(cell.metadata.get("tags", ())))
    if "measures" in tags and "nbval-ignore-output" not in tags:
        tags.append("nbval-ignore-output")
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if "slides" in cell.metadata:
        metadata["slides"] = cell.metadata.slides
    if FOLDED.intersection(tags) or cell.source == setup_cell():
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}  # Lab's way, Colab's
    return metadata


def normal_outputs(outputs: Sequence[NotebookNode], count: int | None) -> list[NotebookNode]:
    """Merge streams as a terminal shows them, drop widgets, and sanitise the rest."""
    kept: list[NotebookNode] = []
    for output in outputs:
        output = copy.deepcopy(output)
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
            else:
                kept.append(output)
        elif output.output_type == "error":
            output.evalue = plain(output.evalue)
            output.traceback = [f"{output.ename}: {output.evalue}"]
            kept.append(output)
        else:
            output.pop("transient", None)
            if output.output_type == "execute_result":
                output.execution_count = count
            if WIDGET in output.data:
                del output.data[WIDGET]
                if set(output.data) <= {"text/plain"}:
                    continue  # a widget's name is not a picture of it
            if "text/plain" in output.data:
                output.data["text/plain"] = plain(output.data["text/plain"])
            output.metadata = nbformat.from_dict(
                {mime: facts for mime, facts in output.metadata.items() if mime in output.data}
            )
            kept.append(output)
    for output in kept:
        if output.output_type == "stream":
            output.text = plain("\n".join(line.split("\r")[-1] for line in output.text.split("\n")))
    return [output for output in kept if output.get("text") != ""]


def picture_alone(html: str) -> str:
    """Return a page without its script and data: only one notebook needs to hold the weights."""
    return re.sub(r"</div>\n<style>.*", "</div>", html, flags=re.DOTALL)


def plain(text: str) -> str:
    """Return a text without terminal colours, addresses and rates."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    for pattern, replacement in sanitize_rules():
        text = pattern.sub(replacement, text)
    return text


def sanitize_rules() -> list[tuple[re.Pattern[str], str]]:
    """Return nbval's rules, except those about pictures and pages, which are kept."""
    rules = configparser.RawConfigParser()
    rules.read(SANITIZE, encoding="utf-8")
    return [
        (re.compile(rules[name]["regex"]), rules[name]["replace"])
        for name in rules.sections()
        if name not in ("Pictures", "Stills", "Pages")
    ]


def written(notebook: NotebookNode) -> str:
    """Return the notebook as it is written to disk."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def is_named(path: Path, name: str) -> bool:
    """Return whether a notebook's name begins with `name`, which may include its folder: evidence/09."""
    name = name.rpartition("notebooks/")[2]
    return any(f"{one}.ipynb".startswith(name) for one in (page_name(path), path.stem))


def find_named(names: Sequence[str]) -> list[Path]:
    """Return the notebooks that the names stand for, or all of them if there are no names."""
    return [path for path in every_notebook() if any(is_named(path, n) for n in names or [""])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build all notebooks or those named; return 1 and print one message if a cell fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of file names (default: all)")
    parser.add_argument("--rerun", action="store_true", help="run them even if no code has changed")
    parser.add_argument("--measure", action="store_true", help="renew stored times and memory")
    options = parser.parse_args(arguments)
    for name in options.names:
        if not find_named([name]):
            parser.error(f"no notebook's name begins with {name!r}")
    built = {}
    for path in find_named(options.names):
        print(page_name(path), flush=True)
        try:
            built[path] = build(path, measure=options.measure, rerun=options.rerun)
        except BuildError as error:
            print(f"error: {error}\nnothing was written", file=sys.stderr)
            return 1
    for path, content in built.items():
        write_atomically(path, content.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
