"""Quizzes: one right choice each, a word to every choice, and an answer to every click."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from tests.thorough import thorough_from
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz import quiz as quiz_module
from transformer_lab.course.quiz.questions import Question, read_questions
from transformer_lab.course.quiz.quiz import Quiz, question_html


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
        ("## 1 < 2?", "1 < 2?", 3, "a question that begins with '## '"),
        ("- [x] yes", "- yes", 5, "a choice that begins with '- [ ] ', or with '- [x] '"),
        ("- [x] yes", "- [X] yes", 5, "a choice that begins with '- [ ] ', or with '- [x] '"),
        ("- [x] yes", "- [x]", 5, "a choice that begins with '- [ ] ', or with '- [x] '"),
        ("  > Look.\n", "", 12, "a reply that begins with '  > '"),
        ("  > It is more.", "", 14, "a reply that begins with '  > '"),
        ("  > Look.", "> Look.", 12, "a reply that begins with '  > '"),
        (
            "  > Look.",
            "  > Look\n  > twice.",
            13,
            "a choice that begins with '- [ ] ', or with '- [x] '",
        ),
        ("- [x] yes", "- [ ] yes", 3, "a question with exactly one choice marked [x]"),
        ("- [ ] yes", "- [x] yes", 10, "a question with exactly one choice marked [x]"),
        ("- [x] no\n  > It is more.", "", 10, "a question with 2 to 8 choices"),
        (WRITTEN, "", 1, "a question that begins with '## '"),
    ],
)
def test_a_line_that_does_not_fit_is_named(old, new, line, expected):
    assert WRITTEN.count(old) == 1
    with pytest.raises(ValueError, match=re.escape(expected)) as error:
        read_questions(WRITTEN.replace(old, new), "lesson_99/quiz.md")
    assert str(error.value).startswith(f"line {line} of lesson_99/quiz.md is ")


SMALL = Quiz(
    [
        Question("1 < 2?", (("yes", "It is less."), ("no", "Count again.")), right=0),
        Question("2 < 1?", (("yes", "Look <again>."), ("no", "It is more.")), right=1),
    ]
)


@pytest.fixture
def small():
    return Quiz(SMALL.questions)


def test_a_choice_is_answered_and_the_first_one_counts(small):
    small.bundle()
    keys, *boxes, standing = small.widget.children
    assert "Tab" in keys.value
    first, second = (box.children for box in boxes)
    assert standing.value == ""
    first[1].value = 0
    assert first[2].value == "<b>Right.</b> It is less."
    second[1].value = 0
    assert second[2].value == "<b>No.</b> Look &lt;again&gt;."
    assert standing.value == "<b>1 of 2 right on the first try.</b>"
    second[1].value = 1
    assert second[2].value == "<b>Right.</b> It is more."
    assert standing.value == "<b>1 of 2 right on the first try.</b>"


# ---------------------------------------------------------------- in words

ASKED = """\
1. 1 < 2?
   a. yes
   b. no

2. 2 < 1?
   a. yes
   b. no

