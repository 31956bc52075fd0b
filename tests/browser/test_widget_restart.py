"""A kernel that is restarted, or dies, under a live lab: what was shown stays, and rests."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_widget_lab import ask, check_map, open_head, settle, writes
from tests.records import WordByWord

CELLS = (
    "from records import WordByWord\nimport transformer_lab as tl",
    "sentence = 'the cat sees a dog'\n"
    "live = tl.lab(WordByWord(), sentence, kernel=True, start='head=e1.1&view=map')\nlive",
)
RECORD = WordByWord().attend("the cat sees a dog")


@pytest.fixture
def live(lab, visit):
    """A live lab that has answered, in a notebook of its own."""
    visit.open(lab, lab.write("restart.ipynb", CELLS))
    visit.run_all(len(CELLS))
    view = visit.page.locator(".tl-lab")
    expect(view).to_have_attribute("data-ready", "true")
    return view


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
        "tests/browser/test_widget_questions.py::test_a_question_that_cannot_be_sent_is_said_and_the_next_one_is_asked"
    ]
)
@pytest.mark.parametrize("gone", [restarted, dead], ids=lambda gone: gone.__name__)
def test_what_was_shown_stays_and_a_cell_that_is_run_again_answers(visit, live, gone):
    ask(live, "a bird sings")
    writes(live, "ABIRDSINGS<eos>")
    settle(live)
    gone(visit)
    what_was_shown_stays(live)
    run_again(visit)
    writes(live, "THECATSEESADOG<eos>")
    check_map(live, RECORD.encoder[0][0])


def what_was_shown_stays(live):
    """To look on needs no kernel; to ask does, and that is said at once."""
    shown = WordByWord().attend("a bird sings")
    for head in (1, 0, 1):
        open_head(live, f"e1.{head + 1}")
        check_map(live, shown.encoder[0][head])
    problem = live.locator(".problem")
    gone = (
        "The kernel has been restarted, so it can't answer. Run the cell again. The last answer is "
        "still shown below."
    )
    ask(live, "two dogs run")
    expect(problem).to_have_text(gone)
    writes(live, "ABIRDSINGS<eos>")
    live.get_by_role("button", name="Mute it").click()
    expect(live.get_by_role("button", name="Unmute it")).to_have_count(0)
    expect(problem).to_have_text(gone)


def run_again(visit):
    visit.cells.first.locator(".cm-content").fill(CELLS[0])
    for number in range(len(CELLS)):
        visit.cells.nth(number).locator(".cm-content").click()
        visit.page.keyboard.press("Control+Enter")
        visit.wait_until_idle()
