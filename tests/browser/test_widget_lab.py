"""The lab on a running Python in JupyterLab: asked and answered, saved, opened again, trusted or not."""

import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.screen import ask, nearest, open_head, serious, use_theme
from tests.records import WordByWord
from transformer_lab.attention.record import Head

SENTENCE = "the cat sees a dog"
CELLS = (
    "import traitlets\n"
    "import ipywidgets\n"
    "from records import WordByWord\n"
    "import transformer_lab as tl\n"
    "translator = WordByWord()\n"
    f"sentence = {SENTENCE!r}",
    "live = tl.lab(translator, sentence, kernel=True, start='head=c1.3&view=map')\nlive",
    "other = tl.lab(WordByWord(), sentence, kernel=True, start='head=c1.1&view=map')\n"
    "link = ipywidgets.link((live, 'layer'), (other, 'layer'))\nother",
    "other.layer = 2\nprint(live.kind, live.layer, live.head, live.pinned)",
    "print(live.record.source_tokens, sorted(live.record.muted), translator.asked)",
)
BUSY = ".problem.busy"


@pytest.fixture
def notebook(lab) -> str:
    """A notebook with two live labs, beside the module that it imports."""
    return lab.write("live.ipynb", CELLS)


def check_map(view: Locator, weights):
    """That the open map's cells have the colours of these weights."""
    view.page.mouse.move(2, 2)
    colours = "all => all.map(c => getComputedStyle(c).backgroundColor.match(/\\d+/g).map(Number))"
    cells = view.locator(".weight-map tbody td")
    expect(cells).to_have_count(weights.size)
    seen = nearest(np.array(cells.evaluate_all(colours)))[:, None] / 255
    np.testing.assert_allclose(seen.reshape(weights.shape), weights, atol=0.012)


def settle(view):
    """Until Python has answered."""
    expect(view.locator(BUSY)).to_have_count(0)


def writes(view, text):
    expect(view.locator(".written")).to_have_text(text)


def code_of(view):
    return view.get_by_label("Open a head")


def run_cell(visit, number) -> str:
    """Run one cell by the keyboard; what it printed."""
    cell = visit.cells.nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    before = prompt.inner_text()
    cell.locator(".cm-content").click()
    visit.page.keyboard.press("Control+Enter")
    expect(prompt).not_to_have_text(before)
    expect(prompt).not_to_have_text("[*]:")
    return cell.locator(".jp-OutputArea-output").inner_text()


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_widget_questions.py::test_an_answer_that_comes_too_late_is_welcome",
        "tests/browser/test_widget_questions.py::test_two_views_show_the_same_and_closed_ones_listen_no_more",
    ]
)
def test_asked_and_answered_saved_and_opened_again(lab, visit, notebook):
    visit.open(lab, notebook)
    visit.run_all(len(CELLS))
    page = visit.page
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    live, other = (page.locator(".tl-lab").nth(i) for i in range(2))
    for view in (live, other):
        expect(view).to_have_attribute("data-ready", "true")
    pictures = page.locator(".jp-Notebook .jp-OutputArea img")
    assert [picture.is_visible() for picture in pictures.all()] == [False, False]

    python_and_the_page_show_the_same(visit, live, other)
    another_sentence(visit, live)
    heads_are_muted(visit, live)
    a_row_is_pointed(live)
    what_fails_is_said_and_what_is_slow_is_waited_for(live)
    stale_answers_are_dropped(visit, live)
    both_themes(page)
    assert errors == []
    saved_and_opened_again(lab, visit, notebook)
    assert visit.outside == []


def python_and_the_page_show_the_same(visit, live, other):
    record = WordByWord().attend(SENTENCE)
    for view, head in ((live, 2), (other, 0)):
        expect(code_of(view)).to_have_value(f"c3.{head + 1}")
        check_map(view, record.cross[2][head])
    open_head(live, "c2.2")
    live.locator(".weight-map th[data-row='3']").click()
    expect(code_of(other)).to_have_value("c2.1")
    open_head(live, "d2.2")
    live.locator(".weight-map td[data-row='3'][data-key='2']").click()
    assert run_cell(visit, 3).strip() == "decoder 2 1 [3, 2]"  # that cell sets the layer
    expect(code_of(live)).to_have_value("d3.2")
    expect(live.locator("td.chosen")).to_have_attribute("data-key", "2")
    open_head(live, "c3.2")


