"""Write constraints.txt and requirements.lock from pyproject.toml: `python -m tools.lock`.

You run it after a change of pyproject.toml, and `make` installs what it wrote:

    python -m tools.lock                 keep every version that constraints.txt names
    python -m tools.lock torch numpy     update these two as far as pyproject.toml allows
    python -m tools.lock --all           update every version

constraints.txt has one version of each package that `make` installs. requirements.lock has the same
versions for every system, with the SHA-256 of each file. It needs nothing but Python, so that you can
mend a lock with which nothing can be installed.
"""
# pip chooses the versions, because only pip sees a PyTorch wheel on the disk (pip's
# `find-links`). uv adds the hashes. `uv lock` would do both, but its lock would also have hashes of
# PyTorch's files, which differ from index to index.

import argparse
import json
import re
import subprocess
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS, LOCK = ROOT / "constraints.txt", ROOT / "requirements.lock"
EXTRAS = ("lab", "test", "site")
BUILD = "pip\nsetuptools>=77\nuv\nwheel\n"
"""What builds this package, and the two installers: the environment is made with them."""
UNPINNED = ("pip", "setuptools", "wheel", "transformer-lab")
"""Packages without constraints: the first three are already installed, and the last is this one."""
UNLOCKED = re.compile(r"(torch|triton|nvidia-|cuda-|rfc3987-syntax|lark)")
"""PyTorch's wheels of one version differ from index to index, and so do their requirements.

jsonschema works without rfc3987-syntax, which needs lark. It would check addresses with letters like é,
which notebooks do not have, and costs every program that imports nbformat two seconds.
"""
HEAD = """\
# What `make` installs beside PyTorch: each package, and the SHA-256 of each of its files.
# Written by `python -m tools.lock` from pyproject.toml and constraints.txt; not to be edited.
"""
ADVICE = "Name the packages to update, or use --all: `python -m tools.lock torch numpy`."


def run(command: Sequence[str | Path], text: str = "") -> str:
    """Return what a program prints, given this text; exit with its own message if it fails."""
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stderr}\n{command[0]} found no set of versions. {ADVICE}")
    return done.stdout


def requirements() -> list[str]:
    """Return what pyproject.toml requires, with the extras that `make` installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][name] for name in EXTRAS)
    return [*project["dependencies"], *(one for extra in extras for one in extra)]


def name_of(pin: str) -> str:
    """Return the name in `name==version`, in its normalised spelling."""
    return re.sub(r"[-_.]+", "-", pin.split("==")[0]).lower()


def pins_without(names: Sequence[str]) -> str:
    """Return the lines of constraints.txt, except those of the packages to update."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    free = {name_of(name) for name in names}
    if unknown := free - {name_of(line) for line in lines}:
        raise SystemExit(f"{CONSTRAINTS.name} has no {', '.join(sorted(unknown))}")
    return "".join(f"{line}\n" for line in lines if name_of(line) not in free)


def constraints(report: str) -> str:
    """Return a line for each package that pip would install, without what only one index has."""
    found = [package["metadata"] for package in json.loads(report)["install"]]
    lines = [f"{each['name']}=={each['version'].split('+')[0]}" for each in found]
    kept = [line for line in lines if name_of(line) not in UNPINNED]
    kept = [line for line in kept if not UNLOCKED.match(name_of(line)) or name_of(line) == "torch"]
    kept.sort(key=lambda line: line.split("==")[0].lower())
    return "".join(f"{line}\n" for line in kept)


def blocks(text: str) -> list[str]:
    """Return the lines of each package: its name, version and marker, and its hashes."""
    found = re.split(r"\n(?=\S)", text.strip())
    return [block for block in found if not block.startswith("#")]


def lock_text(text: str) -> str:
    """Return the lock: the blocks of all packages except the unlocked ones."""
    kept = [block for block in blocks(text) if not UNLOCKED.match(block)]
    return HEAD + "\n".join(kept) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both files, and say how many packages each of them holds."""
    parser = argparse.ArgumentParser(prog="python -m tools.lock")
    parser.add_argument("packages", nargs="*", help="packages to update")
    parser.add_argument("--all", action="store_true", help="update every version")
    chosen = parser.parse_args(arguments)
    folder = ROOT / "build" / "lock"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "--upgrade", "pip", "uv"], check=True)

    kept = folder / "kept.txt"
    kept.write_text("" if chosen.all else pins_without(chosen.packages), encoding="utf-8")
    command = [*install, "--dry-run", "--ignore-installed", "--report", "-"]
    report = run([*command, "--constraint", kept, *requirements()])
    CONSTRAINTS.write_text(constraints(report), encoding="utf-8")
    print(f"{CONSTRAINTS.name}: {len(CONSTRAINTS.read_text(encoding='utf-8').split())} packages")

    command = [python, "-m", "uv", "pip", "compile", "pyproject.toml", "-", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--constraint", "constraints.txt"]
    command += ["--quiet", "--no-header", "--no-annotate", *(f"--extra={name}" for name in EXTRAS)]
    text = lock_text(run(command, BUILD))
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(blocks(text))} packages")


if __name__ == "__main__":
    main()
