"""What stands in README and docs agrees with the notebooks."""

import re
from urllib.parse import unquote

import pytest

from tools.build_notebooks import ROOT, lessons, read
from tools.findings.page import headings
from transformer_lab.course.keys import KEY, lesson_key
from transformer_lab.course.quiz.cards import decks

README = (ROOT / "README.md").read_text(encoding="utf-8")
REVIEW = ROOT / "notebooks" / "17_review.ipynb"
LINK = re.compile(rf"\[({KEY}), ([^\]]+)\]\((?:\.\./notebooks/)?([^)#]+)#([^)]+)\)")
TEXTS = {".md", ".toml", ".js", ".css", ".html"}
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def printed_under(path, heading):
    """What the cells print from a heading to the next one of its level; of pictures, what is said."""
    level, texts = None, []
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for marks, name in re.findall(r"^(#+) (.*)$", cell.source, re.MULTILINE):
                if level is None and name == heading:
                    level = len(marks)
                elif level is not None and len(marks) <= level:
                    return "\n".join(texts)
        elif level is not None:
            for output in cell.outputs:
                data = output.get("data", {})
                texts += [output.get("text", ""), data.get("text/plain", "")]
                texts += re.findall(r'alt="([^"]*)"', data.get("text/html", ""))
    return "\n".join(texts)


def value(number):
    return float(number.rstrip(",").replace(",", ""))


def is_printed(number, printed):
    """Whether a printed number rounds to the claimed one; a share may be printed as a percentage.

    Rounding errors, such as 3e-14, agree if they are within a factor of two.
    """
    claimed = value(number)
    if "e" in number:
        return any(claimed / 2 <= p <= claimed * 2 for p in printed)
    half = 0.5 * 10 ** -len(number.rstrip(",").partition(".")[2]) + 1e-9
    return any(abs(p - claimed) <= half or abs(100 * p - claimed) <= half for p in printed)


def check_links(links):
    """Each link names a heading of a lesson, and leads there."""
    for link in links:
        lesson, name, file, anchor = link.groups()
        assert re.match(rf"(?:evidence/)?{lesson}_", file)
        assert name in headings(ROOT / "notebooks" / file)
        assert unquote(anchor) == name.replace("`", "").replace(" ", "-")


def not_printed(text, links):
    """The numbers of a text that no cell under one of the links prints."""
    texts = [printed_under(ROOT / "notebooks" / link.group(3), link.group(2)) for link in links]
    printed = [value(number) for number in NUMBER.findall("\n".join(texts))]
    return [number for number in NUMBER.findall(text) if not is_printed(number, printed)]


CARDS = [card for deck in decks().values() for card in deck]
# Definitions and citations, which are no results.
FORMULA = re.compile(rf"`[^`]+`|§\d[\d.]*|[Ll]esson {KEY}|[Ee]xercise \d")
NOTEBOOK = re.compile(rf"\[{KEY}\]\(([^)#]+)\)")


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.question)
def test_a_card_leads_to_the_cells_that_print_its_numbers(card):
    links = list(LINK.finditer(card.places))
    check_links(links)
    others = NOTEBOOK.findall(card.places)
    assert all((ROOT / "notebooks" / other).exists() for other in others)
    assert len(links) + len(others) == len(card.places.split(" · "))
    missing = not_printed(FORMULA.sub("", card.answer), links)
    assert not missing, f"no cell under the links prints {missing}"


def test_a_number_is_printed_if_it_is_one_of_them_rounded():
    assert is_printed("0.79", [3.0, 0.7869])
    assert is_printed("79", [0.7869])
    assert not is_printed("0.79", [0.78, 0.8])
    assert is_printed("1,853", [value("1,853")])
    assert is_printed("3e-14", [2.5e-14])
    assert not is_printed("3e-14", [3e-12])


def test_no_text_has_marks_of_a_merge():
    """Ruff finds them in code; nothing else reads what the generators of pages take as it is."""
    folders = (ROOT / name for name in ("docs", "tools", "transformer_lab", "notebooks"))
    texts = [*ROOT.glob("*.md"), *(p for f in folders for p in f.rglob("*") if p.suffix in TEXTS)]
    assert len(texts) > 100
    marks = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
    assert [path.name for path in texts if marks.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_the_readme_lists_the_notebook_with_its_title_and_minutes(path):
    title = headings(path)[0]
    text = "\n".join(cell.source for cell in read(path).cells)
    (minutes,) = re.findall(r"\*\*Time\*\*: (\w+) minutes", text)
    minutes = {"ten": "10"}.get(minutes, minutes)
    link = rf"\[(.+)\]\(notebooks/{path.name}\)"
    row = re.search(rf"^\| {lesson_key(path)} \| {link} .* \| (\d+) \|$", README, re.MULTILINE)
    assert row, f"no row for {path.name}"
    assert (row.group(1), row.group(2)) == (title.partition(":")[0], minutes)


def test_links_of_the_documents_lead_somewhere():
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            if not link.startswith(("https://", "#")):
                assert (path.parent / link.partition("#")[0]).exists(), link
