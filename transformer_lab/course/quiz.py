"""Quick checks: questions with choices, and a word to each choice.

They are written in Markdown, one line each, in a lesson's `quiz.md`:

    ## What sums to 1?

    - [x] each row
      > Each query divides one whole among the keys.
    - [ ] each column
      > A key may be looked at by all queries, or by none.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from IPython.display import display

from transformer_lab.config import check
from transformer_lab.viz.page import saved
from transformer_lab.viz.page.drawing import fragment

CHOICE = re.compile(r"- \[([ x])\] (.*\S)")
REPLY = re.compile(r"  > (.*\S)")
LETTERS = "abcdefgh"  # written out: front ends drop the attribute that would letter a list


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


def read_questions(text: str, file: str) -> list[Question]:
    """The questions of a `quiz.md`; empty lines and a title (`# `) do not count.

    Raises:
        ValueError: For the first line that does not fit; it names `file` and the line.
    """
    numbered = enumerate(text.splitlines(), 1)
    lines = [(n, line.rstrip()) for n, line in numbered if line.strip() and line[:2] != "# "]
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith("## ")]
    n, line = lines[0] if lines else (1, "")
    check(f"{file}, line {n}", line, "a question: '## ' and its text", starts[:1] == [0])
    ends = [*starts[1:], len(lines)]
    return [read_question(lines[a:b], file) for a, b in zip(starts, ends, strict=True)]


def read_question(lines: Sequence[tuple[int, str]], file: str) -> Question:
    """One question from its lines, each with its number in the file: choices and replies by turns."""
    (first, heading), *rest = lines
    if len(rest) % 2:
        rest.append((rest[-1][0] + 1, ""))
    choices: list[tuple[str, str]] = []
    right: list[int] = []
    for (n, line), (below, word) in zip(rest[::2], rest[1::2], strict=True):
        choice, reply = CHOICE.fullmatch(line), REPLY.fullmatch(word)
        expected = "a choice: '- [ ] ', or '- [x] ' if it is the right one, and its text"
        check(f"{file}, line {n}", line, expected, choice is not None)
        expected = "the reply to the choice above: two spaces, '> ' and its text"
        check(f"{file}, line {below}", word, expected, reply is not None)
        assert choice is not None
        assert reply is not None
        right += [len(choices)] * (choice.group(1) == "x")
        choices.append((choice.group(2), reply.group(1)))
    few = f"a question with 2 to {len(LETTERS)} choices"
    check(f"{file}, line {first}", heading, few, 2 <= len(choices) <= len(LETTERS))
    check(f"{file}, line {first}", heading, "a question with one choice [x]", len(right) == 1)
    return Question(heading.removeprefix("## ").strip(), tuple(choices), right[0])


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
        """Show the quiz. Where no kernel answers the page does; without scripts, answers are folded."""
        import ipywidgets

        self.first = {}
        self.standing = ipywidgets.HTML()
        boxes = [self.box(number) for number in range(len(self.questions))]
        keys = ipywidgets.HTML("By keyboard: Tab to a choice, Space to take it.")
        self.widget = ipywidgets.VBox([keys, *boxes, self.standing])
        view = {"version_major": 2, "version_minor": 0, "model_id": self.widget.model_id}
        data: dict[str, Any] = {"application/vnd.jupyter.widget-view+json": view}
        data["text/html"] = self.page()
        data["text/plain"] = f"A quiz of {len(boxes)} questions."
        display(data, raw=True)

    def page(self) -> str:
        """The quiz as HTML that answers by itself."""
        still = "".join(map(folded, range(1, len(self.questions) + 1), self.questions))
        return fragment("quiz", still, saved.packed([asdict(asked) for asked in self.questions]))

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
    choices, answers = [], []
    for place, (text, _) in enumerate(question.choices):
        choices.append(f"{LETTERS[place]}. {html.escape(text)}")
        answers.append(f"{LETTERS[place]}. {emphasised(question.verdict(place))}")
    return (
        f"<p><b>{number}. {html.escape(question.text)}</b><br>{'<br>'.join(choices)}</p>"
        f"<details><summary>Answers</summary><p>{'<br>'.join(answers)}</p></details><br>"
    )