def another_sentence(visit, live):
    """By typing, one key after the other: none of them is a shortcut of JupyterLab's."""
    box = live.get_by_role("textbox")
    box.focus()
    live.page.keyboard.press("Control+a")
    live.page.keyboard.type(
        "dad bay max", delay=30
    )  # d d deletes a cell, a and b add some, m and y
    live.page.keyboard.press("Control+a")
    live.page.keyboard.type("a bird sings", delay=30)
    live.page.keyboard.press("Enter")
    writes(live, "ABIRDSINGS<eos>")
    expect(visit.cells).to_have_count(len(CELLS))
    expect(box).to_be_focused()
    expect(box).to_have_value("a bird sings")
    assert live.locator(".weight-map th[scope=row]").all_inner_texts() == [
        "A",
        "BIRD",
        "SINGS",
        "<eos>",
    ]
    assert live.locator(".weight-map th[scope=col]").all_inner_texts() == [
        "a",
        "bird",
        "sings",
        "<eos>",
    ]
    check_map(live, WordByWord().attend("a bird sings").cross[2][1])


def heads_are_muted(visit, live):
    """The first by mouse, the second by keyboard; then both speak again."""
    live.get_by_role("button", name="Mute it").click()
    gone, come = (live.locator(f".written {tag}") for tag in ("del", "ins"))
    expect(gone).to_have_text(["A", "SINGS"])
    expect(come).to_have_text(["SINGS", "A"])
    chips = live.locator(".changes button").filter(has_text="muted:")
    expect(chips).to_have_count(1)
    open_head(live, "c1.1")
    live.locator("[data-control='view map']").focus()
    live.page.keyboard.press("m")  # JupyterLab's own makes a cell one of text
    expect(chips).to_have_count(2)
    settle(live)
    expect(live.locator("[data-control='view map']")).to_be_focused()
    expect(visit.cells).to_have_count(len(CELLS))
    live.get_by_role("button", name="Unmute it").focus()
    live.page.keyboard.press("Space")
    expect(chips).to_have_count(1)
    settle(live)
    assert live.locator(":focus").count() == 1, "the focus is still here"
    live.get_by_role("button", name="Undo every change").click()
    expect(gone).to_have_count(0)
    settle(live)
    # Nothing jumps away under the pointer while an answer is waited for.
    mute = live.locator("[data-control='mute']")
    mute.click()
    before = mute.bounding_box()
    expect(come).to_have_count(2)
    live.page.keyboard.press("m")
    expect(come).to_have_count(0)
    settle(live)
    mute.click()
    expect(come).to_have_count(2)
    assert mute.bounding_box()["x"] == pytest.approx(before["x"], abs=2)
    live.get_by_role("button", name="Undo every change").click()
    expect(come).to_have_count(0)
    settle(live)


def a_row_is_pointed(live):
    """Row 2 at column 1 by mouse, then a share of row 0 by keyboard."""
    record = WordByWord().attend("a bird sings")
    live.locator("td[data-row='2'][data-key='1']").click()
    live.get_by_role("button", name="Make “SINGS” look only at “bird”").click()
    expect(live.locator(".written ins")).to_have_text(["SINGS", "A"])
    weights = record.cross[0][0].copy()
    weights[2] = np.eye(4)[1]
    check_map(live, weights)
    live.locator("th[data-row='0']").click()
    live.locator("td[data-row='0'][data-key='3']").click()
    slider = live.get_by_role("slider")
    slider.focus()
    live.page.keyboard.press("Home")
    for _ in range(3):
        live.page.keyboard.press("ArrowRight")
    expect(live.locator(".share output")).to_contain_text("has 0.03 of this row")
    settle(live)
    expect(slider).to_be_focused()
    weights[0] *= 0.97 / (1 - weights[0, 3])
    weights[0, 3] = 0.03
    check_map(live, weights)
    live.get_by_role("button", name="Undo every change").click()
    expect(live.locator(".written ins")).to_have_count(0)
    settle(live)
    check_map(live, record.cross[0][0])


