"""A parser for a lesson's `cards.md`, and the decks of flashcards that lesson 17 shows.

A card has a question on the front. On the back are the answer and links to the sections that
explain it. In the Markdown, each `## ` starts a deck, and each `### ` starts a card:

    ## Attention

    ### What sums to 1?

    Each query's row, because every query shares out one whole among the keys.

    [01, From scores to weights](01_attention_in_numpy.ipynb#From-scores-to-weights)
"""

import re
from dataclasses import dataclass
from importlib.resources import files

from IPython.display import display

from transformer_lab.config import check_choice
from transformer_lab.course import lessons
from transformer_lab.course.quiz.quiz import is_in_terminal

LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Card:
    """A flashcard with a question and its answer.

    Attributes:
        question: The question.
        answer: The answer, in Markdown.
        places: Markdown links to the sections of the course that explain the answer.
    """

    question: str
    answer: str
    places: str

    def fold(self) -> str:
        """Return the card as Markdown with a collapsible answer that needs no kernel or script."""
        asked = re.sub(r"`([^`]+)`", r"<code>\1</code>", self.question)
        asked = re.sub(r"\*([^*]+)\*", r"<i>\1</i>", asked)
        return (
            f"<details>\n<summary><b>{asked}</b></summary>\n\n"
            f"> {self.answer}\n>\n> → {self.places}\n\n</details>"
        )

    def text(self) -> str:
        """Return the card as plain text for a terminal."""
        places = LINK.sub(r"\1", self.places)
        return f"{self.question}\n    {self.answer}\n    → {places}"


def read_cards(text: str, file: str) -> dict[str, list[Card]]:
    """Parse the text of a `cards.md` into decks, keyed by name.

    Empty lines and a title (`# `) are ignored.

    Raises:
        ValueError: If a card does not consist of a question, an answer and links; the message names
            `file` and the first such card.
    """
    decks: dict[str, list[Card]] = {}
    for name, deck in split_at(text, "## "):
        decks[name] = []
        for question, rest in split_at(deck, "### "):
            parts = [part.strip() for part in rest.split("\n\n") if part.strip()]
            if len(parts) != 2 or LINK.sub("", parts[-1]).strip("· "):
                raise ValueError(
                    f"{file}: {question!r} needs one paragraph for the answer and one for the links"
                )
            decks[name].append(Card(question, *parts))
    return decks


def split_at(text: str, marks: str) -> list[tuple[str, str]]:
    """Split Markdown at headings that start with `marks`; return pairs (heading, text below it)."""
    _, *parts = re.split(rf"^{marks}(.+)$", text, flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


def decks() -> dict[str, list[Card]]:
    """Return the flashcard decks of lesson 17, keyed by name."""
    text = files(lessons).joinpath("lesson_17", "cards.md").read_text(encoding="utf-8")
    return read_cards(text, "lesson_17/cards.md")


def show_deck(name: str) -> None:
    """Show a deck with all answers collapsed, or print it in a terminal.

    Raises:
        ValueError: If there is no such deck.
    """
    every = decks()
    check_choice("deck", name, every)
    in_words = "\n\n".join(card.text() for card in every[name])
    if is_in_terminal():
        print(in_words)
    else:
        folded = "\n\n".join(card.fold() for card in every[name])
        display({"text/markdown": folded, "text/plain": in_words}, raw=True)
