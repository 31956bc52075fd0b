"""Write docs/sbom.cdx.json and docs/licences.md: `make sbom`, or `python -m tools.sbom FOLDER`.

FOLDER has the programs cyclonedx-py and pip-licenses, in an environment of their own: what lists
an environment is not to stand in the list.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from tools.build_notebooks import ROOT
from transformer_lab.files import write_atomically

SBOM, LICENCES = ROOT / "docs" / "sbom.cdx.json", ROOT / "docs" / "licences.md"
OURS = "transformer-lab"
LOCAL = re.compile(r"(?<=\d)\+(cpu|cu\d+)\b")
"""What the name of a local build adds to a version: `2.13.0+cpu` is 2.13.0."""
HEAD = """\
# Licences of what is installed

Each package that `make` installs, on Linux with Python 3.11: {count} beside this one. `make sbom`
asks each installed package for its name and licence; nothing here is written by hand. The same
list for programs, with what each package needs, is [sbom.cdx.json](sbom.cdx.json), in the form of
CycloneDX. Where the index has PyTorch with CUDA, NVIDIA's libraries come along, under NVIDIA's own
licences; they are not in the list.

| package | version | licence | where it comes from |
|---|---|---|---|
"""


def row(package: dict[str, str]) -> str:
    """A line of the table of licences; some packages give their whole licence for its name."""
    said = {key: value.replace("UNKNOWN", "not said") for key, value in package.items()}
    licence = next(iter(said["License"].splitlines()), "").replace("|", "/")
    return f"| {said['Name']} | {said['Version']} | {licence} | {said['URL']} |"


def bill(text: str) -> dict[str, Any]:
    """The bill of materials without this machine: no path of our own package."""
    found = json.loads(text)
    for part in found["components"]:
        if part["name"] == OURS:
            part.pop("externalReferences", None)
            part.pop("purl", None)
    return dict(found)


def main(programs: Path) -> None:
    """Ask the two programs about this environment, and write both files."""

    def asked(program: str, *arguments: str) -> str:
        command = [programs / program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return LOCAL.sub("", done.stdout)

    found = bill(asked("cyclonedx-py", "environment", "--output-reproducible", sys.executable))
    write_atomically(SBOM, (json.dumps(found, indent=1) + "\n").encode())
    wanted = ("--python", sys.executable, "--format=json", "--with-urls", "--with-system")
    packages = json.loads(asked("pip-licenses", *wanted, "--from=mixed"))
    rows = [row(package) for package in packages if package["Name"] != OURS]
    text = HEAD.format(count=len(rows)) + "\n".join(sorted(rows, key=str.lower)) + "\n"
    write_atomically(LICENCES, text.encode())
    print(f"{len(rows)} packages in {SBOM.name} and {LICENCES.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
