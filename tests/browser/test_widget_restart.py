"""A kernel that is restarted, or dies, under a live explorer: what was shown stays, and rests."""

import pytest
from playwright.sync_api import expect
from tests.browser.test_explorer_lab import check_map, settle, written

from tests.records import WordByWord

CELLS = (
    "from records import WordByWord\nfrom transformer_lab.lab import AttentionExplorer",
    "sentence = 'the cat sees a dog'\n"
    "live = AttentionExplorer(WordByWord(), source=sentence, kind='encoder', layer=0, head=0)\nlive",
)
RECORD = WordByWord().attend("the cat sees a dog")


@pytest.fixture
def live(lab, visit):
    """A live explorer that has answered, in a notebook of its own."""
    visit.open(lab, lab.write("restart.ipynb", CELLS))
    visit.run_all(len(CELLS))
    explorer = visit.page.locator(".tl-explorer")
    expect(explorer).to_have_attribute("data-ready", "true")
    return explorer


def restarted(visit):
    page = visit.page
    page.get_by_role("button", name="Restart the kernel", exact=True).click()
    page.locator(".jp-Dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    page.wait_for_timeout(500)
    visit.wait_until_idle()


def dead(visit):
    """The kernel kills itself, as one does that gets no memory; JupyterLab starts another."""
    visit.cells.first.locator(".cm-content").fill("import os\nos._exit(9)")
    visit.page.keyboard.press("Control+Enter")
    dialog = visit.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("appears to have died", timeout=60_000)
    dialog.get_by_role("button").last.click()


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_explorer_questions.py::test_pictures_beside_a_live_explorer_are_seen_when_it_has_gone"
    ]
)
@pytest.mark.parametrize("gone", [restarted, dead], ids=lambda gone: gone.__name__)
def test_what_was_shown_stays_and_a_cell_that_is_run_again_answers(visit, live, gone):
    live.get_by_label("Sentence to translate").fill("a bird sings")
    expect(written(live)).to_have_text("A BIRD SINGS <eos>")
    settle(live)
    gone(visit)
    what_was_shown_stays(live)
    run_again(visit)
    expect(written(live)).to_have_text("THE CAT SEES A DOG <eos>")
    check_map(live, RECORD.encoder[0][0])


def what_was_shown_stays(live):
    """To look on needs no kernel; to ask does, and that is said at once."""
    shown = WordByWord().attend("a bird sings")
    for head in (0, 1, 0):
        live.locator(".tile").nth(head).click()
        check_map(live, shown.encoder[0][head])
    live.get_by_label("Sentence to translate").fill("two dogs run")
    status = live.get_by_role("status").first
    expect(status).to_contain_text("Run the cell again. The last answer is still shown.")
    expect(written(live)).to_have_text("A BIRD SINGS <eos>")


def run_again(visit):
    visit.cells.first.locator(".cm-content").fill(CELLS[0])
    for number in range(len(CELLS)):
        visit.cells.nth(number).locator(".cm-content").click()
        visit.page.keyboard.press("Control+Enter")
        visit.wait_until_idle()
