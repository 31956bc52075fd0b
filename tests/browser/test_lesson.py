"""What a learner does in a lesson: run it, move its slider, answer its quiz, fail an exercise."""

import inspect

import pytest
from playwright.sync_api import expect

from tests.course.lesson_01.wrong_answers import TABLE
from transformer_lab.course.lessons.lesson_01 import quiz

LESSON = "01_attention_in_numpy.ipynb"


@pytest.mark.thorough(
    caught_by=[
        "tests/course/test_mutants.py::test_every_solution_of_the_pages_is_right",
        "tests/browser/test_drawings.py::test_a_quiz_answers_and_counts_first_choices",
    ]
)
def test_it_runs_and_answers_the_slider_the_quiz_and_a_wrong_answer(lab, visit):
    code = lab.without_outputs(LESSON)
    visit.open(lab, LESSON)
    visit.run_all(len(code))
    visit.move_slider()
    answer_a_question(visit.page)
    fail_an_exercise(visit, [cell.source for cell in code])
    assert visit.outside == []


def answer_a_question(page):
    """By Tab and Space: the first choice, which is wrong, then the second, which is right.

    The arrows are of no use here: JupyterLab takes them to move from cell to cell.
    """
    question = next(question for question in quiz.questions if question.right == 1)
    box = page.locator(".widget-vbox .widget-vbox").filter(has_text=question.text)
    word = box.locator(".widget-html").last
    expect(word).to_have_text("")
    box.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    expect(word).to_have_text(question.verdict(0))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(word).to_have_text(question.verdict(1))


def fail_an_exercise(visit, sources):
    """Write a mistake that is known over the stub, run it and its check: the hint is that mistake's."""
    name, answer, hint = TABLE[0]
    number = sources.index(f"check.{name}({name})")
    stub, check = visit.cells.nth(number - 1), visit.cells.nth(number)
    expect(check).to_contain_text("Not written yet")
    stub.locator(".cm-content").click()
    visit.page.keyboard.press("Control+a")
    visit.page.keyboard.insert_text(inspect.getsource(answer).replace(answer.__name__, name))
    visit.page.keyboard.press("Shift+Enter")
    visit.page.keyboard.press("Shift+Enter")
    expect(check).to_contain_text(hint)
