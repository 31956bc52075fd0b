"""Where the lessons are: the folders `lesson_NN` beside this file. Nothing lists them."""

import importlib
import pkgutil
import re
from dataclasses import replace
from importlib.resources import files
from types import ModuleType, SimpleNamespace

from transformer_lab import course
from transformer_lab.course.check import Check
from transformer_lab.course.questions import read_questions
from transformer_lab.course.quiz import Quiz
from transformer_lab.progress import Place


def lesson_numbers() -> tuple[str, ...]:
    """The numbers of the lessons that have checks and a quiz, in order: "01" and so on."""
    names = sorted(module.name for module in pkgutil.iter_modules(course.__path__))
    found = (re.fullmatch(r"lesson_(\d\d)", name) for name in names)
    return tuple(match.group(1) for match in found if match)


def lesson(number: str) -> ModuleType:
    """The lesson of this number: its `check` and its `quiz`."""
    return importlib.import_module(f"{course.__name__}.lesson_{number}")


def checks_in(*modules: ModuleType) -> SimpleNamespace:
    """The checks that stand in these modules, by their names, in the order in which they stand.

    Each learns which exercise of which lesson it is, so that it can be kept who passes it.
    """
    found = {name: value for module in modules for name, value in vars(module).items()}
    checks = {name: value for name, value in found.items() if isinstance(value, Check)}
    number = number_of(modules[0].__name__)
    return SimpleNamespace(
        **{
            name: replace(check, place=Place(number, name, len(checks)))
            for name, check in checks.items()
        }
    )


def number_of(module: str) -> str:
    """The number of the lesson that a module belongs to."""
    (number,) = re.findall(r"\.lesson_(\d\d)", module)
    return str(number)


def quiz_of(package: str) -> Quiz:
    """The quiz of a lesson: the questions that stand in its `quiz.md`."""
    text = files(package).joinpath("quiz.md").read_text(encoding="utf-8")
    questions = read_questions(text, f"{package.rpartition('.')[2]}/quiz.md")
    number = number_of(package)
    return Quiz(questions, [Place(number, asked.text, len(questions)) for asked in questions])
