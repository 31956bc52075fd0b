"""The solutions of the exercises, as the notebooks have them."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from transformer_lab.course.keys import find_lessons, lesson_key
from transformer_lab.course.lessons import lesson_numbers

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@dataclass(frozen=True)
class Solution:
    """The code between BEGIN SOLUTION and END SOLUTION, and what it needs from the page."""

    number: str
    check: str
    name: str
    source: str
    before: str


def solutions(numbers: tuple[str, ...] = ()) -> Iterator[Solution]:
    """Yield every solution of the course, in the order of the pages."""
    for path in find_lessons(NOTEBOOKS):
        number = lesson_key(path)
        if number not in (numbers or lesson_numbers()):
            continue
        cells = [
            c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"
        ]
        before: list[str] = []
        for cell in cells:
            text, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
            if "solution" in tags:
                body = text.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
                name, check = _asked(text)
                yield Solution(number, check, name, body, "\n".join(before))
                before.append(body)
            elif not set(tags) & {"exercise", "drawing", "parameters"}:
                before.append(_definitions(text))


def _asked(text: str) -> tuple[str, str]:
    found = re.search(r"^check\.(\w+)\((\w+)\)", text, re.MULTILINE)
    assert found, text
    return found.group(2), found.group(1)


def _definitions(text: str) -> str:
    """Return the imports, functions and classes of a cell, because the rest takes time."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("%", "!")))
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return ""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, kinds))
