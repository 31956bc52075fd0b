"""The hints of an exercise: complete, on the page as in Python, and one door for wrong ones."""

import copy
import re

import pytest

from tools.build_notebooks import lessons, read
from tools.exercise_hints import place_hints
from transformer_lab.course.judge.guide import read_guides
from transformer_lab.course.keys import lesson_key
from transformer_lab.course.lessons import lesson, lesson_numbers

GOOD = "[merge]\ndifficulty = 2\nminutes = 10\nhints = ['a', 'b', 'c']"


@pytest.mark.parametrize("number", lesson_numbers())
def test_every_exercise_has_three_hints_that_differ_and_grow(number, capsys):
    for name, check in vars(lesson(number).check).items():
        assert len(set(check.guide.hints)) == 3, name
        for n in (1, 2, 3):
            check.hint(n)
            assert capsys.readouterr().out == f"Hint {n}: {check.guide.hints[n - 1]}\n"
        with pytest.raises(ValueError, match=r"hint number is 4; expected 1, 2 or 3"):
            check.hint(4)


@pytest.mark.parametrize(
    "path",
    [path for path in lessons() if lesson_key(path) in lesson_numbers()],
    ids=lambda p: p.stem,
)
def test_the_page_says_what_python_says(path):
    notebook = read(path)
    placed = copy.deepcopy(notebook)
    place_hints(placed, lesson_key(path))
    assert placed == notebook, f"run: python -m tools.build_notebooks {lesson_key(path)}"
    names = [cell.source for cell in notebook.cells if "hints" in cell.metadata.get("tags", ())]
    assert len(names) == len(vars(lesson(lesson_key(path)).check))


def test_the_hints_of_a_lesson_fit_into_its_time():
    for path in lessons():
        if lesson_key(path) not in lesson_numbers():
            continue
        text = "\n".join(cell.source for cell in read(path).cells)
        (minutes,) = (int(found) for found in re.findall(r"\*\*Time\*\*: (\d+) minutes", text))
        checks = vars(lesson(lesson_key(path)).check).values()
        assert sum(check.guide.minutes for check in checks) <= minutes, path.stem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("2", "4", 1), "difficulty is 4; expected 1, 2 or 3"),
        (GOOD.replace("10", "11"), r"minutes is 11; expected 5, 10, 15, 20 or 30"),
        (GOOD.replace(", 'c'", ""), "expected three hints, none of them blank"),
        (GOOD.replace("'b'", "' '"), "expected three hints, none of them blank"),
        (GOOD.replace("hints", "hint"), "lacks 'hints'; expected 'difficulty', 'minutes' and"),
        ("[merge", "at the end of|Expected"),
    ],
)
def test_a_wrong_file_of_hints_is_named(text, message):
    with pytest.raises(ValueError, match=message) as error:
        read_guides(text, "lesson_08/hints.toml")
    assert str(error.value).startswith("lesson_08/hints.toml: ")
    assert read_guides(GOOD, "")["merge"].hints == ("a", "b", "c")
