"""Slides are short, say what the lesson says, and the guide has a minute for each of them."""

import hashlib
import re

import pytest

from tools.build_notebooks import lessons, normalise, read
from tools.slides import guide
from tools.slides.body import SMALLEST, body, code_text, printed_text, size_of, wrapped
from tools.slides.deck import deck

DECKS = [deck(path) for path in lessons()]
SLIDES = [(one, slide) for one in DECKS for slide in one.slides]
TEXT = guide.GUIDE.read_text(encoding="utf-8")
REVEAL = guide.ROOT / "tools" / "slides" / "reveal"
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
FORMULA = re.compile(r"\$[^$]+\$")


@pytest.fixture(params=DECKS, ids=lambda one: one.name)
def one(request):
    return request.param


def words(text):
    """How many words a line has; a formula is one, a dash or a dot between words is none."""
    return sum(bool(re.search(r"\w", word)) for word in FORMULA.sub("formula", text).split())


def sentences(text):
    return len(re.findall(r"[.?!](?:\s|$)", re.sub(r"[*`]", "", text)))


def test_a_deck_has_twelve_to_twenty_slides(one):
    assert 12 <= len(one.slides) <= 20


def test_a_slide_has_one_sentence_as_its_title_and_at_most_forty_words(one):
    titles = [slide.title for slide in one.slides]
    assert len(set(titles)) == len(titles)
    for slide in one.slides:
        plain = re.sub(r"[*`]", "", slide.title)
        assert words(plain) >= 3, slide.title
        assert not re.search(r"[.!]$|[.?!] ", plain), slide.title
        assert words(slide.title) + words(slide.text) <= 40, slide.title
        assert sentences(slide.text) <= 3, slide.text


def test_pictures_pieces_and_numbers_come_more_often_than_words_alone(one):
    alone = [slide for slide in one.slides if slide.show == "words"]
    assert len(alone) <= len(one.slides) / 2
    assert any(slide.show == "output" for slide in one.slides)
    assert one.lesson == "00" or sum(slide.show == "question" for slide in one.slides) == 1


def test_every_slide_finds_what_fills_it(one):
    for slide in one.slides:
        assert bool(body(slide)) == (slide.show != "words"), slide.title


def test_a_deck_asks_before_it_answers(one):
    asks = [slide.show == "words" and slide.title.endswith("?") for slide in one.slides]
    assert sum(asks) >= 2


def lesson_numbers(name):
    """All numbers of a lesson: of its text, its code, what it prints, and what its pictures say."""
    texts = []
    for cell in read(guide.ROOT / "notebooks" / f"{name}.ipynb").cells:
        texts.append(cell.source)
        for output in cell.get("outputs", ()):
            texts += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return {value(number) for number in NUMBER.findall("\n".join(texts))}


def value(number):
    return float(number.rstrip(",").replace(",", ""))


def test_each_number_on_a_slide_stands_in_the_lesson(one):
    known = lesson_numbers(one.name)
    for slide in one.slides:
        # "Exercise 3" and "encoder 2.3" are names; they stand in the lesson as well.
        for number in NUMBER.findall(f"{slide.title} {slide.text}"):
            assert value(number) in known, f"{number} in {slide.title!r}"


@pytest.mark.parametrize(("one", "slide"), [p for p in SLIDES if p[1].show in ("printed", "code")])
def test_printed_lines_are_read_from_the_back_of_the_room(one, slide):
    text = printed_text(slide) if slide.show == "printed" else code_text(slide)
    assert size_of(text) >= SMALLEST, f"{one.lesson} {slide.title}"


def test_what_is_left_of_a_long_line_of_a_docstring_begins_the_next_one():
    long = "    " + "word " * 20
    first, second, third = wrapped(f"{long.rstrip()}\n    and more\n").split("\n")
    assert first == "    " + " ".join(["word"] * 16)
    assert second == "    word word word word and more"
    assert third == ""
    code = f'{long.rstrip()}\n    """'
    assert wrapped(code).split("\n")[1:] == ["    word word word word", '    """']


# ---------------------------------------------------------------- the guide


def test_the_guide_names_each_slide_in_order_at_its_minute(one):
    named = [entry for row in guide.rows(one.lesson, TEXT) for entry in row.slides]
    assert named == list(enumerate((slide.title for slide in one.slides), start=1))


def test_all_that_the_guide_says_of_an_hour_is_in_the_notes(one):
    found = guide.notes(one.lesson, TEXT)
    assert len(found) == len(one.slides)
    said = "\n".join(line for notes in found for line in notes)
    misunderstandings = guide.stuck(one.lesson, TEXT)
    assert len(misunderstandings) == 3
    for text in (*misunderstandings, *(row.words for row in guide.rows(one.lesson, TEXT))):
        assert text in said
    assert "**Goals.**" in "".join(found[0])
    assert "**At home**" in "".join(found[-1])


def test_a_misunderstanding_stands_beside_the_exercise_that_it_belongs_to():
    by_title = {
        slide.title: notes
        for slide, notes in zip(DECKS[1].slides, guide.notes("01", TEXT), strict=True)
    }
    (softmax,) = (notes for title, notes in by_title.items() if title.startswith("Exercise 1"))
    assert "softmax runs over the first axis" in "".join(softmax)
    (head,) = (notes for title, notes in by_title.items() if title.startswith("Exercise 2"))
    assert "divide by 2" in "".join(head)


def test_the_notes_say_what_plan_c_does_with_a_slide():
    said = {lesson: guide.plan_c(lesson, TEXT) for lesson in ("00", "01", "04", "06", "07")}
    assert {lesson: list(of_slides) for lesson, of_slides in said.items()} == {
        "00": [],
        "01": [8, 11],
        "04": [1, 2],
        "06": [8, 10, 11, 14],
        "07": list(range(1, 19)),
    }
    for lesson, of_slides in said.items():
        notes = guide.notes(lesson, TEXT)
        for number, words in of_slides.items():
            assert words in notes[number - 1]
    assert said["07"][3].startswith("**Plan C, minutes 20 to 30.** **Exercise 1** in pairs")
    # The five minutes before 07 are said aloud, so they stand in the notes in full.
    assert "the cat sat" in said["04"][2]
    assert "English answers" in said["06"][14]
    assert guide.slide_numbers("1, 9 to 11") == [1, 9, 10, 11]


@pytest.mark.parametrize("entry", ["Scores", "x Scores", ""])
def test_a_row_that_names_no_slide_is_refused(entry):
    with pytest.raises(ValueError, match="names no slide"):
        guide.named(entry)


# ---------------------------------------------------------------- how they are stored


def test_the_builder_keeps_them():
    path = lessons()[1]
    kept = normalise(read(path), path.stem)
    assert [c.metadata.get("slides") for c in kept.cells] == [
        c.metadata.get("slides") for c in read(path).cells
    ]


def test_reveal_is_what_its_readme_says():
    text = (REVEAL / "README.md").read_text(encoding="utf-8")
    sums = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", text, re.M))
    assert {path.name for path in REVEAL.iterdir()} == {*sums.values(), "README.md"}
    for expected, name in sums.items():
        assert hashlib.sha256((REVEAL / name).read_bytes()).hexdigest() == expected
    assert sum(path.stat().st_size for path in REVEAL.iterdir()) < 300_000
