"""Run the package's tests with other versions: `make versions` (ARGS="oldest newest" for some).

Each row gets an environment of its own in build/versions, and the tests of `make quick` run there:
all that neither trains nor needs a browser nor runs a notebook; and those of other people's
checkpoints, as far as its packages are there. A row whose interpreter is not installed is told and
left out. `--write` puts what was run into the table of docs/versions.md and leaves the other rows
there as they stand.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
from dataclasses import dataclass, field

from packaging.requirements import Requirement

from benchmarks.report import table
from tools.build_notebooks import ROOT, project
from tools.reseed import PROCESSORS
from tools.written import DOCUMENTS, put

FOLDER = ROOT / "build" / "versions"
PROJECT = project()
EXTRAS = PROJECT["optional-dependencies"]
CONSTRAINTS = [*(ROOT / "constraints.txt").read_text(encoding="utf-8").split()]
SHOWN = (
    "torch numpy matplotlib ipywidgets anywidget ipython transformers ctranslate2 datasets".split()
)
HEADS = ["versions", "result", "run on", "Python", *SHOWN]
TESTED = "beartype hypothesis nbclient nbformat packaging pyyaml".split()
TESTED += "pytest pytest-timeout pytest-xdist".split()
TESTS = ["-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
TESTS += [f"--ignore=tests/{part}" for part in ("lint", "notebooks", "browser")]
TESTS += ["-o", "addopts=--import-mode=importlib --strict-markers"]
TESTS += ["-o", "filterwarnings=default"]  # of other packages' deprecations there is no end
QUICK = ["tests", "-m", "not slow"]
BESIDE = ["tests/checkpoints", "-m", "slow"]


def lowest(dependencies: list[str]) -> list[str]:
    """The lower bound of each dependency, as a pin."""
    wanted = map(Requirement, dependencies)
    return [f"{r.name}=={next(iter(r.specifier)).version}" for r in wanted]


@dataclass(frozen=True)
class Row:
    """One set of versions: its name, its interpreter, what is installed, what is set as it runs."""

    name: str
    install: list[str]
    python: str = "python3.11"
    environment: dict[str, str] = field(default_factory=dict)


BRIDGES = [*EXTRAS["export"], *EXTRAS["corpora"]]
OTHERS = [*EXTRAS["lab"], *BRIDGES, *TESTED]
OLDEST = lowest(PROJECT["dependencies"])
COLAB = "ipython==7.34.* ipywidgets==7.7.1 matplotlib==3.10.* numpy==2.1.*".split()
"""What Colab has beside its torch."""
ROWS = [
    Row("pinned", CONSTRAINTS),
    Row("pinned, AVX2 only", CONSTRAINTS, environment=PROCESSORS["avx2"]),
    Row("oldest", [*OLDEST, *TESTED]),
    Row("oldest, with others", [*(p for p in OLDEST if not p.startswith(("tokenizers", "tqdm"))),
                                *TESTED, *lowest(BRIDGES), "bertviz==1.4.1"]),
    Row("newest", [*PROJECT["dependencies"], *OTHERS]),
    Row("as on Colab", [*PROJECT["dependencies"], "torch==2.11.0", *COLAB, *OTHERS],
        "python3.13"),
    Row("Python 3.12", CONSTRAINTS, "python3.12"),
    Row("Python 3.13", CONSTRAINTS, "python3.13"),
]  # fmt: skip


def said(command: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command at the root of the repository, and keep what it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | settings
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def runs(interpreter: str) -> bool:
    """Whether there is such an interpreter: a name on the path may stand for none."""
    try:
        return not said([interpreter, "--version"]).returncode
    except FileNotFoundError:
        return False


def tested(row: Row) -> dict[str, str]:
    """Install the versions of a row and run the tests: a line of the table, by its headings."""
    told = {"versions": row.name, "run on": str(datetime.date.today()), "Python": row.python}
    if not runs(row.python):
        return told | {"result": "not run: no such interpreter"}
    home = FOLDER / re.sub(r"\W+", "-", row.name.removesuffix(", AVX2 only"))
    python = str(home / "bin" / "python")
    for command in (
        [row.python, "-m", "venv", str(home)],
        [python, "-m", "pip", "install", "-q", "pip>=25.1"],
        [python, "-m", "pip", "install", "-q", *row.install],
    ):
        done = said(command)
        if done.returncode:
            reason = next((x for x in done.stderr.splitlines() if "ERROR" in x), "it failed")
            return told | {"result": f"not installed: {reason}"}
    results, output = [], ""
    for tests in (QUICK, BESIDE):
        done = said([python, "-m", "pytest", *tests, *TESTS], **row.environment)
        output += done.stdout + done.stderr
        last = next((x for x in reversed(done.stdout.splitlines()) if " in " in x), "no test ran")
        results.append(re.sub(r",? \d+ warnings?| in [\d.]+s.*|=+", "", last).strip())
    (home / "tests.txt").write_text(output, encoding="utf-8")
    listed = json.loads(said([python, "-m", "pip", "list", "--format=json"]).stdout)
    found = {package["name"].lower(): package["version"].split("+")[0] for package in listed}
    version = said([python, "-c", "import platform; print(platform.python_version())"]).stdout
    return told | {
        "Python": version.strip(),
        **{name: found.get(name, "–") for name in SHOWN},
        "result": "; checkpoints: ".join(results),
    }


def with_rows(rows: list[dict[str, str]], document: str) -> str:
    """The table of the document with these rows in the place of those of the same names."""
    stand = [line.strip("| ").split(" | ") for line in document.splitlines() if " | " in line]
    heads = next((line for line in stand if line[0] == HEADS[0]), HEADS)
    kept = {line[0]: dict(zip(heads, line, strict=False)) for line in stand}
    every = kept | {row["versions"]: row for row in rows}
    return table(
        HEADS,
        [[every[row.name].get(head, "–") for head in HEADS] for row in ROWS if row.name in every],
    )


def main() -> None:
    """Run the rows that are asked for, print each as it ends, and write the table if asked."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("row", nargs="*", default=names, help=f"one of: {'; '.join(names)}")
    parser.add_argument("--write", action="store_true", help="write them into docs/versions.md")
    asked = parser.parse_args()
    if unknown := sorted(set(asked.row) - set(names)):
        parser.error(f"row must be one of {names}, not {unknown}")
    document = DOCUMENTS / "versions.md"
    for row in ROWS:
        if row.name not in asked.row:
            continue
        found = tested(row)
        print(f"{row.name}: {found['result']}", flush=True)
        if asked.write:  # each as it ends: whoever stops the tool keeps what it has found
            text = with_rows([found], document.read_text(encoding="utf-8"))
            put(document, "the table of versions", text)


if __name__ == "__main__":
    main()
