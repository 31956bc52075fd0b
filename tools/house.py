"""python -m tools.house: write the plan of the package into README.md and CONTRIBUTING.md.

The list is docs/house.toml. A test compares them, so that the plan that people read is the one that
is kept. What a room is for is the first line of its own docstring.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "transformer_lab"
BEGIN, END = "<!-- house: written by `python -m tools.house` -->", "<!-- end of house -->"


def read_floors() -> list[list[str]]:
    """The rooms of each floor, from the ground up."""
    floors: list[list[str]] = tomllib.loads((ROOT / "docs/house.toml").read_text())["floors"]
    return floors


def purpose(room: str) -> str:
    """What a room is for: the first sentence of its docstring."""
    path = PACKAGE / room / "__init__.py"
    path = path if path.is_file() else PACKAGE / f"{room}.py"
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".")


def plan() -> str:
    """The rooms, floor by floor, each with its purpose, as a table in Markdown."""
    rows = ["| floor | room | what it is |", "|---|---|---|"]
    for number, rooms in enumerate(read_floors()):
        rows += [f"| {number} | `{room}` | {purpose(room)} |" for room in rooms if room[0] != "_"]
    return "\n".join(rows)


def with_plan(text: str) -> str:
    """A document with the plan between its two marks."""
    return re.sub(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}",
        lambda _: f"{BEGIN}\n\n{plan()}\n\n{END}",
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    """Write the plan into the documents that show it, or with --check say which are out of date."""
    stale = []
    for name in ("README.md", "CONTRIBUTING.md"):
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        if with_plan(before) != before:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(with_plan(before), encoding="utf-8")
    if stale and "--check" in sys.argv:
        raise SystemExit(f"{', '.join(stale)}: the plan is out of date; run python -m tools.house")


if __name__ == "__main__":
    main()
