"""Write the repository's address and the links to Colab into documents: `python -m tools.stamp`.

The address is the one in pyproject.toml, and no other file has it by hand. If a fork changes it
there, this tool changes the documents in `FILES`, and `make notebooks` the notebooks. A new version
needs the same, because links and notebooks name its tag, so that a page on Colab installs the
package that belongs to it.
"""

import re

from tools.build_notebooks import ROOT, repository, tag
from transformer_lab.storage.files import write_atomically

FILES = (
    *("README.md", "docs/index.md", "docs/setup.md", "docs/course.md", "docs/instructors.md"),
    "CITATION.cff",
)
ADDRESS = re.compile(r"https://github\.com/[\w.-]+/transformer_lab\b")
COLAB = re.compile(
    r"https://colab\.research\.google\.com/github/[\w.-]+/transformer_lab/blob/[\w.-]+/"
)


def stamped(text: str, address: str) -> str:
    """Return the text with this repository's address, including in links to Colab."""
    colab = address.replace("https://github.com", "https://colab.research.google.com/github")
    text = ADDRESS.sub(address, text)
    return COLAB.sub(f"{colab}/blob/{tag()}/", text)


def main() -> None:
    """Stamp each file that is not stamped yet."""
    for name in FILES:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = stamped(text, repository())
        if new != text:
            write_atomically(path, new.encode())
            print(name)


if __name__ == "__main__":
    main()
