"""`Quiz`: multiple-choice questions to answer in a notebook, in a terminal or on a web page.

Each lesson has one, called `quiz`. `questions.py` describes the format of the questions.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from transformer_lab.config import check, join_with_or
from transformer_lab.course import diary
from transformer_lab.course.diary import Place
from transformer_lab.course.quiz.questions import LETTERS, Question
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.drawing import fragment


class Quiz:
    """Multiple-choice questions, answered by mouse or keyboard.

    On the keyboard, Tab moves to a choice and Space selects it. In a terminal, `ask(1)` prints a
    question and `answer(1, "b")` prints the reply.

    Attributes:
        first: The index of the choice that was made first in each answered question, keyed by the
            question's index.
        places: The place of each question in the diary, or empty if answers are not recorded.
        called: The quiz's variable name in the example that `ask` prints.
        widget: The ipywidget; set by `bundle`.
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
        """Reset the quiz and show it: as text in a terminal, or interactively in a notebook.

        Without a kernel, a script on the page shows the replies. Without scripts, each choice
        expands to show its reply.
        """
        self.first = {}
        if is_in_terminal():
            self.ask()
        else:
            display(self.bundle(), raw=True)

    # ------------------------------------------------------------ in words

    def ask(self, number: int | None = None) -> None:
        """Print all questions with their choices, or only question `number` (counted from 1).

        Raises:
            ValueError: If there is no such question.
        """
        asked = range(len(self.questions)) if number is None else [self.find_index(number)]
        for place in asked:
            print(format_question(place + 1, self.questions[place]), end="\n\n")
        example = f'{self.called}.answer({number or 1}, "a")'
        print(f"To answer: {example}, or another letter.")

    def answer(self, number: int, letter: str) -> None:
        """Print the reply to the choice with this letter; only the first choice is scored.

        Raises:
            ValueError: If there is no such question or choice.
        """
        place = self.find_index(number)
        letters = LETTERS[: len(self.questions[place].choices)]
        there = isinstance(letter, str) and len(letter) == 1 and letter.lower() in letters
        check(f"choice for question {number}", letter, join_with_or(map(repr, letters)), there)
        choice = letters.index(letter.lower())
        kept = self.record_choice(place, choice)
        word = self.questions[place].verdict(choice)
        for line in filter(None, (word, self.score(), kept)):
            print(line)

    def find_index(self, number: int) -> int:
        """Return the index of the question with this number, counted from 1.

        Raises:
            ValueError: If there is no such question.
        """
        last = len(self.questions)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        there = is_number and 1 <= number <= last
        check("question number", number, f"an integer from 1 to {last}", there)
        return number - 1

    # ------------------------------------------------------------ on the page

    def bundle(self) -> dict[str, Any]:
        """Return the notebook's MIME bundle: a new widget, and HTML for a page without a kernel."""
        self.widget = self.build_widget()
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        data: dict[str, Any] = {"application/vnd.jupyter.widget-view+json": view}
        data["text/html"] = self.page()
        data["text/plain"] = f"A quiz of {len(self.questions)} questions."
        return data

    def build_widget(self) -> Any:
        """Build the ipywidget of the quiz: a box for each question, and the score below them."""
        import ipywidgets

        keys = ipywidgets.HTML("By keyboard: Tab to a choice, Space to choose it.")
        boxes = map(self.build_box, range(len(self.questions)))
        self.standing = ipywidgets.HTML()
        return ipywidgets.VBox([keys, *boxes, self.standing])

    def page(self) -> str:
        """Return the quiz as HTML that works without Python: a click on a choice shows its reply."""
        data = [asdict(asked) for asked in self.questions]
        return fragment("quiz", static_html(data), saved.dump_json(data))

    def build_box(self, number: int) -> Any:
        """Build the box for the question with this index: its text, its choices and the reply."""
        import ipywidgets

        asked = self.questions[number]
        choices = ipywidgets.RadioButtons(
            options=[(text, place) for place, (text, _) in enumerate(asked.choices)],
            value=None,
            layout=ipywidgets.Layout(width="auto"),
        )
        word = ipywidgets.HTML()

        def on_choice(change: dict[str, Any]) -> None:
            kept = self.record_choice(number, change["new"])
            word.value = verdict_html(asked.verdict(change["new"]))
            if kept:
                word.value += f"<br><i>{html.escape(kept)}</i>"
            self.standing.value = f"<b>{self.score()}</b>" if self.score() else ""

        choices.observe(on_choice, names="value")
        title = ipywidgets.HTML(f"<b>{number + 1}. {html.escape(asked.text)}</b>")
        return ipywidgets.VBox([title, choices, word])

    # ------------------------------------------------------------ what is counted

    def record_choice(self, number: int, choice: int) -> str:
        """Record a choice for the question with this index; only the first choice counts.

        Returns:
            The message from `diary.update_diary`, or "" if there is none.
        """
        if number in self.first:
            return ""
        self.first[number] = choice
        if not self.places:
            return ""
        right = self.questions[number].right == choice
        return diary.record_answer(self.places[number], right)

    def right(self) -> int:
        """Return how many questions were answered correctly on the first try."""
        return sum(self.questions[n].right == choice for n, choice in self.first.items())

    def score(self) -> str:
        """Return the final score as a sentence, or "" if some questions have not been answered."""
        if len(self.first) < len(self.questions):
            return ""
        return f"{self.right()} of {len(self.questions)} right on the first try."


def is_in_terminal() -> bool:
    """Return whether Python or IPython runs in a terminal, which cannot show HTML."""
    shell = get_ipython()
    return shell is None or type(shell).__module__.startswith("IPython.terminal")


def format_question(number: int, question: Question) -> str:
    """Return a question as plain text, with its number and lettered choices."""
    choices = zip(LETTERS, question.choices, strict=False)
    lines = [f"   {letter}. {text}" for letter, (text, _) in choices]
    return "\n".join([f"{number}. {question.text}", *lines])


def verdict_html(verdict: str) -> str:
    """Return a reply as HTML with its first word in bold."""
    first, _, rest = verdict.partition(" ")
    return f"<b>{first}</b> {html.escape(rest)}"


def static_html(data: Sequence[Mapping[str, Any]]) -> str:
    """Return the quiz's HTML for a page without scripts; `data` has one dictionary per question."""
    questions = "".join(question_html(n, Question(**asked)) for n, asked in enumerate(data, 1))
    return "<p>Open your choice to see the reply.</p>" + questions


def question_html(number: int, question: Question) -> str:
    """Return a question as HTML without scripts; each choice expands to show its reply."""
    choices = "".join(
        f"<details><summary>{LETTERS[place]}. {html.escape(text)}</summary>"
        f"<blockquote>{verdict_html(question.verdict(place))}</blockquote></details>"
        for place, (text, _) in enumerate(question.choices)
    )
    return f"<p><b>{number}. {html.escape(question.text)}</b></p>{choices}<br>"
