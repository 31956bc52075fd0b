"""What stands in README and docs agrees with the notebooks."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tools.build_notebooks import read

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[(\d\d), ([^\]]+)\]\(\.\./notebooks/([^)#]+)#([^)]+)\)")


def headings(path):
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    return re.findall(r"^#+ (.*)$", "\n".join(texts), re.MULTILINE)


ROWS = [line for line in FINDINGS.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=[row[2:50] for row in ROWS])
def test_a_finding_has_claim_test_result_verdict_and_its_place(row):
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert len(cells) == 5
    assert all(cells)
    link = LINK.fullmatch(cells[4])
    lesson, name, file, anchor = link.groups()
    assert file.startswith(lesson)
    assert name in headings(ROOT / "notebooks" / file)
    assert unquote(anchor) == name.replace(" ", "-")
    assert re.search(r"\d", cells[2]), "a result without a number"


def test_every_lesson_has_findings():
    lessons = {path.name[:2] for path in NOTEBOOKS} - {"00"}
    assert {LINK.search(row).group(1) for row in ROWS} == lessons


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_readme_lists_the_notebook_with_its_title_and_minutes(path):
    title = headings(path)[0]
    text = "\n".join(cell.source for cell in read(path).cells)
    (minutes,) = re.findall(r"\*\*Time\*\*: (\w+) minutes", text)
    minutes = {"ten": "10"}.get(minutes, minutes)
    link = rf"\[(.+)\]\(notebooks/{path.name}\)"
    row = re.search(rf"^\| {path.name[:2]} \| {link} .* \| (\d+) \|$", README, re.MULTILINE)
    assert row, f"no row for {path.name}"
    assert (row.group(1), row.group(2)) == (title.partition(":")[0], minutes)


def test_links_of_the_documents_lead_somewhere():
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
            if not link.startswith(("https://", "#")):
                assert (path.parent / link.partition("#")[0]).exists(), link
