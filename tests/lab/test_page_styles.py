"""The style sheets of what is drawn, read as text: none reaches a widget that is not its own."""

import re

import pytest

from transformer_lab.lab.page.join import FOLDER

SHEETS = {path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.rglob("*.css"))}
OWN = {
    "page.css": r"\.tl-page\b",
    "lab/lab.css": r"\.tl-lab\b",
    "playground/playground.css": r"\.tl-playground\b",
    "story/story.css": r"\.tl-story\b",
    "lesson/lesson.css": r"\.tl-lesson\b",
    "lesson/quiz.css": r"(\.tl-lesson\.tl-quiz|\[data-quiz\])(?![\w-])",
}
"""How each selector of a sheet begins; that of a drawing begins with both classes of its root."""


def selectors(text: str) -> list[str]:
    """The selectors of all rules, also of those that hold at some widths alone."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"@keyframes [\w-]+ \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", text)
    heads = re.findall(r"([^{}]+)\{", re.sub(r"@(?:media|container)[^{]*\{", "", text))
    return [one.strip() for head in heads for one in re.split(r",(?![^(]*\))", head)]


@pytest.mark.parametrize("name", SHEETS)
def test_each_selector_begins_with_the_widget_that_it_is_for(name):
    own = OWN.get(name, rf"\.tl-lesson\.tl-{SHEETS[name].stem}(?![\w-])")
    found = selectors(SHEETS[name].read_text(encoding="utf-8"))
    assert [one for one in found if not re.match(own, one)] == []
    assert len(found) > 3


@pytest.mark.parametrize("name", SHEETS)
def test_what_has_a_name_for_the_whole_page_has_the_widgets(name):
    text = SHEETS[name].read_text(encoding="utf-8")
    named = re.findall(r"@keyframes ([\w-]+)|@container ([\w-]+)|\bcontainer: ([\w-]+)", text)
    assert [one for names in named for one in names if one and not one.startswith("tl-")] == []


@pytest.mark.parametrize("name", SHEETS)
def test_no_cell_of_a_table_is_turned(name):
    """WebKit turns a cell, but writes on in lines: its text would stand on its head."""
    text = SHEETS[name].read_text(encoding="utf-8")
    turned = re.findall(r"([^{}]+)\{[^{}]*(?:writing-mode|rotate\(180deg\))[^{}]*\}", text)
    assert [head.strip() for head in turned if re.search(r"\b(th|td)\s*$", head)] == []
