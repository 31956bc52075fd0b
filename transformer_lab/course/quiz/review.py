"""The review in lesson 17: a mixed quiz, the glossary, the reading list, and a translation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from random import Random
from typing import Any

import torch
from torch import Tensor

from transformer_lab import course
from transformer_lab.config import check
from transformer_lab.course.diary import Place
from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.quiz import Quiz
from transformer_lab.data.batching import BOS_ID, EOS_ID
from transformer_lab.model import Transformer
from transformer_lab.translator import Translator

REVIEW = "17"


def lesson_questions() -> dict[str, tuple[Question, ...]]:
    """Return the questions of each lesson's quiz, by the lesson's key, leaving out lesson 17."""
    return {n: lesson(n).quiz.questions for n in lesson_numbers() if n != REVIEW}


class MixedQuiz(Quiz):
    """A quiz with questions from several lessons; each reply names the lesson and the score so far.

    Attributes:
        lessons: The lesson of each question drawn.
        draw: The seed of the draw.
    """

    called = "mixed"

    def __init__(
        self, by_lesson: Mapping[str, Sequence[Question]], number: int = 30, draw: int = 1
    ):
        self.pool = [
            (lesson, question) for lesson, asked in by_lesson.items() for question in asked
        ]
        expected = f"a number from 1 to {len(self.pool)}, the questions there are"
        check("number", number, expected, 1 <= number <= len(self.pool))
        self.number = number
        self.start(draw)

    def start(self, draw: int) -> None:
        """Draw the questions with this seed, and clear all answers."""
        random = Random(draw)
        drawn = random.sample(self.pool, self.number)
        self.lessons = tuple(lesson for lesson, _ in drawn)
        questions = [add_lesson_number(lesson, question) for lesson, question in drawn]
        of = Counter(lesson for lesson, _ in self.pool)
        places = [Place(lesson, question.text, of[lesson]) for lesson, question in drawn]
        super().__init__([shuffle_choices(question, random) for question in questions], places)
        self.draw = draw

    def so_far(self) -> str:
        """Return the score so far as a sentence: how many were right, and how many are left."""
        left = self.number - len(self.first)
        return f"{self.right()} of {len(self.first)} right at the first choice, {left} to go."

    def build_widget(self) -> Any:
        """Build the ipywidget: a field for the seed, with the questions below it."""
        import ipywidgets

        draw = ipywidgets.BoundedIntText(value=self.draw, min=0, max=10_000, description="Draw:")
        below = ipywidgets.VBox()

        def deal(_: Any = None) -> None:
            self.start(draw.value)
            below.children = self.build_boxes()

        deal()
        draw.observe(deal, names="value")
        keys = ipywidgets.HTML(
            "Another number draws other questions. By keyboard: Tab to a choice, Space to take it."
        )
        return ipywidgets.VBox([draw, keys, below])


def shuffle_choices(question: Question, random: Random) -> Question:
    """Return a copy of the question with its choices in random order."""
    order = random.sample(range(len(question.choices)), len(question.choices))
    choices = tuple(question.choices[place] for place in order)
    return replace(question, choices=choices, right=order.index(question.right))


def add_lesson_number(lesson: str, question: Question) -> Question:
    """Return a copy of the question that names its lesson instead of "this page", in each reply too."""

    def write_lesson(text: str) -> str:
        text = text.replace("On this page", f"In lesson {lesson}")
        text = text.replace("on this page", f"in lesson {lesson}")
        return text.replace("this page", f"lesson {lesson}")

    choices = ((write_lesson(text), write_lesson(word)) for text, word in question.choices)
    told = tuple((text, f"{word} (Lesson {lesson}.)") for text, word in choices)
    return replace(question, text=write_lesson(question.text), choices=told)


def glossary() -> str:
    """Return the glossary as a table in Markdown: term, meaning, French, German, lesson."""
    return files(course).joinpath("glossary.md").read_text(encoding="utf-8")


def further_reading() -> str:
    """Return the reading list in Markdown, with a line on what each work is good for."""
    return files(course).joinpath("further_reading.md").read_text(encoding="utf-8")


Forward = Callable[[Transformer, Tensor, Tensor], Tensor]
GreedyWords = Callable[[Callable[[list[int]], Tensor], int, int, int], list[int]]


def translate_with(
    forward: Forward, greedy_words: GreedyWords, sentence: str = "the street was too wide"
) -> None:
    """Print the translation of a sentence by the package's translator, made with a learner's functions.

    The functions come from lessons 07 and 10: `forward(model, source, target)` returns logits
    (batch, target, vocabulary), and `greedy_words(next_logits, bos, eos, limit)` returns a list of
    ids.
    """
    translator = Translator.load(device="cpu")
    source = torch.tensor([translator.encode(sentence)])

    def next_logits(ids: list[int]) -> Tensor:
        with torch.inference_mode():
            return forward(translator.model, source, torch.tensor([ids]))[0, -1]

    try:
        ids = greedy_words(next_logits, BOS_ID, EOS_ID, 40)
    except NotImplementedError:
        print("Not written yet: forward and greedy_words are needed.")
        return
    print(translator.target_tokenizer.decode(ids))
