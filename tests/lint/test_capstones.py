"""The capstones: short, with one place for the reader's own task, and lessons that lead to them."""

import re

import pytest

from tools.build_notebooks import NOTEBOOKS, ROOT, read

CAPSTONES = sorted(NOTEBOOKS.glob("capstone*.ipynb"))
LED_FROM = {"capstone1": ("00", "10"), "capstone2": ("00", "12")}
"""Capstone → the lessons that lead to it."""


def prose(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


@pytest.fixture(params=CAPSTONES, ids=lambda path: path.stem)
def capstone(request):
    return request.param


def test_there_are_two():
    assert [path.stem.partition("_")[0] for path in CAPSTONES] == list(LED_FROM)


def test_it_is_short(capstone):
    assert len(prose(capstone).split()) <= 1_000
    assert "**Time**: 45 minutes" in prose(capstone)
    assert "**Predict before you" in prose(capstone)


def test_the_readers_own_task_has_one_marked_place(capstone):
    cells = [cell.source for cell in read(capstone).cells if cell.cell_type == "code"]
    (marked,) = [source for source in cells if "▼" in source or "▲" in source]
    first, *_, last = marked.splitlines()
    assert first.startswith("# ▼ Your own ")
    assert last.startswith("# ▲ Up to here")
    assert "\nNAME = " in marked


def test_lessons_and_documents_lead_to_it(capstone):
    for number in LED_FROM[capstone.stem.partition("_")[0]]:
        (lesson,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        assert f"]({capstone.name})" in prose(lesson)
    for name in ("course", "instructors", "own_task"):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert f"](../notebooks/{capstone.name})" in text
    assert f"<../notebooks/{capstone.stem}>" in (ROOT / "docs" / "index.md").read_text("utf-8")


def test_the_guide_has_five_points_for_them():
    guide = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
    text = re.split(r"^##", guide.partition("\n### The capstones\n")[2], flags=re.MULTILINE)[0]
    assert re.findall(r"^(\d)\. \*\*", text, re.MULTILINE) == list("12345")
