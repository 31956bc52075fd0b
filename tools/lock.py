"""Write constraints.txt and requirements.lock from pyproject.toml: `python -m tools.lock`.

You run it after a change of pyproject.toml, and `make` installs what it wrote:

    python -m tools.lock                 keep every version that constraints.txt names
    python -m tools.lock torch numpy     let these two move to the newest that pyproject.toml allows
    python -m tools.lock --all           let every version move

constraints.txt has one version of each package that `make` installs. requirements.lock has the same
versions for every system, with the SHA-256 of each file. It takes nothing but Python, so that you can
mend a lock with which nothing can be installed.
"""
# pip chooses the versions, because it alone sees a wheel of PyTorch that lies on a disk (pip's
# `find-links`). uv adds the hashes. `uv lock` would do both, but its lock has hashes of PyTorch's files
# too, and these differ from index to index.

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
"""What builds this package, and the two programs that install: the environment is made with them."""
UNPINNED = ("pip", "setuptools", "wheel", "transformer-lab")
"""No constraints: whoever installs has the first three already, and the last is this package."""
UNLOCKED = re.compile(r"(torch|triton|nvidia-|cuda-|rfc3987-syntax|lark)")
"""PyTorch's wheels differ from index to index under one version, and so does what they need.

jsonschema does without rfc3987-syntax, which needs lark: it would check addresses with letters like é,
of which notebooks have none, and takes two seconds of each program that imports nbformat.
"""
HEAD = """\
# What `make` installs beside PyTorch: each package, and the SHA-256 of each of its files.
# Written by `python -m tools.lock` from pyproject.toml and constraints.txt; not to be edited.
"""
ADVICE = "Name the packages that may move, or say --all: `python -m tools.lock torch numpy`."


def run(command: Sequence[str | Path], text: str = "") -> str:
    """What a program prints, given this text; SystemExit with its own words if it fails."""
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stderr}\n{command[0]} found no set of versions. {ADVICE}")
    return done.stdout


def requirements() -> list[str]:
    """What pyproject.toml asks for, with the extras that `make` installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = (project["optional-dependencies"][name] for name in EXTRAS)
    return [*project["dependencies"], *(one for extra in extras for one in extra)]


def name_of(pin: str) -> str:
    """The name in `name==version`, in the one spelling that stands for all."""
    return re.sub(r"[-_.]+", "-", pin.split("==")[0]).lower()


def pins_without(names: Sequence[str]) -> str:
    """The lines of constraints.txt, but not those of the packages that may move."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    free = {name_of(name) for name in names}
    if unknown := free - {name_of(line) for line in lines}:
        raise SystemExit(f"{CONSTRAINTS.name} has no {', '.join(sorted(unknown))}")
    return "".join(f"{line}\n" for line in lines if name_of(line) not in free)


def constraints(report: str) -> str:
    """One line for each package that pip would install, by name, without what only one index has."""
    found = [package["metadata"] for package in json.loads(report)["install"]]
    lines = [f"{each['name']}=={each['version'].split('+')[0]}" for each in found]
    kept = [line for line in lines if name_of(line) not in UNPINNED]
    kept = [line for line in kept if not UNLOCKED.match(name_of(line)) or name_of(line) == "torch"]
    kept.sort(key=lambda line: line.split("==")[0].lower())
    return "".join(f"{line}\n" for line in kept)


def blocks(text: str) -> list[str]:
    """The lines of each package: its name, version and marker, and its hashes."""
    found = re.split(r"\n(?=\S)", text.strip())
    return [block for block in found if not block.startswith("#")]


def lock_text(text: str) -> str:
    """The lock: the blocks of all packages but the unlocked ones."""
    kept = [block for block in blocks(text) if not UNLOCKED.match(block)]
    return HEAD + "\n".join(kept) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both files, and say how many packages each of them holds."""
    parser = argparse.ArgumentParser(prog="python -m tools.lock")
    parser.add_argument("packages", nargs="*", help="let these move to another version")
    parser.add_argument("--all", action="store_true", help="let every version move")
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
