"""Quick checks: questions with choices, and a word to each choice."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from IPython.display import display


@dataclass(frozen=True)
class Question:
    """A question and its choices, each with the word that whoever takes it gets to read.

    `right` is the place of the right choice, counted from 0.
    """

    text: str
    choices: tuple[tuple[str, str], ...]
    right: int

    def verdict(self, choice: int) -> str:
        """What to say to a choice."""
        opening = "Right." if choice == self.right else "No."
        return f"{opening} {self.choices[choice][1]}"


class Quiz:
    """Questions on the page, answered by mouse or keyboard (Tab to a choice, Space to take it).

    Attributes:
        first: For each question answered so far, by number, the first choice.
        widget: The ipywidget.
    """

    def __init__(self, questions: Sequence[Question]):
        self.questions = tuple(questions)
        self.first: dict[int, int] = {}

    def show(self) -> None:
        """Show the quiz. Where no kernel answers, the questions are seen with folded answers."""
        import ipywidgets

        self.first = {}
        self.standing = ipywidgets.HTML()
        boxes = [self.box(number) for number in range(len(self.questions))]
        keys = ipywidgets.HTML("By keyboard: Tab to a choice, Space to take it.")
        self.widget = ipywidgets.VBox([keys, *boxes, self.standing])
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        data: dict[str, Any] = {"application/vnd.jupyter.widget-view+json": view}
        data["text/html"] = "".join(map(folded, range(1, len(boxes) + 1), self.questions))
        data["text/plain"] = f"A quiz of {len(boxes)} questions."
        display(data, raw=True)

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
            self.first.setdefault(number, change["new"])
            word.value = self.reply(number, change["new"])
            self.standing.value = self.score()

        choices.observe(on_choice, names="value")
        title = ipywidgets.HTML(f"<b>{number + 1}. {html.escape(asked.text)}</b>")
        return ipywidgets.VBox([title, choices, word])

    def reply(self, number: int, choice: int) -> str:
        """What is shown below a question once a choice is taken, as HTML."""
        return emphasised(self.questions[number].verdict(choice))

    def score(self) -> str:
        """How many were right at the first choice, once all are answered."""
        if len(self.first) < len(self.questions):
            return ""
        right = sum(self.questions[number].right == choice for number, choice in self.first.items())
        return f"<b>{right} of {len(self.questions)} right at the first choice.</b>"


def emphasised(verdict: str) -> str:
    """A verdict as HTML, its first word in bold."""
    first, _, rest = verdict.partition(" ")
    return f"<b>{first}</b> {html.escape(rest)}"


def folded(number: int, question: Question) -> str:
    """A question as HTML without a kernel: the choices, and the answers folded."""
    letters = "abcdefgh"  # written out: front ends drop the attribute that would letter a list
    choices, answers = [], []
    for place, (text, _) in enumerate(question.choices):
        choices.append(f"{letters[place]}. {html.escape(text)}")
        answers.append(f"{letters[place]}. {emphasised(question.verdict(place))}")
    return (
        f"<p><b>{number}. {html.escape(question.text)}</b><br>{'<br>'.join(choices)}</p>"
        f"<details><summary>Answers</summary><p>{'<br>'.join(answers)}</p></details><br>"
    )
