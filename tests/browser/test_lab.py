"""What a learner does first: open lesson 00 in JupyterLab, run it all, move the slider."""

import re

import pytest
from playwright.sync_api import expect

from tools.build_notebooks import read, written

START = "00_start_here.ipynb"
TRANSLATION = "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
KERNEL_TIMEOUT = 300_000  # milliseconds until a notebook counts as hung
WIDTH = "image => image.complete && image.naturalWidth"


def open_notebook(page, lab):
    page.goto(f"{lab.url}/lab/tree/{START}")
    expect(page.locator(".jp-Notebook .jp-CodeCell").first).to_be_visible()


@pytest.fixture
def unexecuted(lab):
    """The copy of 00 without its outputs, so that what the page shows was made in it."""
    notebook = read(lab.folder / START)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    (lab.folder / START).write_text(written(notebook), encoding="utf-8")
    return notebook


def test_before_anything_is_run_the_saved_pictures_and_their_words_are_there(lab, visit):
    """The notebook is not trusted here: it comes from somebody else, as for everyone who clones it."""
    open_notebook(visit.page, lab)
    pictures = visit.page.locator(".jp-Notebook .jp-OutputArea img")
    expect(pictures.first).to_be_visible()
    saved = written(read(lab.folder / START)).count('"image/png": "')
    assert pictures.count() == saved >= 2
    for picture in pictures.all():
        assert picture.get_attribute("alt")
        assert picture.evaluate(WIDTH) > 300
    assert visit.outside == []


def test_restart_and_run_all_translates_draws_and_answers_the_keyboard(lab, visit, unexecuted):
    page = visit.page
    open_notebook(page, lab)
    # Until there is a kernel, the button asks which one to start.
    expect(page.locator(".jp-KernelName")).to_contain_text("Python 3", timeout=KERNEL_TIMEOUT)
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    expect(idle).to_have_count(1, timeout=KERNEL_TIMEOUT)
    page.get_by_role("button", name="Restart the kernel and run all cells").click()
    page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()

    prompts = page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt")
    last = sum(cell.cell_type == "code" for cell in unexecuted.cells)
    expect(prompts).to_have_count(last)
    expect(prompts.last).to_have_text(f"[{last}]:", timeout=KERNEL_TIMEOUT)
    expect(idle).to_have_count(1, timeout=KERNEL_TIMEOUT)

    # No error, no warning, and nothing that a front end could not draw.
    for kind in ("error", "stderr"):
        bad = page.locator(f".jp-Notebook [data-mime-type='application/vnd.jupyter.{kind}']")
        assert bad.all_inner_texts() == []
    expect(page.locator(".jp-OutputArea-output", has_text=TRANSLATION).first).to_be_visible()
    heatmap = page.locator(".jp-OutputArea-output img[alt^='Heatmap']").first
    expect(heatmap).to_have_attribute("alt", re.compile(r"row of il, it has 0\.\d\d"))
    assert heatmap.evaluate(WIDTH) > 300

    # The slider, by keyboard alone: picture and words change, and change back.
    panel = page.locator(".jp-OutputArea-output .widget-vbox")
    picture, handle = panel.locator("img"), panel.get_by_role("slider")
    before = picture.get_attribute("src"), picture.get_attribute("alt")
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(picture).not_to_have_attribute("src", before[0])
    assert picture.get_attribute("alt") != before[1]
    page.keyboard.press("ArrowLeft")
    expect(picture).to_have_attribute("src", before[0])
    assert picture.get_attribute("alt") == before[1]
    assert visit.outside == []