To answer: quiz.answer(1, "a"), or another letter.
"""


def test_in_plain_python_the_quiz_is_printed_with_how_to_answer(small, capsys):
    small.first = {0: 1}
    small.show()
    assert capsys.readouterr().out == ASKED
    assert small.first == {}
    small.ask()
    assert capsys.readouterr().out == ASKED
    small.ask(2)
    asked, how = capsys.readouterr().out.split("\n\n")
    assert asked == "2. 2 < 1?\n   a. yes\n   b. no"
    assert how == 'To answer: quiz.answer(2, "a"), or another letter.\n'


def test_in_words_the_first_choice_counts_too(small, capsys):
    small.answer(2, "a")
    assert capsys.readouterr().out == "No. Look <again>.\n"
    small.answer(2, "B")
    assert capsys.readouterr().out == "Right. It is more.\n"
    small.answer(1, "a")
    assert capsys.readouterr().out == "Right. It is less.\n1 of 2 right on the first try.\n"
    assert small.first == {0: 0, 1: 0}


def test_a_wrong_choice_does_not_hear_which_is_right(quiz, capsys):
    for number, question in enumerate(quiz.questions, 1):
        for letter, (_, word) in zip("abcde", question.choices, strict=False):
            Quiz(quiz.questions).answer(number, letter)
            opening = "Right." if letter == "abcde"[question.right] else "No."
            assert capsys.readouterr().out == f"{opening} {word}\n"


@pytest.mark.parametrize("number", [0, 3, 99, -1, True, "1", 1.0, [1]])
def test_a_question_that_there_is_not_is_refused(small, number):
    expected = re.escape(f"question number is {number!r}; expected an integer from 1 to 2")
    for asks in (lambda: small.ask(number), lambda: small.answer(number, "a")):
        with pytest.raises(ValueError, match=f"^{expected}$"):
            asks()
    assert small.first == {}


@pytest.mark.parametrize("letter", ["z", "c", "", "ab", " a", 1, None, ["a"], "1"])
def test_a_choice_that_there_is_not_is_refused(small, letter):
    said = f"choice for question 2 is {letter!r}; expected 'a' or 'b'"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        small.answer(2, letter)
    assert small.first == {}


def test_ipython_in_a_terminal_prints_and_a_notebook_shows(small, capsys, monkeypatch):
    class Shell:
        """Where its class is defined tells one from the other."""

    monkeypatch.setattr(quiz_module, "get_ipython", Shell)
    shown = []
    monkeypatch.setattr(quiz_module, "display", lambda data, raw: shown.append(data))
    Shell.__module__ = "IPython.terminal.interactiveshell"
    small.show()
    assert capsys.readouterr().out == ASKED
    for module in ("ipykernel.zmqshell", "google.colab._shell", "pyodide_kernel.interpreter"):
        Shell.__module__ = module
        small.show()
    assert capsys.readouterr().out == ""
    assert [data["text/html"] for data in shown] == [small.page()] * 3


@pytest.mark.parametrize(
    "start",
    thorough_from(
        1,
        [
            "-c",
            "-m IPython --no-banner --colors=NoColor --no-term-title -c",
        ],
    ),
)
def test_plain_python_and_ipython_print_it_as_a_reader_types_it(start):
    lines = "from transformer_lab.course.lessons.lesson_06 import quiz; quiz.show(); quiz.answer(1, 'b')"
    command = [sys.executable, *start.split(), lines]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert text.startswith("1. Why is decoder self-attention masked?\n   a. to save time")
    assert '\n\nTo answer: quiz.answer(1, "a"), or another letter.\nRight. In ' in text
    assert "<" not in text


# ---------------------------------------------------------------- folded


class Folds(HTMLParser):
    """What stands in sight on a page without scripts, and what behind each fold."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.sight, self.folds = "", "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        assert attributes == [], "front ends drop them"
        if tag == "details":
            assert self.inside == "", "no fold within a fold"
            self.inside = "details"
            self.folds.append(("", ""))
        if tag == "summary":
            self.inside = "summary"

    def handle_endtag(self, tag):
        if tag in ("details", "summary"):
            self.inside = {"summary": "details", "details": ""}[tag]

    def handle_data(self, data):
        if not self.inside:
            self.sight += data
            return
        summary, word = self.folds[-1]
        is_summary = self.inside == "summary"
        self.folds[-1] = (summary + data, word) if is_summary else (summary, word + data)


def test_without_a_kernel_each_choice_folds_its_own_word(quiz):
    for number, question in enumerate(quiz.questions, 1):
        page = Folds(question_html(number, question))
        assert page.sight == f"{number}. {question.text}"
        assert page.folds == [
            (f"{letter}. {text}", question.verdict(place))
            for place, (letter, (text, _)) in enumerate(
                zip("abcde", question.choices, strict=False)
            )
        ]


def test_what_is_folded_is_text():
    text = question_html(2, SMALL.questions[1])
    assert "2 &lt; 1?" in text
    assert "<b>No.</b> Look &lt;again&gt;." in text


def test_the_page_holds_all_questions_in_their_order(small):
    before, rest = small.page().split('">', 1)
    page = Folds(rest.split("</div>\n<style>")[0])
    assert before.startswith("<div data-quiz=")
    assert page.sight == "Open your choice to see the reply.1. 1 < 2?2. 2 < 1?"
    assert [summary for summary, _ in page.folds] == ["a. yes", "b. no"] * 2
