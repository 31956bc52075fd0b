"""The notebook of bare stubs asks what the lessons ask, and can be solved to the end."""

import ast
import contextlib
import io
import itertools
import re

import pytest

from tools.build_notebooks import NOTEBOOKS, read, setup_cell
from transformer_lab.course.keys import KEY
from transformer_lab.numpy_reference import scaled_dot_product_attention
from transformer_lab.translator import Translator


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tagged(cell, tag):
    return tag in cell.metadata.get("tags", ())


def printed(cell):
    return "".join(o.text for o in cell.outputs if o.output_type == "stream")


def name_of(cell):
    (node,) = ast.parse(cell.source).body
    return node.name


CELLS = code(NOTEBOOKS / "from_memory.ipynb")
EXERCISES = [(stub, check) for stub, check in itertools.pairwise(CELLS) if tagged(stub, "exercise")]


def in_lesson(lesson, name):
    """(stub, check, solution) of an exercise."""
    cells = code(next(NOTEBOOKS.glob(f"{lesson}_*.ipynb")))
    stubs = [n for n, cell in enumerate(cells) if tagged(cell, "exercise")]
    place = next(n for n in stubs if name_of(cells[n]) == name)
    return cells[place : place + 3]


@pytest.mark.parametrize(("stub", "check"), EXERCISES, ids=[name_of(e[0]) for e in EXERCISES])
def test_each_stub_is_a_lessons_and_so_is_its_check(stub, check):
    lesson, call = re.fullmatch(rf"lesson_({KEY})\.(check\.\w+\(\w+\))", check.source).groups()
    asked, called, _ = in_lesson(lesson, name_of(stub))
    assert stub.source == asked.source
    assert call == called.source
    assert printed(check).startswith("Not written yet")


def test_nothing_is_solved_and_the_order_is_the_courses():
    lessons = [re.match(rf"lesson_({KEY})", check.source).group(1) for _, check in EXERCISES]
    assert [n for n in lessons if n != "17"] == sorted(n for n in lessons if n != "17")
    assert not [cell for cell in CELLS if tagged(cell, "solution")]
    assert printed(CELLS[-1]).startswith("Not written yet")


def test_with_the_lessons_solutions_every_check_is_right_and_it_translates():
    # What the solution of lesson 03 calls; the reader of this notebook has written it.
    space = {"scaled_dot_product_attention": scaled_dot_product_attention}
    for cell in CELLS:
        source = cell.source
        if source == setup_cell():
            continue
        if tagged(cell, "exercise"):
            following = next(check for stub, check in EXERCISES if stub is cell)
            lesson = re.match(rf"lesson_({KEY})", following.source).group(1)
            solution = in_lesson(lesson, name_of(cell))[2].source
            source = solution.partition("### END SOLUTION")[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, "from_memory", "exec"), space)
        if source.startswith("lesson_"):
            assert out.getvalue().startswith("Right: "), source
    sentence = "the animal didn't cross the street because it was too tired"
    right = Translator.load(device="cpu").translate(sentence, beam_size=1)[0].translation
    assert out.getvalue() == f"{right}\n"
