"""Write the repository's address and the Colab badges where they stand: `python -m tools.stamp`.

The address is that of pyproject.toml, and no other file has it by hand: after a fork changes it
there, this changes README.md, docs/index.md, docs/instructors.md and CITATION.cff, and
`make notebooks` the notebooks. So does a new version: badges and notebooks name its tag, so that
a page on Colab and the package it installs are of one time.
"""

import re

from tools.build_notebooks import ROOT, repository, tag
from transformer_lab.storage.files import write_atomically

FILES = ("README.md", "docs/index.md", "docs/instructors.md", "CITATION.cff")
ADDRESS = re.compile(r"https://github\.com/[\w.-]+/transformer_lab\b")
ROW = re.compile(r"^(\| \d\d \| \[[^|]*?\]\((notebooks/\w+\.ipynb)\))(?: \[!\[[^|]*)? \|", re.M)
BADGE = "https://colab.research.google.com/assets/colab-badge.svg"


def stamped(text: str, address: str) -> str:
    """The text with this repository's address, and a Colab badge on each row of the course's table."""
    colab = address.replace("https://github.com", "https://colab.research.google.com/github")
    text = ADDRESS.sub(address, text)
    return ROW.sub(rf"\1 [![Open in Colab]({BADGE})]({colab}/blob/{tag()}/\2) |", text)


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
