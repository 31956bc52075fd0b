"""A parser for a lesson's `quiz.md`: multiple-choice questions with a reply to each choice.

`load_quiz` of `transformer_lab.course.lessons` uses it. The Markdown has one line for each part:

    ## What sums to 1?

    - [x] each row
      > Each query divides one whole among the keys.
    - [ ] each column
      > A key may be looked at by all queries, or by none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from transformer_lab.config import check

CHOICE = re.compile(r"- \[([ x])\] (.*\S)")
REPLY = re.compile(r"  > (.*\S)")
LETTERS = "abcdefgh"
"""The letters of the choices, added as text because notebooks strip the HTML of lettered lists."""


@dataclass(frozen=True)
class Question:
    """A question with its choices.

    Attributes:
        text: The question.
        choices: The choices, as pairs (text, reply).
        right: The index of the right choice.
    """

    text: str
    choices: tuple[tuple[str, str], ...]
    right: int

    def verdict(self, choice: int) -> str:
        """Return the reply to a choice, starting with "Right." or "No."."""
        opening = "Right." if choice == self.right else "No."
        return f"{opening} {self.choices[choice][1]}"


def read_questions(text: str, file: str) -> list[Question]:
    """Parse the text of a `quiz.md` into questions.

    Empty lines and a title (`# `) are ignored.

    Raises:
        ValueError: If a line breaks the format; the message names `file` and the first such line.
    """
    numbered = enumerate(text.splitlines(), 1)
    lines = [(n, line.rstrip()) for n, line in numbered if line.strip() and line[:2] != "# "]
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith("## ")]
    n, line = lines[0] if lines else (1, "")
    check(f"line {n} of {file}", line, "a question that begins with '## '", starts[:1] == [0])
    ends = [*starts[1:], len(lines)]
    return [read_question(lines[a:b], file) for a, b in zip(starts, ends, strict=True)]


def read_question(lines: Sequence[tuple[int, str]], file: str) -> Question:
    """Parse one question from its lines, given as pairs (line number in the file, line).

    The first line is the heading; then choices and replies alternate.

    Raises:
        ValueError: If a line breaks the format; the message names `file` and the first such line.
    """
    (first, heading), *rest = lines
    if len(rest) % 2:
        rest.append((rest[-1][0] + 1, ""))
    choices: list[tuple[str, str]] = []
    right: list[int] = []
    for (n, line), (below, word) in zip(rest[::2], rest[1::2], strict=True):
        choice, reply = CHOICE.fullmatch(line), REPLY.fullmatch(word)
        expected = "a choice that begins with '- [ ] ', or with '- [x] ' if it is right"
        check(f"line {n} of {file}", line, expected, choice is not None)
        expected = "a reply that begins with '  > '"
        check(f"line {below} of {file}", word, expected, reply is not None)
        assert choice is not None
        assert reply is not None
        right += [len(choices)] * (choice.group(1) == "x")
        choices.append((choice.group(2), reply.group(1)))
    few = f"a question with 2 to {len(LETTERS)} choices"
    check(f"line {first} of {file}", heading, few, 2 <= len(choices) <= len(LETTERS))
    one = "a question with exactly one choice marked [x]"
    check(f"line {first} of {file}", heading, one, len(right) == 1)
    return Question(heading.removeprefix("## ").strip(), tuple(choices), right[0])
