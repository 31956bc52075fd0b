"""Find the lessons (the folders `lesson_KEY` here), and collect their checks and quizzes.

Each lesson's `__init__.py` calls these functions, so no list of lessons has to be maintained.
"""

import importlib
import pkgutil
import re
from dataclasses import replace
from importlib.resources import files
from types import ModuleType, SimpleNamespace

from transformer_lab.config import check as check_value
from transformer_lab.course.diary import Place
from transformer_lab.course.judge.check import Check
from transformer_lab.course.judge.guide import read_guides
from transformer_lab.course.keys import KEY
from transformer_lab.course.quiz.questions import read_questions
from transformer_lab.course.quiz.quiz import Quiz


def lesson_numbers() -> tuple[str, ...]:
    """Return the keys of the lessons with checks and a quiz, in order: "01", "01b" and so on."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = (re.fullmatch(rf"lesson_({KEY})", name) for name in names)
    return tuple(match.group(1) for match in found if match)


def lesson(number: str) -> ModuleType:
    """Import and return the package of the lesson with this key; it defines `check` and `quiz`."""
    return importlib.import_module(f"{__name__}.lesson_{number}")


def collect_checks(*modules: ModuleType) -> SimpleNamespace:
    """Collect the checks defined in these modules, in order, as attributes of a namespace.

    Each check gets its `place` (the lesson and the name under which the diary records it) and its
    `guide` (from the lesson's `hints.toml`).

    Raises:
        ValueError: If an exercise has no hints, or if hints belong to no exercise.
    """
    found = {name: value for module in modules for name, value in vars(module).items()}
    checks = {name: value for name, value in found.items() if isinstance(value, Check)}
    package = modules[0].__name__.rpartition(".")[0]
    number = find_lesson_number(modules[0].__name__)
    text = files(package).joinpath("hints.toml").read_text(encoding="utf-8")
    guides = read_guides(text, f"lesson_{number}/hints.toml")
    check_value(
        "list of exercises with hints",
        sorted(guides),
        f"{sorted(checks)}",
        guides.keys() == checks.keys(),
    )
    return SimpleNamespace(
        **{
            name: replace(check, place=Place(number, name, len(checks)), guide=guides[name])
            for name, check in checks.items()
        }
    )


def find_lesson_number(module: str) -> str:
    """Return the key of a module's lesson, taken from the module's dotted name."""
    (number,) = re.findall(rf"\.lesson_({KEY})\b", module)
    return str(number)


def load_quiz(package: str) -> Quiz:
    """Load a lesson's quiz from the `quiz.md` in its package."""
    text = files(package).joinpath("quiz.md").read_text(encoding="utf-8")
    questions = read_questions(text, f"{package.rpartition('.')[2]}/quiz.md")
    number = find_lesson_number(package)
    return Quiz(questions, [Place(number, asked.text, len(questions)) for asked in questions])
