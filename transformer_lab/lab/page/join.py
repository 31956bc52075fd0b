"""Join the modules of a page into one script, so that the page works alone and needs no build step.

A module imports from others in lines such as `import { make } from "../elements.js";`, and marks
what it offers with the word `export`. In a single script it needs neither, if it comes after the
modules that it imports. For this to work, no two modules may use the same name, which a test checks.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.M)
COMMENT = re.compile(r"^ *(?://.*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.M)
"""A comment on lines of its own. Pages stored in notebooks need none."""
EXPORT = re.compile(r"^export (?!default\b)", re.M)


def modules(entry: str) -> list[Path]:
    """Return the files of a JavaScript module and everything it imports, imported files first.

    Raises:
        ValueError: If modules import each other in a circle.
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
    """Return the contents of these style sheets, one after the other."""
    texts = ((FOLDER / name).read_text(encoding="utf-8") for name in names)
    return "\n".join(COMMENT.sub("", text) for text in texts)
