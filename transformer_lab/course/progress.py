"""Show a learner's progress in a notebook, and quiz the learner on the questions due today.

Lessons 00 and 17 use it. `transformer_lab.course.diary` records the progress and says where it is
stored.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from random import Random

from transformer_lab.course import diary
from transformer_lab.course.diary import Place
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.quiz import Quiz

MAX_QUESTIONS = 20


def show(day: date | None = None) -> None:
    """Print the learner's progress and the questions due by `day` (default: today)."""
    try:
        print(diary.format_progress(day))
    except (OSError, ValueError) as error:
        print(diary.format_error(error))


def review(day: date | None = None) -> "Review":
    """Return a quiz of at most 20 questions that are due by `day` (default: today).

    A notebook displays the returned quiz. In plain Python, call `due = review()`, then `due.ask()`.
    Questions that no lesson asks any more are removed from the diary.

    Raises:
        ValueError: If the diary is damaged.
    """
    day = day or diary.today()
    found: list[tuple[Place, Question]] = []
    gone: list[tuple[str, str]] = []
    for number, text in diary.due_questions(diary.load_record(), day):
        asked = lesson(number).quiz.questions if number in lesson_numbers() else ()
        same = [question for question in asked if question.text == text]
        found += [(Place(number, text, len(asked)), question) for question in same]
        gone += [(number, text)] * (not same)
    if gone and (line := diary.drop_questions(gone)):
        print(line)
    return Review(found[:MAX_QUESTIONS], Random(day.toordinal()))


class Review(Quiz):
    """A quiz of due questions from several lessons, with each question's choices shuffled."""

    called = "due"

    def __init__(self, found: Sequence[tuple[Place, Question]], random: Random):
        told = [add_lesson_number(place.lesson, question) for place, question in found]
        places = [place for place, _ in found]
        super().__init__([shuffle_choices(question, random) for question in told], places)

    def show(self) -> None:
        """Show the questions, or say that there are none."""
        if self.questions:
            super().show()
        else:
            print("There is nothing to review today.")


def shuffle_choices(question: Question, random: Random) -> Question:
    """Return a copy of the question with its choices in random order."""
    order = random.sample(range(len(question.choices)), len(question.choices))
    choices = tuple(question.choices[place] for place in order)
    return replace(question, choices=choices, right=order.index(question.right))


def add_lesson_number(lesson: str, question: Question) -> Question:
    """Return a copy of the question that says, for example, "lesson 03" instead of "this page".

    The choices and replies are changed in the same way, and each reply ends with the lesson's key.
    """

    def write_lesson(text: str) -> str:
        text = text.replace("On this page", f"In lesson {lesson}")
        text = text.replace("on this page", f"in lesson {lesson}")
        return text.replace("this page", f"lesson {lesson}")

    choices = ((write_lesson(text), write_lesson(word)) for text, word in question.choices)
    told = tuple((text, f"{word} (Lesson {lesson}.)") for text, word in choices)
    return replace(question, text=write_lesson(question.text), choices=told)
