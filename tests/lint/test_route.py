"""The route without formulas: marked in its four lessons, and to be read with every fold closed."""

import re

import pytest

from tools.build_notebooks import ROOT, lessons, read
from transformer_lab.course.keys import lesson_key

NUMBERS = ("00", "04", "11", "12")
ROUTE = {lesson_key(path): path for path in lessons() if lesson_key(path) in NUMBERS}
ON = re.compile(r"\*◇ (On|The end of) the route without formulas")
OFF = re.compile(r"\*◇ (If you.re on the|The) route without formulas(?! goes on in)")
FOLD = re.compile(r"<details><summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
SYMBOLS = re.compile(r"\$|\\[a-z]+\{|[ωθΣ∑∂∩]|\b[WQKV]_")


def prose(number):
    """The text of all cells for reading."""
    cells = read(ROUTE[number]).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def on_the_route(number):
    """What is to be read: from the top to the first section, and each section that is marked so."""
    kept, on = [], True
    for line in prose(number).splitlines():
        if line.startswith("## "):
            on = False
        if ON.match(line) or OFF.match(line):
            on = bool(ON.match(line))
        kept += [line] if on else []
    return "\n".join(kept)


@pytest.mark.parametrize("number", NUMBERS)
def test_no_symbol_of_a_formula_stands_outside_the_folds(number):
    text = on_the_route(number)
    assert text.count("◇ ") > 3
    outside = re.sub(r"`[^`]*`", "", FOLD.sub("", text))
    assert not SYMBOLS.search(outside), SYMBOLS.search(outside)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_folded_formula_is_said_in_words_and_has_blank_lines_around(number):
    for summary, body in FOLD.findall(on_the_route(number)):
        if "$" in body:
            words = re.sub(r"<b>.*?</b>", "", summary)
            assert "in words</b>" in summary.lower()
            assert len(words.split()) >= 15, summary
            assert not SYMBOLS.search(summary)
            assert body.startswith("\n\n")
            assert body.endswith("\n\n")


@pytest.mark.parametrize("number", NUMBERS)
def test_what_a_mark_leads_to_is_a_heading_or_a_lesson(number):
    text = prose(number)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {heading.replace(" ", "-") for heading in headings}
    for mark in re.findall(r"^\*◇.*$", text, re.MULTILINE):
        for link in re.findall(r"\]\(([^)]+)\)", mark):
            assert link.removeprefix("#") in anchors or (ROUTE[number].parent / link).exists()


def test_every_mark_is_one_of_those_that_the_first_lesson_explains():
    for number in NUMBERS:
        for mark in re.findall(r"^\*◇.*$", prose(number), re.MULTILINE):
            assert ON.match(mark) or OFF.match(mark), mark


def test_the_minutes_of_the_four_lessons_are_those_of_the_table_and_of_the_documents():
    rows = re.findall(r"^\| \[?(\d\d)\b.* \| (\d+) \|$", prose("00"), re.MULTILINE)
    minutes = {number: int(many) for number, many in rows}
    assert tuple(minutes) == NUMBERS
    for number in NUMBERS[1:]:
        assert f"**Without formulas**: {minutes[number]} minutes after lesson" in prose(number)
    whole = f"{sum(minutes.values())} minutes"
    assert f"{whole} in all" in prose("00")
    for name in ("README.md", "docs/instructors.md", "docs/index.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "00_start_here.ipynb#A-route-without-formulas" in text
        assert whole in text
