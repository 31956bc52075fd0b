"""What `make test` leaves to `make test-all` names the test in `make test` that meets the same fault."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def marks_of(path):
    """Each use of the mark in a file, called or not, and not in a comment or a text."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    called = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return [called.get(one, one) for one in names if ast.unparse(one) == "pytest.mark.thorough"]


FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("*.py"))
MARKS = [
    pytest.param(path, mark, id=f"{path}:{mark.lineno}")
    for path in FILES
    if path != "tests/thorough.py"  # of which the first cases are those that catch a fault
    for mark in marks_of(path)
]


@functools.cache
def quick_tests(path):
    """The names of the tests of a file that `make test` runs."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        one.name
        for one in functions
        if not any("mark.thorough" in ast.unparse(decorator) for decorator in one.decorator_list)
    }


@pytest.mark.parametrize(("path", "mark"), MARKS)
def test_what_catches_the_same_fault_in_make_test_is_named_and_exists(path, mark):
    """A name alone is of the same file."""
    (named,) = mark.keywords
    assert named.arg == "caught_by"
    caught_by = ast.literal_eval(named.value)
    assert caught_by
    for test in caught_by:
        there, _, name = test.rpartition("::")
        assert name in quick_tests(there or path)


def test_some_tests_are_left_to_the_long_suite():
    assert len(MARKS) > 15
