"""The explorer in JupyterLab: asked and answered, saved, opened again, trusted or not."""

import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import pixels_of, read_weights, serious
from tests.records import WordByWord, make_record
from transformer_lab.attention.record import Head

SENTENCE = "the cat sees a dog"
CELLS = (
    "import traitlets\n"
    "from records import WordByWord, make_record\n"
    "from transformer_lab.lab import AttentionExplorer, explore\n"
    "translator = WordByWord()\n"
    f"sentence = {SENTENCE!r}",
    "explore(make_record(), kind='encoder', layer=0, pinned=(3, None))",
    "live = AttentionExplorer(translator, source=sentence, head=2)\nlive",
    "other = AttentionExplorer(WordByWord(), source=sentence, layer=0)\n"
    "link = traitlets.link((live, 'layer'), (other, 'layer'))\nother",
    "other.layer = 2\nprint(live.kind, live.layer, live.head, live.pinned)",
    "print(live.record.source_tokens, sorted(live.record.muted), translator.asked)",
)
BUSY = ".status[data-state=busy]"


@pytest.fixture
def notebook(lab) -> str:
    """A notebook with a page and two live explorers, beside the module that it imports."""
    return lab.write("explorer.ipynb", CELLS)


def seen_weights(explorer) -> np.ndarray:
    """The weights of the open map, read off the colours on the screen."""
    cells = explorer.locator(".cells")
    rows = explorer.locator(".queries .label").count()
    columns = explorer.locator(".keys .label").count()
    return read_weights(pixels_of(cells), (rows, columns))


def check_map(explorer, weights):
    explorer.page.mouse.move(2, 2)
    np.testing.assert_allclose(seen_weights(explorer), weights, atol=0.012)


def settle(explorer):
    """Until Python has answered."""
    expect(explorer.locator(BUSY)).to_have_count(0)


def ask(explorer, text):
    explorer.get_by_label("Sentence to translate").fill(text)
    if "slow" in text:
        expect(explorer.locator(BUSY)).to_have_count(1)


def written(explorer):
    return explorer.locator(".sentence .written")


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


def use_theme(page, name):
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.locator(".lm-Menu-item[data-type=submenu]").filter(has_text="Theme").first.hover()
    choice = page.locator('.lm-Menu-item[data-command="apputils:change-theme"]')
    choice.filter(has_text=re.compile(rf"^{name}\s*$")).click()


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_explorer_questions.py::test_two_views_of_one_live_explorer_and_an_answer_that_comes_too_late",
        "tests/browser/test_record_hosts.py::test_in_nbconverts_html_a_record_works_and_a_live_lab_has_its_picture",
    ]
)
def test_asked_and_answered_saved_and_opened_again(lab, visit, notebook):
    visit.open(lab, notebook)
    visit.run_all(len(CELLS))
    page = visit.page
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    still, live, other = (page.locator(".tl-explorer").nth(i) for i in range(3))
    for explorer in (still, live, other):
        expect(explorer).to_have_attribute("data-ready", "true")
    pictures = page.locator(".jp-Notebook .jp-OutputArea img")
    assert [picture.is_visible() for picture in pictures.all()] == [False, False]

    the_page_in_a_cell(still)
    python_and_the_page_show_the_same(visit, live, other)
    another_sentence(live)
    heads_are_muted(live)
    a_row_is_pointed(live)
    what_fails_is_said_and_what_is_slow_is_waited_for(live)
    stale_answers_are_dropped(visit, live)
    both_themes(page)
    assert errors == []
    saved_and_opened_again(lab, visit, notebook)
    assert visit.outside == []


def the_page_in_a_cell(still):
    record = make_record()
    check_map(still, record.encoder[0][0])
    expect(still.locator(".readout")).to_contain_text("a looks at: ")
    still.locator(".cells").focus()
    for key in ("ArrowRight", "ArrowDown"):  # JupyterLab would go to another cell
        still.page.keyboard.press(key)
    expect(still.locator(".readout")).to_contain_text("dog → the: ")
    expect(still.locator(".cells")).to_be_focused()


