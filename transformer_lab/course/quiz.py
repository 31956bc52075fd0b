"""Quizzes: in a notebook to click, in a terminal to read and to answer by letter, on a page folded.

`questions.py` says how the questions are written.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from transformer_lab import progress
from transformer_lab.config import check
from transformer_lab.course.questions import LETTERS, Question
from transformer_lab.progress import Place
from transformer_lab.viz.page import saved
from transformer_lab.viz.page.drawing import fragment


class Quiz:
    """Questions on the page, answered by mouse or keyboard (Tab to a choice, Space to take it).

    The same in words, for a terminal: `ask(1)` prints a question, `answer(1, "b")` its reply.

    Attributes:
        first: For each question answered so far, by number from 0, the first choice.
        places: Where each question is from, so that first choices can be kept; or nothing.
        called: The name by which a reader has it.
        widget: The ipywidget, once it was made.
    """

    called = "quiz"

    def __init__(self, questions: Sequence[Question], places: Sequence[Place] = ()):
        self.questions = tuple(questions)
        self.places = tuple(places)
        self.first: dict[int, int] = {}

    def __repr__(self) -> str:
        return f'A quiz of {len(self.questions)} questions: .show(), .ask(1), .answer(1, "a")'

    def _ipython_display_(self, **_: Any) -> None:
        self.show()

    def show(self) -> None:
        """Show the quiz, with no answer taken: in a terminal as text, in a notebook to click.

        Where no kernel answers the page does; without scripts, answers are folded.
        """
        self.first = {}
        if in_a_terminal():
            self.ask()
        else:
            display(self.bundle(), raw=True)

    # ------------------------------------------------------------ in words

    def ask(self, number: int | None = None) -> None:
        """Print a question, counted from 1, with its choices; without a number all of them.

        Raises:
            ValueError: For a question that there is not.
        """
        asked = range(len(self.questions)) if number is None else [self.place_of(number)]
        for place in asked:
            print(in_words(place + 1, self.questions[place]), end="\n\n")
        example = f'{self.called}.answer({number or 1}, "a")'
        print(f"To answer: {example}, or another letter.")

    def answer(self, number: int, letter: str) -> None:
        """Print the word to a choice, given by its letter; the first choice of a question counts.

        Raises:
            ValueError: For a question or a choice that there is not.
        """
        place = self.place_of(number)
        letters = LETTERS[: len(self.questions[place].choices)]
        there = isinstance(letter, str) and len(letter) == 1 and letter.lower() in letters
        expected = f'a letter from "a" to "{letters[-1]}", as question {number} has them'
        check("the choice", letter, expected, there)
        choice = letters.index(letter.lower())
        kept = self.take(place, choice)
        word = self.questions[place].verdict(choice)
        for line in filter(None, (word, self.score() or self.so_far(), kept)):
            print(line)

    def place_of(self, number: int) -> int:
        """The place, from 0, of the question of this number; a ValueError if there is none."""
        last = len(self.questions)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        there = is_number and 1 <= number <= last
        check("the question", number, f"a number from 1 to {last}", there)
        return number - 1

    # ------------------------------------------------------------ on the page

    def bundle(self) -> dict[str, Any]:
        """The quiz for a notebook: its widget, which is made, and the page where no kernel runs."""
        self.widget = self.made()
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        data: dict[str, Any] = {"application/vnd.jupyter.widget-view+json": view}
        data["text/html"] = self.page()
        data["text/plain"] = f"A quiz of {len(self.questions)} questions."
        return data

    def made(self) -> Any:
        """A new widget."""
        import ipywidgets

        keys = ipywidgets.HTML("By keyboard: Tab to a choice, Space to take it.")
        return ipywidgets.VBox([keys, *self.boxes()])

    def boxes(self) -> list[Any]:
        """A box for each question, and below them room for the score."""
        import ipywidgets

        self.standing = ipywidgets.HTML()
        return [*map(self.box, range(len(self.questions))), self.standing]

    def page(self) -> str:
        """The quiz as HTML that answers by itself."""
        data = [asdict(asked) for asked in self.questions]
        return fragment("quiz", still(data), saved.packed(data))

    def box(self, number: int) -> Any:
        """One question: its text, its choices, and room for the word to the choice."""
        import ipywidgets

        asked = self.questions[number]
        choices = ipywidgets.RadioButtons(
            options=[(text, place) for place, (text, _) in enumerate(asked.choices)],
            value=None,
            layout=ipywidgets.Layout(width="auto"),
        )
        word = ipywidgets.HTML()

        def on_choice(change: dict[str, Any]) -> None:
            kept = self.take(number, change["new"])
            word.value = self.reply(number, change["new"])
            if kept:
                word.value += f"<br><i>{html.escape(kept)}</i>"
            self.standing.value = f"<b>{self.score()}</b>" if self.score() else ""

        choices.observe(on_choice, names="value")
        title = ipywidgets.HTML(f"<b>{number + 1}. {html.escape(asked.text)}</b>")
        return ipywidgets.VBox([title, choices, word])

    def reply(self, number: int, choice: int) -> str:
        """What is shown below a question once a choice is taken, as HTML."""
        word = emphasised(self.questions[number].verdict(choice))
        return f"{word}<br><i>{self.so_far()}</i>" if self.so_far() else word

    # ------------------------------------------------------------ what is counted

    def take(self, number: int, choice: int) -> str:
        """Take a choice of a question, counted from 0: only the first one counts, and is kept.

        Returns what there is to say about keeping it: where that is, or once what hinders it.
        """
        if number in self.first:
            return ""
        self.first[number] = choice
        if not self.places:
            return ""
        right = self.questions[number].right == choice
        return progress.question_answered(self.places[number], right)

    def right(self) -> int:
        """How many were right at the first choice."""
        return sum(self.questions[n].right == choice for n, choice in self.first.items())

    def so_far(self) -> str:
        """What to say below each reply: nothing."""
        return ""

    def score(self) -> str:
        """How many were right at the first choice, once all are answered."""
        if len(self.first) < len(self.questions):
            return ""
        return f"{self.right()} of {len(self.questions)} right at the first choice."


def in_a_terminal() -> bool:
    """Whether this is Python or IPython without a front end that could show a page."""
    shell = get_ipython()
    return shell is None or type(shell).__module__.startswith("IPython.terminal")


def in_words(number: int, question: Question) -> str:
    """A question as text: its number, and its choices with their letters."""
    choices = zip(LETTERS, question.choices, strict=False)
    lines = [f"   {letter}. {text}" for letter, (text, _) in choices]
    return "\n".join([f"{number}. {question.text}", *lines])


def emphasised(verdict: str) -> str:
    """A verdict as HTML, its first word in bold."""
    first, _, rest = verdict.partition(" ")
    return f"<b>{first}</b> {html.escape(rest)}"


def still(data: Sequence[Mapping[str, Any]]) -> str:
    """What stands in the page of these questions where no script runs."""
    questions = "".join(folded(n, Question(**asked)) for n, asked in enumerate(data, 1))
    return "<p>Open the choice that you take: the answer to it is inside.</p>" + questions


def folded(number: int, question: Question) -> str:
    """A question as HTML without a kernel: each choice opens to the word to it, and to no other's."""
    choices = "".join(
        f"<details><summary>{LETTERS[place]}. {html.escape(text)}</summary>"
        f"<blockquote>{emphasised(question.verdict(place))}</blockquote></details>"
        for place, (text, _) in enumerate(question.choices)
    )
    return f"<p><b>{number}. {html.escape(question.text)}</b></p>{choices}<br>"
