"""Join a page's JavaScript modules into one script, so the page needs no build step.

A module imports names in lines such as `import { make } from "../elements.js";`, and marks the
names that others may import with `export`. A single script needs neither, as long as each module
comes after those that it imports. No two modules may define the same name; a test checks this.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.M)
COMMENT = re.compile(r"^ *(?://.*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.M)
"""The pattern of a comment on lines of its own; such comments are left out of pages."""
EXPORT = re.compile(r"^export (?!default\b)", re.M)


def modules(entry: str) -> list[Path]:
    """Return the files of a JavaScript module and everything it imports, imported files first.

    Raises:
        ValueError: If the imports form a cycle.
    """
    ordered: list[Path] = []

    def visit(path: Path, users: tuple[Path, ...]) -> None:
        if path in users:
            circle = " → ".join(user.name for user in (*users[users.index(path) :], path))
            raise ValueError(f"modules import each other: {circle}")
        if path in ordered:
            return
        for _, name in IMPORT.findall(path.read_text(encoding="utf-8")):
            visit((path.parent / name).resolve(), (*users, path))
        ordered.append(path)

    visit((FOLDER / entry).resolve(), ())
    return ordered


def script(entry: str) -> str:
    """Join a JavaScript module and everything it imports into one ES module.

    The joined module keeps only its default export.
    """
    texts = (path.read_text(encoding="utf-8") for path in modules(entry))
    return "\n".join(COMMENT.sub("", EXPORT.sub("", IMPORT.sub("", text))) for text in texts)


def style(*names: str) -> str:
    """Join the contents of these style sheets."""
    texts = ((FOLDER / name).read_text(encoding="utf-8") for name in names)
    return "\n".join(COMMENT.sub("", text) for text in texts)
