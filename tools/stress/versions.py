"""Run the package's tests with other versions of Python and of the packages it needs.

`python -m tools.stress versions` runs every row, `… versions oldest newest` two of them. Each row
gets an environment of its own in build/versions, for which PyTorch is fetched again: with CUDA,
some gigabytes. The tests that run there do not train, need no browser and run no notebook. Those of
other people's checkpoints run too if their packages are installed. A row whose interpreter is
missing is reported and left out. `--write` puts the results into the table of docs/versions.md, and
leaves the other rows there as they are.
"""
# nox would make the environments, which takes three commands in `test_row`. It would not replace what
# reads a row's packages from pyproject.toml and constraints.txt, nor what writes results into a table.

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
from tools.stress.seeds import PROCESSORS
from tools.written import DOCUMENTS, put

FOLDER = ROOT / "build" / "versions"
PROJECT = project()
EXTRAS = PROJECT["optional-dependencies"]
CONSTRAINTS = [*(ROOT / "constraints.txt").read_text(encoding="utf-8").split()]
SHOWN = (
    "torch numpy matplotlib ipywidgets anywidget ipython transformers ctranslate2 datasets".split()
)
HEADS = ["versions", "result", "run on", "Python", *SHOWN]
TESTED = "beartype hypothesis nbclient nbformat packaging playwright pyyaml".split()
TESTED += "pytest pytest-timeout pytest-xdist roman-numerals wasmtime".split()
TESTS = ["-q", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
TESTS += [f"--ignore=tests/{part}" for part in ("lint", "notebooks", "browser")]
TESTS += ["-o", "addopts=--import-mode=importlib --strict-markers"]
TESTS += ["-o", "filterwarnings=default"]  # other packages are full of deprecations
QUICK = ["tests", "-m", "not slow and not thorough"]
BESIDE = ["tests/formats", "-m", "slow"]


def lowest(dependencies: list[str]) -> list[str]:
    """Return the lower bound of each dependency, as a pin."""
    wanted = map(Requirement, dependencies)
    return [f"{r.name}=={next(iter(r.specifier)).version}" for r in wanted]


@dataclass(frozen=True)
class Row:
    """One set of versions: its name, what is installed, the interpreter, and the environment."""

    name: str
    install: list[str]
    python: str = "python3.11"
    environment: dict[str, str] = field(default_factory=dict)


BRIDGES = [*EXTRAS["export"], *EXTRAS["corpora"]]
OTHERS = [*EXTRAS["lab"], *BRIDGES, *TESTED]
OLDEST = lowest(PROJECT["dependencies"])
COLAB = "ipython==7.34.* ipywidgets==7.7.1 matplotlib==3.10.* numpy==2.1.*".split()
"""The packages that Colab has besides torch."""
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


def run_command(command: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command at the root of the repository, and capture what it prints."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | settings
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def has_interpreter(interpreter: str) -> bool:
    """Return whether the interpreter runs; a name on the PATH need not belong to a real one."""
    try:
        return not run_command([interpreter, "--version"]).returncode
    except FileNotFoundError:
        return False


def test_row(row: Row) -> dict[str, str]:
    """Install a row's versions and run the tests; return a line of the table, by headings."""
    line = {"versions": row.name, "run on": str(datetime.date.today()), "Python": row.python}
    if not has_interpreter(row.python):
        return line | {"result": "not run: no such interpreter"}
    home = FOLDER / re.sub(r"\W+", "-", row.name.removesuffix(", AVX2 only"))
    python = str(home / "bin" / "python")
    for command in (
        [row.python, "-m", "venv", str(home)],
        [python, "-m", "pip", "install", "-q", "pip>=25.1"],
        [python, "-m", "pip", "install", "-q", *row.install],
    ):
        done = run_command(command)
        if done.returncode:
            reason = next((x for x in done.stderr.splitlines() if "ERROR" in x), "it failed")
            return line | {"result": f"not installed: {reason}"}
    results, output = [], ""
    for tests in (QUICK, BESIDE):
        done = run_command([python, "-m", "pytest", *tests, *TESTS], **row.environment)
        output += done.stdout + done.stderr
        last = next((x for x in reversed(done.stdout.splitlines()) if " in " in x), "no test ran")
        results.append(re.sub(r",? \d+ warnings?| in [\d.]+s.*|=+", "", last).strip())
    (home / "tests.txt").write_text(output, encoding="utf-8")
    listed = json.loads(run_command([python, "-m", "pip", "list", "--format=json"]).stdout)
    found = {package["name"].lower(): package["version"].split("+")[0] for package in listed}
    version = run_command(
        [python, "-c", "import platform; print(platform.python_version())"]
    ).stdout
    return line | {
        "Python": version.strip(),
        **{name: found.get(name, "–") for name in SHOWN},
        "result": "; checkpoints: ".join(results),
    }


def with_rows(rows: list[dict[str, str]], document: str) -> str:
    """Return the document's table, in which these rows replace those with the same names."""
    stand = [line.strip("| ").split(" | ") for line in document.splitlines() if " | " in line]
    heads = next((line for line in stand if line[0] == HEADS[0]), HEADS)
    kept = {line[0]: dict(zip(heads, line, strict=False)) for line in stand}
    every = kept | {row["versions"]: row for row in rows}
    return table(
        HEADS,
        [[every[row.name].get(head, "–") for head in HEADS] for row in ROWS if row.name in every],
    )


def main() -> None:
    """Run the chosen rows, print each as it ends, and write the table if asked to."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(
        prog="python -m tools.stress versions", description=__doc__.split("\n")[0]
    )
    parser.add_argument("row", nargs="*", default=names, help=f"one of: {'; '.join(names)}")
    parser.add_argument(
        "--write", action="store_true", help="write the results into docs/versions.md"
    )
    asked = parser.parse_args()
    if unknown := sorted(set(asked.row) - set(names)):
        parser.error(f"row must be one of {names}, not {unknown}")
    document = DOCUMENTS / "versions.md"
    for row in ROWS:
        if row.name not in asked.row:
            continue
        found = test_row(row)
        print(f"{row.name}: {found['result']}", flush=True)
        if asked.write:  # after each row, so that nothing is lost if you stop the tool
            text = with_rows([found], document.read_text(encoding="utf-8"))
            put(document, "the table of versions", text)


if __name__ == "__main__":
    main()
