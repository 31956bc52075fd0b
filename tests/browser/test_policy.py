"""What somebody plants in a page that we wrote is neither run nor fetched."""

import shutil

import pytest

from tests.browser.planted import plant
from tests.thorough import thorough_from
from tools.build_notebooks import NOTEBOOKS
from tools.slides.__main__ import build
from transformer_lab.lab.open_lab import lab


@pytest.fixture(scope="module")
def written(full_page, shipped, tmp_path_factory):
    """The page of a record, a lab with its engine, and a deck of slides, as we write them."""
    folder = tmp_path_factory.mktemp("written")
    shutil.copyfile(full_page, folder / "record.html")
    lab(shipped, "the cat sees a dog").to_html(folder / "lab.html")
    (lesson,) = NOTEBOOKS.glob("01_*.ipynb")
    build([lesson], folder)
    (folder / f"{lesson.stem}.html").rename(folder / "deck.html")
    return folder


@pytest.mark.parametrize("is_guarded", [True, False])
@pytest.mark.parametrize("name", thorough_from(1, ["record", "lab", "deck"]))
def test_what_is_planted_in_a_page_does_nothing(browser, written, outside, name, is_guarded):
    there, asked = outside
    path = plant(written / f"{name}.html", there, is_guarded)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.locator("[data-ready]").first.wait_for(state="attached", timeout=60_000)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.planted === true") is not is_guarded
    assert (asked == []) is is_guarded
    page.close()
