"""For each `lesson_KEY/test_checks.py`, the checks of that lesson alone: no other lesson is imported."""

import importlib

import pytest

from tests.thorough import thorough_from
from transformer_lab.course.keys import lesson_key

pytest.register_assert_rewrite("tests.course.every_check")


def pytest_generate_tests(metafunc):
    """Run a test of `every_check.py` for each check of the lesson, or for each answer to one."""
    number = lesson_key(metafunc.definition.path.parent)
    asked = set(metafunc.fixturenames)
    if not number or metafunc.definition.path.name != "test_checks.py":
        return
    checks = vars(importlib.import_module(f"transformer_lab.course.lessons.lesson_{number}").check)
    if "right_answer" in asked:
        from tests.course.right_answers import RIGHT, RIGHT_IN_ANOTHER_WAY

        answers = [
            *RIGHT,
            *((name.partition(":")[0], f) for name, f in RIGHT_IN_ANOTHER_WAY.items()),
        ]
        rows = [
            (checks[name.partition(".")[2]], answer, f"{name}-{answer.__name__}")
            for name, answer in answers
            if name.startswith(f"{number}.")
        ]
        parametrize(metafunc, ("check", "right_answer"), rows)
    elif "wrong_answer" in asked:
        rows = [
            (checks[name], answer, hint, f"{number}.{name}-{answer.__name__}")
            for name, answer, hint in wrong_answers(number)
        ]
        parametrize(metafunc, ("check", "wrong_answer", "hint"), rows)
    elif "table" in asked:
        parametrize(metafunc, ("table", "checks"), [(wrong_answers(number), checks, number)])
    elif "check" in asked:
        parametrize(metafunc, ("check",), [(c, f"{number}.{name}") for name, c in checks.items()])
    elif "example" in asked:
        # What these ask is answered by code that all checks share.
        names = [f"{number}.{name}" for name in checks]
        metafunc.parametrize("example", thorough_from(1, checks.values()), ids=names)


def parametrize(metafunc, arguments, rows):
    """Run the test once for each row: a value for each argument, and the name of the case."""
    cases = [pytest.param(*values, id=name) for *values, name in rows]
    metafunc.parametrize(arguments, cases)


def wrong_answers(number):
    """The wrong answers of a lesson: each with the name of its check, and words of its hint."""
    return importlib.import_module(f"tests.course.lesson_{number}.wrong_answers").TABLE
