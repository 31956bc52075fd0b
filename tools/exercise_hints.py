"""Put an exercise's guide from `hints.toml` around its stub: a line above it, folded hints below.

The builder does this for every lesson, so that the page and `check.NAME.hint(1)` say the same.
"""

import re

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from transformer_lab.course.judge.guide import Guide
from transformer_lab.course.lessons import lesson, lesson_numbers

ABOVE = re.compile(r"\n*^\*Difficulty \d of 3, [^\n]*\*$", re.MULTILINE)
HINTS = "hints"
"""The tag of a cell that holds the folded hints."""


def place_hints(notebook: NotebookNode, number: str) -> None:
    """Write or renew the guides of a lesson's exercises in place; leave other notebooks alone."""
    if number not in lesson_numbers():
        return
    checks = lesson(number).check
    cells = [cell for cell in notebook.cells if HINTS not in cell.metadata.get("tags", ())]
    placed: list[NotebookNode] = []
    guide: Guide | None = None
    for n, cell in enumerate(cells):
        if "exercise" in cell.metadata.get("tags", ()):
            name = find_check_name(cells[n:])
            guide = getattr(checks, name).guide
            write_above(placed, cell.id, guide.describe(name))
        placed.append(cell)
        if guide and cell.cell_type == "code" and cell.source.startswith("check."):
            placed.append(make_cell(guide.fold(), f"{cells[n - 1].id}-hints", [HINTS]))
            guide = None
    notebook.cells = placed


def find_check_name(cells: list[NotebookNode]) -> str:
    """Return the name of the first check that these cells call."""
    calls = (re.match(r"check\.(\w+)\(", cell.source) for cell in cells if cell.cell_type == "code")
    return next(call.group(1) for call in calls if call)


def write_above(placed: list[NotebookNode], stub: str, line: str) -> None:
    """End the text above a stub with this line; if there is code above it, the line gets a cell."""
    if placed[-1].cell_type == "markdown":
        placed[-1].source = f"{ABOVE.sub('', placed[-1].source)}\n\n{line}".lstrip("\n")
    else:
        placed.append(make_cell(line, f"{stub}-guide", []))


def make_cell(source: str, name: str, tags: list[str]) -> NotebookNode:
    """Return a Markdown cell with a name and tags."""
    return new_markdown_cell(source, id=name, metadata={"tags": tags} if tags else {})
