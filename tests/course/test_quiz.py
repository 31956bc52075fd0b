"""Quizzes: one right choice each, a word to every choice, and an answer to every click."""

import importlib
import pkgutil

import pytest

from transformer_lab import course
from transformer_lab.course.quiz import Question, Quiz, folded

LESSONS = [m.name for m in pkgutil.iter_modules(course.__path__) if m.name.startswith("lesson_")]


@pytest.fixture(params=LESSONS)
def quiz(request):
    return importlib.import_module(f"transformer_lab.course.{request.param}").quiz


def test_four_to_eight_questions_with_a_word_to_every_choice(quiz):
    assert 4 <= len(quiz.questions) <= 8
    for question in quiz.questions:
        assert 2 <= len(question.choices) <= 5
        assert 0 <= question.right < len(question.choices)
        texts = [text for text, _ in question.choices]
        replies = [word for _, word in question.choices]
        assert len(set(texts)) == len(texts)
        assert len(set(replies)) == len(replies)
        assert all(replies)


def test_the_right_choice_does_not_always_stand_at_one_place(quiz):
    assert len({question.right for question in quiz.questions}) >= 2


def test_the_length_of_a_choice_is_no_way_to_pass():
    """Whoever takes the longest, or the shortest, is hardly more often right than whoever takes any."""
    quizzes = [importlib.import_module(f"transformer_lab.course.{name}").quiz for name in LESSONS]
    questions = [question for quiz in quizzes for question in quiz.questions]
    lengths = [[len(text) for text, _ in question.choices] for question in questions]
    pairs = list(zip(questions, lengths, strict=True))
    by_chance = sum(1 / len(length) for length in lengths)
    for pick in (max, min):
        takes = [(length[question.right], pick(length), length) for question, length in pairs]
        right = sum(1 / length.count(end) for own, end, length in takes if own == end)
        assert right <= 1.25 * by_chance, pick


SMALL = Quiz(
    [
        Question("1 < 2?", (("yes", "It is less."), ("no", "Count again.")), right=0),
        Question("2 < 1?", (("yes", "Look <again>."), ("no", "It is more.")), right=1),
    ]
)


def test_a_choice_is_answered_and_the_first_one_counts(capsys):
    SMALL.show()
    keys, *boxes, standing = SMALL.widget.children
    assert "Tab" in keys.value
    first, second = (box.children for box in boxes)
    assert standing.value == ""
    first[1].value = 0
    assert first[2].value == "<b>Right.</b> It is less."
    second[1].value = 0
    assert second[2].value == "<b>No.</b> Look &lt;again&gt;."
    assert standing.value == "<b>1 of 2 right at the first choice.</b>"
    second[1].value = 1
    assert second[2].value == "<b>Right.</b> It is more."
    assert standing.value == "<b>1 of 2 right at the first choice.</b>"


def test_without_a_kernel_the_questions_are_there_and_the_answers_folded():
    text = folded(2, SMALL.questions[1])
    before, _, after = text.partition("<details>")
    assert "2 &lt; 1?" in before
    assert "It is more" not in before
    assert "<b>Right.</b> It is more." in after
