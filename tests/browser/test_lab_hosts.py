"""The lab where notebooks are read: in JupyterLab, in the HTML of nbconvert, and in a frame."""

import shutil

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.open_lab import lab
from transformer_lab.lab.playground_page import playground
from transformer_lab.translator import Translator

TIRED = FAMOUS[0].source
CELLS = (
    "from transformer_lab.translator import Translator\nfrom transformer_lab.lab import lab",
    f"lab(Translator.load(device='cpu'), {TIRED!r}, start='head=e2.3')",
)


@pytest.fixture
def notebook(lab) -> str:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(made, lab.folder / "lab.ipynb")
    return "lab.ipynb"


def mute_by_keyboard(root):
    """Mute the head that finds the noun: "il" becomes "elle"."""
    expect(root).to_have_attribute("data-ready", "true")
    root.get_by_label("Open a head").select_option("e2.3")
    word = root.locator("[data-control='query 0']")
    word.focus()
    word.press("m")
    expect(root.locator(".stakes")).to_contain_text("elle")
    # Its lines end at the words, although JupyterLab and nbconvert have a rule for a picture's height.
    last = root.locator(".line-board .column.query button").last.bounding_box()
    drawing = root.locator(".line-board svg").first.bounding_box()
    assert last["y"] + last["height"] == pytest.approx(drawing["y"] + drawing["height"], abs=3)
    expect(word).to_be_focused()


@pytest.mark.thorough(
    caught_by=[
        "test_in_nbconverts_html_it_runs",
        "test_in_a_frame_that_may_run_scripts_and_nothing_else_it_runs",
    ]
)
def test_in_jupyterlab_it_runs_is_saved_and_opens_again(lab, visit, notebook):
    visit.open(lab, notebook)
    visit.run_all(len(CELLS))
    page, root = visit.page, visit.page.locator(".tl-lab")
    address = page.url
    mute_by_keyboard(root)
    assert page.url == address, "the address is the notebook's"
    expect(visit.cells).to_have_count(2)  # JupyterLab's own "m" makes a cell one of text
    slider = root.get_by_role("slider")
    root.locator("[data-control='view map']").click()
    root.locator(".open td.corner").click()  # means no word
    root.locator(".open td[data-key]").first.click()
    before = root.locator(".share").inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(root.locator(".share")).not_to_have_text(before)
    expect(slider).to_be_focused()

    visit.cells.first.locator(".jp-InputPrompt").click()
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    path = lab.folder / notebook
    shutil.copy(path, lab.folder / "again.ipynb")
    page.goto(f"{lab.url}/lab/tree/again.ipynb?reset")
    mute_by_keyboard(root)
    # By somebody else, whose signature this machine has not got: the picture, with its words.
    copy = nbformat.read(path, as_version=4)
    copy.cells.append(nbformat.v4.new_markdown_cell("Not signed."))
    nbformat.write(copy, lab.folder / "untrusted.ipynb")
    page.goto(f"{lab.url}/lab/tree/untrusted.ipynb?reset")
    picture = page.locator(".jp-Notebook .jp-OutputArea img")
    expect(picture).to_be_visible()
    assert "The lab" in picture.get_attribute("alt")
    expect(root).to_have_count(0)
    assert visit.outside == []


def test_in_nbconverts_html_it_runs(browser, tmp_path):
    bundle = lab(Translator.load(device="cpu"), TIRED)._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", bundle)
    cell = nbformat.v4.new_code_cell("lab(translator)", outputs=[output], execution_count=1)
    page_of = HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]
    path = tmp_path / "notebook.html"
    path.write_text(page_of, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1240, "height": 900})
    context.route(lambda url: url.startswith("http"), lambda route: route.abort())
    page = context.new_page()
    page.goto(path.as_uri())
    mute_by_keyboard(page.locator(".tl-lab"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 1240
    context.close()


def test_in_a_frame_that_may_run_scripts_and_nothing_else_it_runs(browser, tmp_path):
    """Colab shows an output in a frame of another origin: without storage, cookies or its address."""
    output = lab(Translator.load(device="cpu"), TIRED)._repr_mimebundle_()
    page, errors = open_in_frame(browser, tmp_path, output["text/html"])
    mute_by_keyboard(page.frame_locator("iframe").locator(".tl-lab"))
    assert errors == []
    page.close()


@pytest.mark.thorough(
    caught_by=["test_in_a_frame_that_may_run_scripts_and_nothing_else_a_model_learns"]
)
def test_in_jupyterlab_a_model_learns(lab, visit):
    start = "width=16&heads=2&steps=300"
    sources = ["import transformer_lab as tl", f"tl.playground('reverse', start={start!r})"]
    visit.open(lab, lab.write("play.ipynb", sources))
    visit.run_all(len(sources))
    address = visit.page.url
    learn(visit.page.locator(".tl-playground"))
    assert visit.page.url == address, "the address is the notebook's"
    assert visit.outside == []


def learn(root):
    """Train, and try the model; by keyboard, which JupyterLab listens to as well."""
    expect(root).to_have_attribute("data-ready", "true")
    root.locator("[data-control=train]").press("Enter")
    status = root.get_by_role("status")
    expect(status).to_contain_text("Done: ", timeout=60_000)
    root.get_by_label("Try one of your own").press_sequentially("ab")
    expect(root.locator(".try li")).to_have_count(1)
    root.get_by_role("slider").press("ArrowLeft")
    expect(status).to_contain_text("Step 290")


def test_in_a_frame_that_may_run_scripts_and_nothing_else_a_model_learns(browser, tmp_path):
    output = playground(start="width=16&heads=2&steps=300")._repr_mimebundle_()
    page, errors = open_in_frame(browser, tmp_path, output["text/html"])
    learn(page.frame_locator("iframe").locator(".tl-playground"))
    assert errors == []
    page.close()


def open_in_frame(browser, folder, output):
    """A page with an output in a frame of another origin, and its errors, as they come."""
    (folder / "output.html").write_text(output, encoding="utf-8")
    frame = '<!doctype html><iframe sandbox="allow-scripts" src="output.html" width="1200" height="800">'
    path = folder / "page.html"
    path.write_text(frame, encoding="utf-8")
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.goto(path.as_uri())
    return page, errors
