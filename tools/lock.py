"""Write requirements.lock from pyproject.toml and constraints.txt: `python -m tools.lock`.

The lock names each package that `make` installs, for every system, with the SHA-256 of each of
its files. uv resolves it, in the environment that runs this (`make lock` makes it). Nothing else is
needed, so that a lock with which nothing can be installed can be mended.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
EXTRAS = ("lab", "test", "site")
BUILD = "pip\nsetuptools>=77\nwheel\n"
"""What builds this package, and pip itself: the environment is made with them."""
UNLOCKED = re.compile(r"(torch|triton|nvidia-|cuda-)")
"""PyTorch's wheels differ from index to index under one version, and so does what they need."""
HEAD = """\
# What `make` installs beside PyTorch: each package, and the SHA-256 of each of its files.
# Written by `make lock` from pyproject.toml and constraints.txt; not to be edited.
"""


def resolved() -> str:
    """What uv says: one block for each package, its name first, its hashes indented below."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-", "--universal"]
    command += ["--python-version", "3.11", "--generate-hashes", "--constraint", "constraints.txt"]
    command += [
        "--quiet",
        "--no-header",
        "--no-annotate",
        *(f"--extra={extra}" for extra in EXTRAS),
    ]
    done = subprocess.run(
        command, cwd=ROOT, input=BUILD, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"uv found no set of versions:\n{done.stderr}")
    return done.stdout


def blocks(text: str) -> list[str]:
    """The lines of each package: its name, version and marker, and its hashes."""
    found = re.split(r"\n(?=\S)", text.strip())
    return [block for block in found if not block.startswith("#")]


def locked(text: str) -> str:
    """The lock: the blocks of all packages but those whose files depend on the index."""
    kept = [block for block in blocks(text) if not UNLOCKED.match(block)]
    return HEAD + "\n".join(kept) + "\n"


def main() -> None:
    """Write the lock, and say how many packages it holds."""
    text = locked(resolved())
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(blocks(text))} packages")


if __name__ == "__main__":
    main()
