"""Change the package in small ways and run its tests: do they notice?

`python -m tools.stress mutants` runs it, for about an hour:

    python -m tools.stress mutants                 a seeded sample of 400 changes
    python -m tools.stress mutants --sample 0      all of them, which takes some hours
    python -m tools.stress mutants model/kv_cache.py   only those in one file
    python -m tools.stress mutants --write         and write the table into docs/trust.md

Each test run is a fork of this process, which has already imported PyTorch and pytest, and works on a
copy of the checkout in which one line is changed. It ends with the first test that fails. Annotations
and docstrings are not changed, because they decide nothing when the code runs.
"""
# The changes are those of tools/mutate, which also test the exercises' checks. So mutmut would replace
# only the loop below, and would add a second set of changes.

import argparse
import ast
import os
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import hypothesis  # noqa: F401 - what the tests import is imported once, here
import pytest
import torch

from benchmarks.report import table
from tools.checkout import ROOT, copy_of_checkout
from tools.mutate.mutants import changed_once
from tools.stress.mutants.same_program import SAME_PROGRAM
from tools.written import DOCUMENTS, machine, put

PACKAGE = ROOT / "transformer_lab"
SAMPLE = 400
PATIENCE = 240
"""Seconds of processor time after which a change counts as noticed: an endless loop is a failure."""
OURS = ("transformer_lab", "tests", "tools", "benchmarks")
MODEL = ("tests/model", "tests/test_decoding.py")
TESTS = {
    "model/later/*.py": ("tests/model",),
    "model/*.py": MODEL,
    "numpy_reference.py": ("tests/test_numpy_reference.py", "tests/model"),
    "decoding/*.py": ("tests/test_decoding.py", "tests/test_mbr.py"),
    "training/loss.py": ("tests/training/test_loss_and_schedule.py",),
    "training/schedule.py": ("tests/training/test_loss_and_schedule.py",),
    "capture.py": ("tests/test_capture.py", "tests/test_threads.py"),
}
"""The files that are changed, and the tests that are run for each of them."""
NOTICED, SAME, NOT_NOTICED = "noticed", "the same program", "not noticed"
HEAD = ("room", "changes tried", NOTICED, SAME, NOT_NOTICED)


class Plain(ast.NodeTransformer):
    """A visitor that removes functions' docstrings, and annotations unless a field needs one."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Return the function without its docstring and its annotations."""
        if ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
        node.returns = None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Return the name, annotated as an object."""
        node.annotation = ast.Name("object", ast.Load())
        return self.generic_visit(node)


def plain(path: Path) -> str:
    """Return the source to change, without annotations and docstrings."""
    return ast.unparse(Plain().visit(ast.parse(path.read_text("utf-8"))))


def files() -> dict[str, tuple[str, ...]]:
    """Return each file to change, with its tests, from the first pattern that fits."""
    found: dict[str, tuple[str, ...]] = {}
    for pattern, tests in TESTS.items():
        for path in sorted(PACKAGE.glob(pattern)):
            found.setdefault(path.relative_to(PACKAGE).as_posix(), tests)
    return found


def every_change(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield every change, as (file, changed source)."""
    for name in names or files():
        for source in changed_once(plain(PACKAGE / name), asks_gradients=False):
            yield name, source


def changed_lines(name: str, source: str) -> str:
    """Return the lines that are new in a changed file or, if there are none, those that are gone."""
    before, after = (Counter(text.splitlines()) for text in (plain(PACKAGE / name), source))
    more, less = ([line.strip() for line in lines] for lines in (after - before, before - after))
    return " / ".join(more) or f"without {' / '.join(less)}"


def is_noticed(tree: Path, name: str, source: str) -> bool:
    """Return whether a test fails when this file has this source."""
    path = tree / "transformer_lab" / name
    kept = path.read_bytes()
    path.write_text(source, "utf-8")
    try:
        return run_tests(tree, files()[name]) != 0
    finally:
        path.write_bytes(kept)


def run_tests(tree: Path, tests: Sequence[str]) -> int:
    """Run pytest in a fork and return its exit code, below 0 if it took too long and was stopped."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        for module in [m for m in sys.modules if m.partition(".")[0] in OURS]:
            del sys.modules[module]  # so that it is imported from the changed copy
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:nbval", "-o", "timeout=0"]
        options += ["-o", "addopts=--import-mode=importlib", "-o", "filterwarnings=default"]
        os._exit(pytest.main([*options, *tests]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the changes; return 1 if tests notice fewer than 90% of those that change the program."""
    parser = argparse.ArgumentParser(prog="python -m tools.stress mutants")
    parser.add_argument("files", nargs="*", choices=[[], *files()], metavar="file")
    parser.add_argument(
        "--sample", type=int, default=SAMPLE, help="number of changes; 0 for all of them"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (default 0)")
    parser.add_argument("--write", action="store_true", help="also write docs/trust.md")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)  # a fork only has the thread that forks
    sys.dont_write_bytecode = True  # two changes within a second would share a .pyc file
    tried = list(every_change(chosen.files))
    count = len(tried)
    if chosen.sample:
        tried = random.Random(chosen.seed).sample(tried, min(chosen.sample, count))
    rooms: dict[str, Counter[str]] = {}
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "checkout"
        copy_of_checkout(tree)
        for tests in set(TESTS.values()):
            if run_tests(tree, tests):
                raise RuntimeError(f"the tests fail before anything is changed: {tests}")
        for number, (name, source) in enumerate(tried, start=1):
            what, change = NOTICED, changed_lines(name, source)
            if not is_noticed(tree, name, source):
                what = SAME if (name, change) in SAME_PROGRAM else NOT_NOTICED
            if what == NOT_NOTICED:
                survivors.append(f"- `{name}`: `{change}`")
                print(survivors[-1], flush=True)
            rooms.setdefault(name.split("/")[0], Counter())[what] += 1
            if number % 50 == 0:
                print(f"{number} of {len(tried)}", flush=True)
    text = report(rooms, count, chosen.seed, survivors)
    print(text)
    if chosen.write:
        put(DOCUMENTS / "trust.md", "mutants", text)
    total = sum(rooms.values(), Counter())
    return 1 if total[NOTICED] < 0.9 * (total.total() - total[SAME]) else 0


def report(rooms: dict[str, Counter[str]], count: int, seed: int, survivors: Sequence[str]) -> str:
    """Return the table, and the changes that were not noticed."""
    every = {**dict(sorted(rooms.items())), "**all**": sum(rooms.values(), Counter())}
    rows = [
        [name, str(found.total()), *(str(found[what]) for what in (NOTICED, SAME, NOT_NOTICED))]
        for name, found in every.items()
    ]
    tried = every["**all**"].total()
    said = f"{tried:,} of the {count:,} changes, drawn with seed {seed}, on {machine()}."
    return "\n".join([table(HEAD, rows), said, *(["", *survivors] if survivors else [])])


if __name__ == "__main__":
    sys.exit(main())
