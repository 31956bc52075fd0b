"""Where the lessons are: the folders `lesson_NN` beside this file. Nothing lists them."""

import importlib
import pkgutil
import re
from importlib.resources import files
from types import ModuleType, SimpleNamespace

from transformer_lab import course
from transformer_lab.course.check import Check
from transformer_lab.course.questions import read_questions
from transformer_lab.course.quiz import Quiz


def lesson_numbers() -> tuple[str, ...]:
    """The numbers of the lessons that have checks and a quiz, in order: "01" and so on."""
    names = sorted(module.name for module in pkgutil.iter_modules(course.__path__))
    found = (re.fullmatch(r"lesson_(\d\d)", name) for name in names)
    return tuple(match.group(1) for match in found if match)


def lesson(number: str) -> ModuleType:
    """The lesson of this number: its `check` and its `quiz`."""
    return importlib.import_module(f"{course.__name__}.lesson_{number}")


def checks_in(*modules: ModuleType) -> SimpleNamespace:
    """The checks that stand in these modules, by their names, in the order in which they stand."""
    found = {name: value for module in modules for name, value in vars(module).items()}
    return SimpleNamespace(**{name: v for name, v in found.items() if isinstance(v, Check)})


def quiz_of(package: str) -> Quiz:
    """The quiz of a lesson: the questions that stand in its `quiz.md`."""
    text = files(package).joinpath("quiz.md").read_text(encoding="utf-8")
    return Quiz(read_questions(text, f"{package.rpartition('.')[2]}/quiz.md"))
