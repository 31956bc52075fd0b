"""List what is installed: docs/licences.md, and a bill of materials in build/sbom.cdx.json.

`python -m tools.stress sbom` runs it before a release, whose page gets the bill of materials; only the
table of licences is committed. The programs cyclonedx-py and pip-licenses do the work. They get an
environment of their own, so that they do not list themselves.
"""

import json
import re
import subprocess
import sys
import venv
from typing import Any

from tools.build_notebooks import ROOT
from transformer_lab.storage.files import write_atomically

SBOM, LICENCES = ROOT / "build" / "sbom.cdx.json", ROOT / "docs" / "licences.md"
PROGRAMS = ROOT / "build" / "sbom"
OURS = "transformer-lab"
LOCAL = re.compile(r"(?<=\d)\+(cpu|cu\d+)\b")
"""What a local build adds to its version: `2.13.0+cpu` is 2.13.0."""
HEAD = """\
# Licences of what is installed

Do you need to know the licence of everything that comes with this package? These are the packages
that `make` installs on Linux with Python 3.11. There are {count} of them besides this one. If your
index has PyTorch with CUDA, NVIDIA's libraries come along under NVIDIA's own licences. Those are
not in the list.

`python -m tools.stress sbom` asks each installed package for its name and licence, and writes this
page. It also writes `build/sbom.cdx.json`, the same list in a form that programs read (CycloneDX),
which says what each package needs. Every release comes with that file.

| package | version | licence | where it comes from |
|---|---|---|---|
"""


def row(package: dict[str, str]) -> str:
    """Return a line of the table of licences; some packages give the whole licence as its name."""
    said = {key: value.replace("UNKNOWN", "not said") for key, value in package.items()}
    licence = next(iter(said["License"].splitlines()), "").replace("|", "/")
    return f"| {said['Name']} | {said['Version']} | {licence} | {said['URL']} |"


def bill(text: str) -> dict[str, Any]:
    """Return the bill of materials without this machine's traces: the path of our own package."""
    found = json.loads(text)
    for part in found["components"]:
        if part["name"] == OURS:
            part.pop("externalReferences", None)
            part.pop("purl", None)
    return dict(found)


def main() -> None:
    """Install the two programs, ask them about this environment, and write both files."""
    venv.create(PROGRAMS, with_pip=True)
    pip = [PROGRAMS / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "cyclonedx-bom", "pip-licenses"], check=True)

    def output_of(program: str, *arguments: str) -> str:
        command = [PROGRAMS / "bin" / program, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return LOCAL.sub("", done.stdout)

    found = bill(output_of("cyclonedx-py", "environment", "--output-reproducible", sys.executable))
    write_atomically(SBOM, (json.dumps(found, indent=1) + "\n").encode())
    wanted = ("--python", sys.executable, "--format=json", "--with-urls", "--with-system")
    packages = json.loads(output_of("pip-licenses", *wanted, "--from=mixed"))
    rows = [row(package) for package in packages if package["Name"] != OURS]
    text = HEAD.format(count=len(rows)) + "\n".join(sorted(rows, key=str.lower)) + "\n"
    write_atomically(LICENCES, text.encode())
    print(f"{len(rows)} packages in {SBOM.relative_to(ROOT)} and {LICENCES.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
