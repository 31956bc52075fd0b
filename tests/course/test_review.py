"""What the review asks again, and what a reader wrote."""

from random import Random

import pytest

from transformer_lab.course.diary import Place
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.lessons.lesson_07 import check as check_07
from transformer_lab.course.lessons.lesson_10 import check as check_10
from transformer_lab.course.progress import Review
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.review import translate_with

ASKED = Question("a", (("yes", "It is."), ("no", "It is <not>.")), right=0)

# ---------------------------------------------------------------- questions that are asked again


def ask_again(number, question):
    return Review([(Place(number, question.text, 1), question)], Random(0))


def test_the_word_to_a_choice_names_the_lesson_and_the_right_choice_stays_right():
    for seed in range(9):
        (question,) = Review([(Place("02", "a", 1), ASKED)], Random(seed)).questions
        assert question.choices[question.right] == ("yes", "It is. (Lesson 02.)")
        assert sorted(word for _, word in question.choices) == [
            "It is <not>. (Lesson 02.)",
            "It is. (Lesson 02.)",
        ]


def test_the_choices_are_shuffled():
    asked = [Review([(Place("02", "a", 1), ASKED)], Random(seed)).questions[0] for seed in range(9)]
    assert {question.right for question in asked} == {0, 1}


@pytest.mark.parametrize("number", lesson_numbers())
def test_no_question_that_comes_back_speaks_of_its_own_page(number):
    for question in lesson(number).quiz.questions:
        (again,) = ask_again(number, question).questions
        words = [again.text, *(part for choice in again.choices for part in choice)]
        assert "this page" not in " ".join(words)


# ---------------------------------------------------------------- what a reader wrote translates


def test_right_answers_translate_and_a_stub_says_so(capsys):
    def stub(*arguments):
        raise NotImplementedError

    greedy_words = check_10.greedy_words.reference
    translate_with(check_07.forward.reference, greedy_words)
    assert capsys.readouterr().out == "la rue était trop large\n"
    for forward, words in ((stub, greedy_words), (check_07.forward.reference, stub)):
        translate_with(forward, words)
        assert capsys.readouterr().out.startswith("Not written yet. First write forward")
