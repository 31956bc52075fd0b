"""A stored record in JupyterLab: without a kernel, saved, opened again, trusted or not."""

import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.screen import (
    Opened,
    check_lines,
    check_readout,
    close,
    serious,
    shown_head,
    use_theme,
)
from tests.records import SOURCE, make_record

RECORD = make_record()
CELLS = (
    "from records import make_record\nimport transformer_lab as tl",
    "tl.lab(make_record(), start='head=e1.1&row=3')",
    "tl.lab(make_record(seed=1))",
)


@pytest.fixture
def notebook(lab) -> str:
    """A notebook with two records, beside the module that it imports."""
    return lab.write("record.ipynb", CELLS)


class InCell(Opened):
    """The first lab of a notebook."""

    @property
    def root(self):
        return self.page.locator(".tl-lab").first


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_record_page.py::test_the_keyboard_moves_in_the_map",
        "tests/browser/test_record_page.py::test_of_two_records_on_a_page_none_takes_the_address",
    ]
)
def test_a_record_in_a_cell_saved_and_opened_again(lab, visit, notebook):
    visit.open(lab, notebook)
    visit.run_all(len(CELLS))
    page = visit.page
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    opened = InCell(page)
    expect(opened.root).to_have_attribute("data-ready", "true")
    expect(page.locator(".tl-lab")).to_have_count(2)
    assert page.locator(".jp-Notebook .jp-OutputArea img").count() == 0
    the_keyboard_stays_in_the_page(opened)
    both_themes(page)
    assert "#" not in page.url.partition("record.ipynb")[2], "the address is the notebook's"
    assert errors == []
    saved_and_opened_again(lab, visit, notebook)
    assert visit.outside == []


def the_keyboard_stays_in_the_page(opened):
    assert shown_head(opened) == "e1.1"
    opened.page.mouse.move(2, 2)
    check_lines(opened, RECORD.encoder[0][0], 3)
    opened.show("as a map")
    close(opened.weights(), RECORD.encoder[0][0])
    opened.table.focus()
    opened.press("ArrowRight", "ArrowDown", "j", "m", "d", "d")  # what would change the notebook
    check_readout(opened.readout, 4, 0, RECORD.encoder[0][0], SOURCE, SOURCE)
    expect(opened.table).to_be_focused()
    expect(opened.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(len(CELLS))
    opened.go_deeper()
    opened.root.locator(".dot").nth(7).focus()
    opened.press("Enter")
    assert shown_head(opened) != "e1.1"


def both_themes(page):
    for name, theme in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        use_theme(page, name)
        for found in page.locator(".tl-lab").all():
            expect(found).to_have_attribute("data-theme", theme)
        assert serious(page, ".tl-lab") == []


def saved_and_opened_again(lab, visit, notebook):
    page = visit.page
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    path = Path(lab.folder / notebook)
    copy = nbformat.read(path, as_version=4)
    assert copy.cells[1].outputs
    # By its author: the page works as before.
    shutil.copy(path, lab.folder / "again.ipynb")
    page.goto(f"{lab.url}/lab/tree/again.ipynb?reset")
    opened = InCell(page)
    expect(page.locator(".tl-lab[data-ready]")).to_have_count(2)
    opened.show("as a map")
    close(opened.weights(), RECORD.encoder[0][0])
    # By somebody else, whose signature this machine has not got: pictures, with their words.
    copy.cells.append(nbformat.v4.new_markdown_cell("Not signed."))
    nbformat.write(copy, lab.folder / "untrusted.ipynb")
    page.goto(f"{lab.url}/lab/tree/untrusted.ipynb?reset")
    expect(visit.cells.first).to_be_visible()
    pictures = page.locator(".jp-Notebook .jp-OutputArea img")
    expect(pictures).to_have_count(2)
    for picture in pictures.all():
        assert picture.is_visible()
        assert " attention of " in picture.get_attribute("alt")
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 300
    assert page.locator(".tl-lab").count() == 0