def python_and_the_page_show_the_same(visit, live, other):
    record = WordByWord().attend(SENTENCE)
    for explorer, head in ((live, 2), (other, 0)):
        name = f"Cross attention, layer 3, head {head + 1}"
        expect(explorer.get_by_role("heading")).to_have_text(name)
        check_map(explorer, record.cross[2][head])
    live.locator(".tile").nth(4).click()
    live.locator(".queries .label").nth(3).click()
    expect(other.get_by_role("heading")).to_have_text("Cross attention, layer 2, head 1")
    live.get_by_role("button", name="Decoder").click()
    assert run_cell(visit, 4).strip() == "decoder 2 1 [3, None]"  # that cell sets the layer
    live.get_by_role("button", name="Cross").click()


def another_sentence(live):
    """By typing, one key after the other: it is asked when the typing rests."""
    box = live.get_by_label("Sentence to translate")
    box.focus()
    live.page.keyboard.press("Control+a")
    live.page.keyboard.type("a bird sings", delay=30)
    expect(written(live)).to_have_text("A BIRD SINGS <eos>")
    expect(box).to_be_focused()
    expect(box).to_have_value("a bird sings")
    assert live.locator(".queries .label").all_inner_texts() == ["A", "BIRD", "SINGS", "<eos>"]
    assert live.locator(".keys .label").all_inner_texts() == ["a", "bird", "sings", "<eos>"]
    check_map(live, WordByWord().attend("a bird sings").cross[2][1])


def heads_are_muted(live):
    """The first by mouse, the second by keyboard; then both speak again."""
    mute = live.get_by_role("button", name="Mute this head")
    mute.click()
    difference = live.locator(".difference")
    expect(difference).to_have_text(
        "Without the change: A BIRD SINGS <eos> With it: SINGS BIRD A <eos> "
    )
    gone, come = (difference.locator(tag).all_inner_texts() for tag in ("del", "ins"))
    assert (len(gone), len(come)) == (2, 2)
    expect(mute).to_have_attribute("aria-pressed", "true")
    muted = live.locator(".tile.muted")
    assert muted.all_inner_texts() == ["3.2  muted"]
    live.locator(".tile").nth(7).focus()
    live.page.keyboard.press("Home")
    mute.focus()
    live.page.keyboard.press("Space")
    expect(muted).to_have_count(2)
    settle(live)
    expect(mute).to_be_focused()
    undo = live.get_by_role("button", name="Undo: Cross 3.2 muted")
    undo.focus()
    live.page.keyboard.press("Enter")
    expect(muted).to_have_count(1)
    settle(live)
    assert live.locator(":focus").count() == 1, "the focus is still here"
    mute.click()
    expect(difference).to_have_text("Translated by the model as it is.")
    expect(written(live)).to_have_text("A BIRD SINGS <eos>")
    expect(live.locator(".interventions")).to_contain_text("Nothing is changed.")
    # Nothing jumps away under the pointer when the next answer comes.
    before = mute.bounding_box()
    mute.click()
    expect(muted).to_have_count(1)
    settle(live)
    assert mute.bounding_box()["y"] == pytest.approx(before["y"], abs=2)
    mute.click()
    expect(muted).to_have_count(0)
    settle(live)


def a_row_is_pointed(live):
    """Row 2 at column 1 by mouse, then row 0 at column 3 by keyboard."""
    record = WordByWord().attend("a bird sings")
    point = live.get_by_role("button", name="All weight of the pinned row on the pinned column")
    expect(live.get_by_role("button", name="Pin a cell first")).to_be_disabled()
    live.locator(".cells").click(position={"x": 1.5 * 30, "y": 2.5 * 30})
    point.click()
    expect(live.locator(".difference")).to_contain_text("SINGS BIRD A")
    weights = record.cross[0][0].copy()
    weights[2] = np.eye(4)[1]
    check_map(live, weights)
    live.locator(".cells").focus()
    for key in ("Escape", "ArrowDown", *["ArrowRight"] * 3, "Enter"):
        live.page.keyboard.press(key)
    point.focus()
    live.page.keyboard.press("Enter")
    undo = live.get_by_role("button", name="Undo: ")
    expect(undo).to_have_count(2)
    settle(live)
    weights[0] = np.eye(4)[3]
    check_map(live, weights)
    undo.first.click()
    expect(undo).to_have_count(1)
    settle(live)
    undo.first.click()
    expect(live.locator(".difference")).to_have_text("Translated by the model as it is.")
    settle(live)
    check_map(live, record.cross[0][0])
    live.locator(".cells").focus()
    live.page.keyboard.press("Escape")


