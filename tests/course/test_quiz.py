"""Quizzes: one right choice each, a word to every choice, and an answer to every click."""

import re

import pytest

from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz import Question, Quiz, folded, read_questions


@pytest.fixture(params=lesson_numbers())
def quiz(request):
    return lesson(request.param).quiz


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
    questions = [
        question for number in lesson_numbers() for question in lesson(number).quiz.questions
    ]
    lengths = [[len(text) for text, _ in question.choices] for question in questions]
    pairs = list(zip(questions, lengths, strict=True))
    by_chance = sum(1 / len(length) for length in lengths)
    for pick in (max, min):
        takes = [(length[question.right], pick(length), length) for question, length in pairs]
        right = sum(1 / length.count(end) for own, end, length in takes if own == end)
        assert right <= 1.25 * by_chance, pick


WRITTEN = """\
# A title does not count

## 1 < 2?

- [x] yes
  > It is less.
- [ ] no, [x] is
  > Count > again.

## 2 < 1?
- [ ] yes
  > Look.
- [x] no
  > It is more."""


def test_questions_are_read_as_they_are_written():
    first, second = read_questions(WRITTEN, "quiz.md")
    choices = (("yes", "It is less."), ("no, [x] is", "Count > again."))
    assert first == Question("1 < 2?", choices, right=0)
    assert second == Question("2 < 1?", (("yes", "Look."), ("no", "It is more.")), right=1)


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("## 1 < 2?", "1 < 2?", 3, "a question: '## ' and its text"),
        ("- [x] yes", "- yes", 5, "a choice: "),
        ("- [x] yes", "- [X] yes", 5, "a choice: "),
        ("- [x] yes", "- [x]", 5, "a choice: "),
        ("  > Look.\n", "", 12, "the reply to the choice above"),
        ("  > It is more.", "", 14, "the reply to the choice above"),
        ("  > Look.", "> Look.", 12, "the reply to the choice above"),
        ("  > Look.", "  > Look\n  > twice.", 13, "a choice: "),
        ("- [x] yes", "- [ ] yes", 3, "a question with one choice [x]"),
        ("- [ ] yes", "- [x] yes", 10, "a question with one choice [x]"),
        ("- [x] no\n  > It is more.", "", 10, "a question with 2 to 8 choices"),
        (WRITTEN, "", 1, "a question: "),
    ],
)
def test_a_line_that_does_not_fit_is_named(old, new, line, expected):
    assert WRITTEN.count(old) == 1
    with pytest.raises(ValueError, match=re.escape(expected)) as error:
        read_questions(WRITTEN.replace(old, new), "lesson_99/quiz.md")
    assert str(error.value).startswith(f"lesson_99/quiz.md, line {line} is ")


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
