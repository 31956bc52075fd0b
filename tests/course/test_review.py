"""What the review draws from the course: its quizzes, and what a reader wrote."""

import re

import pytest

from transformer_lab.course.lessons import lesson_numbers
from transformer_lab.course.lessons.lesson_07 import check as check_07
from transformer_lab.course.lessons.lesson_10 import check as check_10
from transformer_lab.course.quiz import review
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.review import MixedQuiz, lesson_questions, translate_with


def asked(text):
    return Question(text, (("yes", "It is."), ("no", "It is <not>.")), right=0)


POOL = {"01": [asked("a"), asked("b"), asked("c")], "02": [asked("d"), asked("e")]}

# ---------------------------------------------------------------- the mixed quiz


def test_a_draw_is_the_same_each_time_and_other_draws_differ():
    texts = [[q.text for q in MixedQuiz(POOL, 3, draw).questions] for draw in range(20)]
    assert texts == [[q.text for q in MixedQuiz(POOL, 3, draw).questions] for draw in range(20)]
    assert len(set(map(tuple, texts))) > 5
    assert {text for drawn in texts for text in drawn} == set("abcde")
    assert all(len(set(drawn)) == 3 for drawn in texts)


def test_no_place_is_a_good_guess_and_the_right_choice_stays_right():
    by_lesson = lesson_questions()
    number = sum(map(len, by_lesson.values()))
    quiz = MixedQuiz(by_lesson, number)
    for place in range(3):
        assert sum(q.right == place for q in quiz.questions) < number / 2
    known = {q.text: q.choices[q.right][0] for q in MixedQuiz(by_lesson, number, 2).questions}
    assert known == {q.text: q.choices[q.right][0] for q in quiz.questions}


def test_the_word_to_a_choice_names_the_lesson():
    quiz = MixedQuiz(POOL, 5)
    for lesson, question in zip(quiz.lessons, quiz.questions, strict=True):
        assert (lesson == "01") == (question.text in "abc")
        assert all(word.endswith(f" (Lesson {lesson}.)") for _, word in question.choices)


def test_the_score_stands_beside_each_answer_and_a_new_draw_begins_anew():
    quiz = MixedQuiz(POOL, 3)
    quiz.bundle()
    draw, _, below = quiz.widget.children
    (_, choices, word), (_, other, second), _ = (box.children for box in below.children[:3])
    right = [question.right for question in quiz.questions]
    choices.value = right[0]
    assert "1 of 1 right at the first choice, 2 to go." in word.value
    other.value = 1 - right[1]
    assert "1 of 2 right at the first choice, 1 to go." in second.value
    assert "It is &lt;not&gt;. (Lesson" in second.value
    before = [question.text for question in quiz.questions]
    draw.value = next(
        n for n in range(99) if [q.text for q in MixedQuiz(POOL, 3, n).questions] != before
    )
    assert [question.text for question in quiz.questions] != before
    assert quiz.first == {}
    for box, question in zip(below.children[:3], quiz.questions, strict=True):
        box.children[1].value = question.right
    assert below.children[3].value == "<b>3 of 3 right at the first choice.</b>"


def test_in_words_the_score_stands_below_each_answer(capsys):
    quiz = MixedQuiz(POOL, 3)
    quiz.ask(2)
    assert 'mixed.answer(2, "a")' in capsys.readouterr().out
    for number, question in enumerate(quiz.questions, 1):
        quiz.answer(number, "ab"[question.right])
    first, second, third = re.findall(
        r"Right\. It is\. \(Lesson 0\d\.\)\n(.*)\n", capsys.readouterr().out
    )
    assert first == "1 of 1 right at the first choice, 2 to go."
    assert second == "2 of 2 right at the first choice, 1 to go."
    assert third == "3 of 3 right at the first choice."


@pytest.mark.parametrize("number", [0, 6])
def test_a_number_that_cannot_be_drawn_is_refused(number):
    with pytest.raises(ValueError, match=f"number is {number}; expected a number from 1 to 5"):
        MixedQuiz(POOL, number)


def test_the_course_has_enough_questions_of_every_lesson_but_this():
    by_lesson = lesson_questions()
    assert set(by_lesson) == set(lesson_numbers()) - {review.REVIEW}
    assert sum(map(len, by_lesson.values())) > 60


def test_no_question_of_the_draw_speaks_of_its_own_page():
    by_lesson = lesson_questions()
    quiz = MixedQuiz(by_lesson, sum(map(len, by_lesson.values())))
    for question in quiz.questions:
        words = [question.text, *(part for choice in question.choices for part in choice)]
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
        assert capsys.readouterr().out.startswith("Not written yet")
