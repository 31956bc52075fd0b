"""Run the quick tests of what you have changed.

`make quick` runs it. *Changed* is what differs from the last commit that you share with `main`, plus
new files that git does not ignore. On `main` itself, it is what the last commit changed.
The tests are those in each test file that you changed, and in each that imports a changed module. Only
direct imports count, because nearly every test reaches `config` in some way; `make test` runs them all.
For a changed file that is not Python, such as `transformer_lab/lab/page/elements.js`, the tests of its
room run, here those in `tests/lab`.
"""

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("lint", "notebooks", "browser", "gpu")
"""Folders of tests that take long, or that `make lint` runs."""
PYTEST = ["-n", "2", "--dist", "loadfile", "-q", "-m", "not slow and not thorough"]
# Without checking every argument's shape, which takes half of the time; `make test` does it.
PYTEST += ["-o", "addopts=-p no:nbval --import-mode=importlib --strict-markers"]
NO_TESTS = 5
"""pytest's exit status if every test in the files was left out."""


def git(*arguments: str) -> list[str]:
    """Return the lines that a git command prints, or none if it fails."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return [] if done.returncode else done.stdout.splitlines()


def changed_files() -> set[str]:
    """Return the paths of the changed files, from the root of the repository."""
    shared = git("merge-base", "HEAD", "main") or git("merge-base", "HEAD", "origin/main")
    differs = git("diff", "--name-only", *(shared or ["HEAD"]))
    differs += git("ls-files", "--others", "--exclude-standard")
    return set(differs or git("diff", "--name-only", "HEAD~1", "HEAD"))


def module_of(path: str) -> str:
    """Return the name under which a Python file is imported."""
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


def imports_of(source: str) -> Iterator[str]:
    """Yield the full name of each module that a file imports, and of each thing imported from one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def chosen_tests(changed: Iterable[str], sources: dict[str, str]) -> list[str]:
    """Return the test files to run, in order.

    Args:
        changed: The paths of the files that were changed.
        sources: The text of each Python file in `tests`, by its path.

    Returns:
        Each test file that was changed; each that imports a changed module, or a helper of the tests
        that imports one; and each in the tests' folder of a changed file that is not imported.
    """
    changed = set(changed)
    modules = {module_of(path) for path in changed if path.endswith(".py")}
    imports = {path: set(imports_of(source)) for path, source in sources.items()}
    tests = {path for path in sources if PurePosixPath(path).name.startswith("test_")}
    helpers = {module_of(path) for path in sources.keys() - tests if imports[path] & modules}
    not_imported = [p for p in changed if not p.endswith(".py") or p.endswith("/conftest.py")]
    rooms = tuple(f"tests/{path.split('/')[1]}/" for path in not_imported if "/" in path)
    left_out = tuple(f"tests/{folder}/" for folder in LEFT_OUT)
    return sorted(
        path
        for path in tests
        if (path in changed or imports[path] & (modules | helpers) or path.startswith(rooms))
        and not path.startswith(left_out)
    )


def main() -> int:
    """Run the tests, with all arguments passed on to pytest, and return its exit status."""
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("*.py")
    }
    chosen = chosen_tests(changed_files(), sources)
    print(f"quick tests of what you have changed: {' '.join(chosen) or 'none'}", flush=True)
    if not chosen:
        return 0
    command = [sys.executable, "-m", "pytest", *chosen, *PYTEST, *sys.argv[1:]]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    return 0 if status == NO_TESTS else status


if __name__ == "__main__":
    sys.exit(main())
