"""python -m tools.house: write the plan of the package into CONTRIBUTING.md.

The list is docs/house.toml. A test compares them, so that the plan that people read is the real one.
A room's purpose is the first line of its own docstring.
"""

import ast
import tomllib
from pathlib import Path

from tools.written import put

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "transformer_lab"
SHOWN_IN = ROOT / "CONTRIBUTING.md"


def purpose(room: str) -> str:
    """Return a room's purpose, the first line of its docstring."""
    path = PACKAGE / room / "__init__.py"
    path = path if path.is_file() else PACKAGE / f"{room}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".")


def plan() -> str:
    """Return the rooms, floor by floor, each with its purpose, as a Markdown table."""
    house = tomllib.loads((ROOT / "docs" / "house.toml").read_text(encoding="utf-8"))
    rows = ["| floor | room | what it is |", "|---|---|---|"]
    for number, rooms in enumerate(house["floors"]):
        rows += [f"| {number} | `{room}` | {purpose(room)} |" for room in rooms if room[0] != "_"]
    return "\n".join(rows)


if __name__ == "__main__":
    put(SHOWN_IN, "house", plan())