def what_fails_is_said_and_what_is_slow_is_waited_for(live):
    record = WordByWord().attend("a bird sings")
    status = live.get_by_role("status").first
    ask(live, "a bad bird")
    reason = "there is no such word: 'bad'. The last answer is still shown."
    expect(status).to_have_text(reason)
    expect(written(live)).to_have_text("A BIRD SINGS <eos>")
    check_map(live, record.cross[0][0])
    expect(live.get_by_label("Sentence to translate")).to_have_value("a bad bird")
    # A head that could not be muted is not shown as muted.
    live.get_by_role("button", name="Mute this head").click()
    expect(status).to_have_text(reason)
    expect(live.locator(".tile.muted")).to_have_count(0)
    ask(live, "a slow bird")
    expect(status).to_have_text("Python is translating …")
    turning = "e => getComputedStyle(e, '::before').animationName"
    assert status.evaluate(turning) == "tl-explorer-turn"
    check_map(live, record.cross[0][0])
    expect(written(live)).to_have_text("A SLOW BIRD <eos>")
    expect(status).to_have_text("")


def stale_answers_are_dropped(visit, live):
    """While a slow answer is on its way the reader goes on typing: it is never shown."""
    live.evaluate(
        "root => { root.seen = []; new MutationObserver(() => root.seen.push("
        "root.querySelector('.sentence').innerText)).observe(root.querySelector('.sentence'), "
        "{ childList: true, subtree: true }) }"
    )
    ask(live, "one slow cat")
    live.page.wait_for_timeout(500)
    box = live.get_by_label("Sentence to translate")
    box.fill("")
    box.press_sequentially("two dogs run", delay=40)
    expect(written(live)).to_have_text("TWO DOGS RUN <eos>")
    settle(live)
    assert not any("CAT" in text for text in live.evaluate("root => root.seen"))
    # A dropped answer is the last answer, if what follows it fails.
    ask(live, "slow mice")
    live.page.wait_for_timeout(500)
    box.fill("bad mice")
    expect(live.locator(".status[data-state=failed]")).to_have_count(1)
    expect(written(live)).to_have_text("SLOW MICE <eos>")
    expect(box).to_have_value("bad mice")
    said = run_cell(visit, 5)
    assert said.startswith("('slow', 'mice', '<eos>') []"), "Python's record is what is shown"
    assert said.count("'two") <= 2, "not each letter was asked for"
    ask(live, SENTENCE)
    expect(written(live)).to_have_text("THE CAT SEES A DOG <eos>")


def both_themes(page):
    for name, theme in (("JupyterLab Dark", "dark"), ("JupyterLab Light", "light")):
        use_theme(page, name)
        for explorer in page.locator(".tl-explorer").all():
            expect(explorer).to_have_attribute("data-theme", theme)
        assert serious(page, ".tl-explorer") == []


def saved_and_opened_again(lab, visit, notebook):
    page = visit.page
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    path = Path(lab.folder / notebook)
    copy = nbformat.read(path, as_version=4)
    assert copy.cells[1].outputs
    # By its author: the page works as before, and where the live one was there is its picture.
    shutil.copy(path, lab.folder / "again.ipynb")  # opened with a kernel that knows no widget
    page.goto(f"{lab.url}/lab/tree/again.ipynb?reset")
    still = page.locator(".tl-explorer")
    expect(still).to_have_count(1)
    expect(still).to_have_attribute("data-ready", "true")
    still.get_by_role("button", name="Cross").click()
    check_map(still, make_record().cross[0][0])
    check_pictures(page, 2)
    # By somebody else, whose signature this machine has not got: pictures, with their words.
    copy.cells.append(nbformat.v4.new_markdown_cell("Not signed."))
    nbformat.write(copy, lab.folder / "untrusted.ipynb")
    page.goto(f"{lab.url}/lab/tree/untrusted.ipynb?reset")
    expect(visit.cells.first).to_be_visible()
    check_pictures(page, 3)
    assert page.locator(".tl-explorer").count() == 0


def check_pictures(page, count):
    pictures = page.locator(".jp-Notebook .jp-OutputArea img")
    expect(pictures).to_have_count(count)
    for picture in pictures.all():
        assert picture.is_visible()
        assert " attention of " in picture.get_attribute("alt")
        assert picture.evaluate("image => image.complete && image.naturalWidth") > 300


def test_the_records_module_can_be_used_alone():
    """The notebook above imports it as a file of its own."""
    assert Head("cross", 0, 0) in WordByWord().attend("a cat").heads("cross")
