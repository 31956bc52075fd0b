"""What lessons show of a learner's progress: what is done, and the questions that come back today.

Checks and quizzes note it in `transformer_lab.progress`, which says where it is kept.
"""

from collections.abc import Sequence
from datetime import date
from random import Random

from transformer_lab import progress
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.questions import Question
from transformer_lab.course.quiz import Quiz
from transformer_lab.course.review import shuffled, tells_lesson
from transformer_lab.progress import Place

AT_ONCE = 20


def show(day: date | None = None) -> None:
    """Print what is done and what is to be repeated, today if no day is given."""
    try:
        print(progress.told(day))
    except (OSError, ValueError) as error:
        print(progress.in_one_line(error))


def review(day: date | None = None) -> "Review":
    """The questions that come back by this day, or today, as a quiz; at most 20 at once.

    In a notebook it shows itself. In plain Python, `due = review()`, then `due.ask()`. A question
    that no lesson has any more is dropped from what is kept.

    Raises:
        ValueError: If what is kept is damaged, or was not written by this.
    """
    day = day or progress.today()
    found: list[tuple[Place, Question]] = []
    gone: list[tuple[str, str]] = []
    for number, text in progress.due(progress.kept(), day):
        asked = lesson(number).quiz.questions if number in lesson_numbers() else ()
        same = [question for question in asked if question.text == text]
        found += [(Place(number, text, len(asked)), question) for question in same]
        gone += [(number, text)] * (not same)
    if gone and (line := progress.drop_questions(gone)):
        print(line)
    return Review(found[:AT_ONCE], Random(day.toordinal()))


class Review(Quiz):
    """Questions of several lessons that come back today, each with its choices in another order."""

    called = "due"

    def __init__(self, found: Sequence[tuple[Place, Question]], random: Random):
        told = [tells_lesson(place.lesson, question) for place, question in found]
        places = [place for place, _ in found]
        super().__init__([shuffled(question, random) for question in told], places)

    def show(self) -> None:
        """Show the questions, if there is one."""
        if self.questions:
            super().show()
        else:
            print("Nothing is to be repeated today.")
