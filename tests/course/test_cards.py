"""Cards: a question, a short answer, and the place where the course builds it.

`tests/lint/test_documents.py` follows their links, and compares their numbers with what's printed there.
"""

import re

import pytest

from transformer_lab.course.lessons import lesson, lesson_numbers
from transformer_lab.course.quiz import cards as cards_module
from transformer_lab.course.quiz.cards import Card, decks, read_cards, show_deck

CARDS = [card for deck in decks().values() for card in deck]
WRITTEN = """\
# A title does not count

## Sums

### What is `1 + 1`?

It is *two*.

[01, Break it](01.ipynb#Break-it) · [16](16.ipynb)

### And 2 + 2?
Four.

[01](01.ipynb)

## Products

### What is 2 · 2?

Four.

[02](02.ipynb)
"""


def test_cards_are_read_as_they_are_written():
    first = Card(
        "What is `1 + 1`?", "It is *two*.", "[01, Break it](01.ipynb#Break-it) · [16](16.ipynb)"
    )
    second = Card("And 2 + 2?", "Four.", "[01](01.ipynb)")
    third = Card("What is 2 · 2?", "Four.", "[02](02.ipynb)")
    assert read_cards(WRITTEN, "cards.md") == {"Sums": [first, second], "Products": [third]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is *two*.\n\n", ""),
        ("It is *two*.", "It is *two*.\n\nReally."),
        ("[16](16.ipynb)", "[16](16.ipynb) and more"),
        ("[01, Break it](01.ipynb#Break-it) · [16](16.ipynb)", ""),
    ],
)
def test_a_card_that_does_not_fit_is_named(old, new):
    with pytest.raises(
        ValueError, match=r"^lesson_99/cards\.md: 'What is `1 \+ 1`\?' needs one paragraph for"
    ):
        read_cards(WRITTEN.replace(old, new), "lesson_99/cards.md")


def test_an_answer_is_folded_and_stays_markdown():
    (card, _), _ = read_cards(WRITTEN, "cards.md").values()
    assert card.fold() == (
        "<details>\n<summary><b>What is <code>1 + 1</code>?</b></summary>\n\n> It is *two*.\n>\n"
        "> → [01, Break it](01.ipynb#Break-it) · [16](16.ipynb)\n\n</details>"
    )
    assert card.text() == "What is `1 + 1`?\n    It is *two*.\n    → 01, Break it · 16"


def test_no_question_is_asked_twice_and_none_is_one_of_a_quiz():
    asked = [card.question for card in CARDS]
    assert len(asked) >= 40
    assert len(set(asked)) == len(asked)
    assert len({card.answer for card in CARDS}) == len(CARDS)
    quizzes = {one.text for number in lesson_numbers() for one in lesson(number).quiz.questions}
    assert not set(asked) & quizzes


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.question)
def test_a_card_is_answered_in_at_most_sixty_words_and_leads_somewhere(card):
    assert 8 <= len(card.answer.split()) <= 60
    assert re.match(r"\[\d\d[a-z]?(, |\])", card.places)
    assert not re.search(r"[<>$]", card.question + card.answer), "what front ends read differently"


def test_a_deck_takes_a_few_minutes():
    assert all(4 <= len(deck) <= 8 for deck in decks().values())


def test_a_deck_is_shown_folded_or_printed(capsys, monkeypatch):
    show_deck("Heads")
    printed = capsys.readouterr().out
    assert printed.startswith(decks()["Heads"][0].question)
    assert "<" not in printed
    shown = []
    monkeypatch.setattr(cards_module, "is_in_terminal", lambda: False)
    monkeypatch.setattr(cards_module, "display", lambda data, raw: shown.append(data))
    show_deck("Heads")
    (data,) = shown
    assert data["text/plain"] + "\n" == printed
    assert data["text/markdown"].count("<details>") == len(decks()["Heads"])


def test_a_deck_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="deck is 'Hearts'; expected 'Attention', 'Heads"):
        show_deck("Hearts")
