"""What a reader sees of a lesson's code is its ideas: short cells, and what only draws is folded."""

import ast

import pytest

from tools.build_notebooks import evidence, lessons, page_name, read
from transformer_lab.course.keys import lesson_key
from transformer_lab.lab import drawings

LONGEST = 30
"""Lines of a cell, folded or not."""
VISIBLE = {
    "00": 145, "01": 140, "01b": 130, "02": 210, "03": 240, "04": 190, "05": 300, "06": 235, "07": 275,
    "08": 255, "09": 165, "09b": 140, "10": 225, "10b": 205, "10c": 245, "11": 265, "12": 175, "13": 190,
    "14": 340, "15": 475, "16": 360, "16b": 140, "17": 150, "18": 330,
}  # fmt: skip
"""Lines of all visible cells of a lesson; together a third less than when drawings stood among them."""
DRAWS = {"show", "show_live", "show_deck", "playground"}


@pytest.fixture(params=[*lessons(), *evidence()], ids=page_name)
def page(request):
    return request.param


def tags(cell):
    return cell.metadata.get("tags", ())


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def visible(path):
    return [c for c in code(path) if not c.metadata.get("jupyter", {}).get("source_hidden")]


def lines(cell):
    return len(cell.source.splitlines())


def called(source):
    """The names of the functions that a cell calls, where they are names alone."""
    tree = ast.parse("\n".join(line for line in source.splitlines() if "%pip" not in line))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def test_no_cell_is_long(page):
    for cell in code(page):
        assert lines(cell) <= LONGEST, cell.id


@pytest.mark.parametrize("lesson", lessons(), ids=page_name)
def test_a_lesson_shows_no_more_code_than_its_ideas_need(lesson):
    assert sum(map(lines, visible(lesson))) <= VISIBLE[lesson_key(lesson)]


def test_each_lesson_has_its_bound():
    assert list(VISIBLE) == [lesson_key(path) for path in lessons()]


def test_what_draws_is_folded(page):
    for cell in visible(page):
        assert not called(cell.source) & DRAWS, cell.id


def test_what_is_folded_as_a_drawing_draws_or_prints(page):
    for cell in code(page):
        if "drawing" in tags(cell):
            assert cell.metadata.jupyter.source_hidden
            names = called(cell.source)
            assert names & {*DRAWS, *drawings.__all__, "print"}, cell.id