def what_fails_is_said_and_what_is_slow_is_waited_for(live):
    record = WordByWord().attend("a bird sings")
    problem = live.locator(".problem")
    ask(live, "a bad bird")
    reason = "there is no such word: 'bad'. The last answer is still shown below."
    expect(problem).to_have_text(reason)
    writes(live, "ABIRDSINGS<eos>")
    check_map(live, record.cross[0][0])
    expect(live.get_by_role("textbox")).to_have_value("a bad bird")
    ask(live, "a slow bird")
    expect(problem).to_have_text("Python is translating …")
    check_map(live, record.cross[0][0])
    writes(live, "ASLOWBIRD<eos>")
    expect(problem).to_have_text("")


def stale_answers_are_dropped(visit, live):
    """While a slow answer is on its way the reader asks on: it is never shown."""
    live.evaluate(
        "root => { root.seen = []; new MutationObserver(() => root.seen.push("
        "root.querySelector('.written').innerText)).observe(root.querySelector('.written'), "
        "{ childList: true, subtree: true }) }"
    )
    ask(live, "one slow cat")
    live.page.wait_for_timeout(500)
    for text in ("two", "two dogs", "two dogs run"):
        ask(live, text)
    writes(live, "TWODOGSRUN<eos>")
    settle(live)
    assert not any("CAT" in text for text in live.evaluate("root => root.seen"))
    # A dropped answer is the last answer, if what follows it fails.
    ask(live, "slow mice")
    live.page.wait_for_timeout(500)
    ask(live, "bad mice")
    expect(live.locator(".problem")).to_contain_text("there is no such word")
    writes(live, "SLOWMICE<eos>")
    expect(live.get_by_role("textbox")).to_have_value("bad mice")
    said = run_cell(visit, 4)
    assert said.startswith("('slow', 'mice', '<eos>') []"), "Python's record is what is shown"
    assert said.count("'two") == 1, "those between were not asked for"
    ask(live, SENTENCE)
    writes(live, "THECATSEESADOG<eos>")


def both_themes(page):
    for name, theme in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        use_theme(page, name)
        for view in page.locator(".tl-lab").all():
            expect(view).to_have_attribute("data-theme", theme)
        assert serious(page, ".tl-lab") == []


def saved_and_opened_again(lab, visit, notebook):
    page = visit.page
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    path = Path(lab.folder / notebook)
    copy = nbformat.read(path, as_version=4)
    assert copy.cells[1].outputs
    # Where a live one was, there is its picture: by its author, whose kernel knows no widget yet,
    shutil.copy(path, lab.folder / "again.ipynb")
    page.goto(f"{lab.url}/lab/tree/again.ipynb?reset")
    expect(visit.cells.first).to_be_visible()
    check_pictures(page, 2)
    # and by somebody else, whose signature this machine has not got.
    copy.cells.append(nbformat.v4.new_markdown_cell("Not signed."))
    nbformat.write(copy, lab.folder / "untrusted.ipynb")
    page.goto(f"{lab.url}/lab/tree/untrusted.ipynb?reset")
    expect(visit.cells.first).to_be_visible()
    check_pictures(page, 2)
    assert page.locator(".tl-lab").count() == 0


def check_pictures(page, count):
    pictures = page.locator(".jp-Notebook .jp-OutputArea img")
    expect(pictures).to_have_count(count)
    for picture in pictures.all():
        assert picture.is_visible()
        assert " attention of " in picture.get_attribute("alt")
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 300
    note = "All heads as a still picture; run this cell for the live lab."
    expect(page.get_by_text(note)).to_have_count(count)


def test_the_records_module_can_be_used_alone():
    """The notebook above imports it as a file of its own."""
    assert Head("cross", 0, 0) in WordByWord().attend("a cat").heads("cross")
