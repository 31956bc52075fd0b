"""Checks and quizzes note what was done, and lessons show it and ask what comes back."""

import errno
import linecache
import os
from datetime import date, timedelta

import pytest

from transformer_lab.course import diary as progress
from transformer_lab.course import progress as shown
from transformer_lab.course.diary import FILE, SWITCH, Place
from transformer_lab.course.judge.check import Check
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.quiz import Quiz

DAY = date(2026, 10, 24)
DOUBLE = Check(
    reference=lambda x: 2 * x,
    cases=lambda: [(3,), (5,)],
    mistakes=(),
    verified="twice the number",
    place=Place("03", "double", 5),
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a lesson in it, in which a learner works; nothing is announced any more."""
    (tmp_path / "03_lesson.ipynb").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH)
    monkeypatch.setattr(progress, "SAID", set())
    monkeypatch.setattr(progress, "today", lambda: DAY)
    return tmp_path


# ---------------------------------------------------------------- noted


def test_a_check_that_is_passed_is_kept_and_one_that_is_not_is_not(folder, capsys):
    DOUBLE(lambda x: 3 * x)
    assert not (folder / FILE).exists()
    DOUBLE(lambda x: x + x)
    assert capsys.readouterr().out.endswith("Right: twice the number (2 cases).\n" + announced())
    assert progress.load_record()["03"].exercises == {"double": DAY}


def test_the_first_click_says_where_answers_are_kept():
    quiz = lesson("06").quiz
    quiz.bundle()
    first, second = (quiz.widget.children[place].children for place in (1, 2))
    first[1].value = second[1].value = 0
    assert first[2].value.endswith(f"<br><i>{announced()[:-1]}</i>")
    assert "<i>" not in second[2].value
    quiz.first = {}


def announced():
    return (
        "(Your progress is stored in .progress.json next to the notebooks and never sent anywhere. "
        "To see it, run `progress.show()` in lesson 00.)\n"
    )


def defined_in(cell, name):
    """A function as a notebook's cell defines it, whose lines are kept by the file's name."""
    file = f"ipykernel/{abs(hash(cell))}.py"
    linecache.cache[file] = (len(cell), None, cell.splitlines(True), file)
    space = {}
    exec(compile(cell, file, "exec"), space)
    return space[name]


SOLUTION = """\
### BEGIN SOLUTION
def double(x):
    return x + x

class Double:
    def __call__(self, x):
        return x + x
### END SOLUTION"""


def test_the_pages_own_solution_passes_and_is_not_kept(folder, capsys):
    DOUBLE(defined_in(SOLUTION, "double"))
    assert "Right" in capsys.readouterr().out
    assert not (folder / FILE).exists()
    DOUBLE(defined_in(SOLUTION.replace("###", "#"), "double"))
    assert progress.load_record()["03"].exercises == {"double": DAY}


class Twice:
    def __call__(self, x):
        return 2 * x


def test_a_class_of_the_pages_own_solution_is_not_kept(folder, capsys):
    by_class = Check(
        reference=Twice,
        cases=DOUBLE.cases,
        mistakes=(),
        verified="twice",
        run=lambda answer, x: answer()(x),
        place=DOUBLE.place,
    )
    by_class(defined_in(SOLUTION, "Double"))
    assert capsys.readouterr().out.startswith("Right: twice")
    assert not (folder / FILE).exists()
    by_class(defined_in(SOLUTION.replace("###", "#"), "Double"))
    assert progress.load_record()["03"].exercises == {"double": DAY}


def test_where_nothing_can_be_kept_a_check_still_passes(capsys, monkeypatch):
    def refuse(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("transformer_lab.course.diary.write_atomically", refuse)
    DOUBLE(lambda x: x + x)
    right, warning = capsys.readouterr().out.splitlines()
    assert right == "Right: twice the number (2 cases)."
    assert warning.endswith(f"{FILE}: No space left on device)")


@pytest.mark.parametrize("number", lesson_numbers())
def test_each_check_and_each_question_knows_its_place(number):
    checks, quiz = vars(lesson(number).check), lesson(number).quiz
    assert [check.place for check in checks.values()] == [
        Place(number, name, len(checks)) for name in checks
    ]
    texts = [question.text for question in quiz.questions]
    assert list(quiz.places) == [Place(number, text, len(texts)) for text in texts]
    assert len(set(texts)) == len(texts), "a question is known by its text"


def test_first_choices_are_kept_by_letter_and_by_click():
    quiz = lesson("06").quiz
    quiz.bundle()
    quiz.first = {}
    texts = [question.text for question in quiz.questions]
    rights = [question.right for question in quiz.questions]
    quiz.answer(1, "abc"[(rights[0] + 1) % 3])
    quiz.answer(1, "abc"[rights[0]])
    choices = quiz.widget.children[2].children[1]
    choices.value = rights[1]
    choices.value = (rights[1] + 1) % 3
    kept = progress.load_record()["06"]
    assert {text: one.right for text, one in kept.questions.items()} == {
        texts[0]: False,
        texts[1]: True,
    }
    assert kept.questions_of == len(texts)


def test_a_quiz_of_ones_own_is_not_kept(folder):
    Quiz([Question("1 < 2?", (("yes", "It is."), ("no", "Count.")), 0)]).answer(1, "a")
    assert not (folder / FILE).exists()


# ---------------------------------------------------------------- shown


def test_with_nothing_kept_or_nothing_to_be_read_the_same_line_is_shown(
    folder, capsys, monkeypatch
):
    shown.show()
    first = capsys.readouterr().out
    DOUBLE(lambda x: x + x)
    capsys.readouterr()
    shown.show()
    assert "1 of 5" in capsys.readouterr().out
    monkeypatch.setenv(SWITCH, "off")
    shown.show()
    assert capsys.readouterr().out == first == progress.NOTHING + "\n"


def test_a_damaged_file_is_shown_as_one_line(folder, capsys):
    (folder / FILE).write_text("{")
    shown.show()
    said = capsys.readouterr().out
    assert said.startswith(f"{folder / FILE} is damaged, or is not a record of this course, so ")
    assert said.count("\n") == 1


def test_what_comes_back_is_asked_and_moves_on(capsys):
    quiz = lesson("06").quiz
    for place in quiz.places[:3]:
        progress.record_answer(place, True, DAY)
    progress.record_answer(Place("12", "Gone?", 6), True, DAY)
    progress.record_answer(Place("77", "Gone too?", 6), True, DAY)
    assert shown.review(DAY).questions == ()
    due = shown.review(DAY + timedelta(1))
    assert len(due.questions) == 3
    assert list(due.places) == list(quiz.places[:3])
    assert "Gone" not in progress.format_progress(DAY + timedelta(1)), "no lesson asks it any more"
    capsys.readouterr()
    due._ipython_display_()
    text = capsys.readouterr().out
    assert text.startswith(f"1. {quiz.questions[0].text}\n   a. ")
    assert 'due.answer(1, "a")' in text


def test_an_answer_in_the_review_counts_for_its_lesson(monkeypatch):
    quiz = lesson("06").quiz
    for place in quiz.places[:2]:
        progress.record_answer(place, True, DAY)
    tomorrow = DAY + timedelta(1)
    monkeypatch.setattr(progress, "today", lambda: tomorrow)
    due = shown.review()
    first, second = due.questions
    due.answer(1, "abcdefgh"[first.right])
    due.answer(2, "abcdefgh"[(second.right + 1) % len(second.choices)])
    standings = progress.load_record()["06"].questions
    assert [standings[place.name].due for place in due.places] == [
        tomorrow + timedelta(3),
        tomorrow + timedelta(1),
    ]


def test_a_review_has_no_more_than_twenty_and_says_when_there_is_none(capsys):
    every = [place for number in lesson_numbers() for place in lesson(number).quiz.places]
    for place in every[:23]:
        progress.record_answer(place, False, DAY)
    due = shown.review(DAY + timedelta(2))
    assert [place.name for place in due.places] == [place.name for place in every[:20]]
    capsys.readouterr()
    shown.review(DAY).show()
    assert capsys.readouterr().out == "There is nothing to review today.\n"
