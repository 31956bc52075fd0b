"""The play button, the same in every drawing: it goes on by itself until the reader presses."""

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing
from tests.drawings import DRAWINGS

LETTER, LEAST = 45, 2500
"""Milliseconds, as in steps.js."""


@pytest.fixture
def opened(browser, tmp_path):
    """A drawing's page, whose time stands still until the test lets it pass."""
    pages = []

    def opened(name="stream", **options):
        page = open_drawing(
            browser, DRAWINGS[name](), tmp_path, **{"reduced_motion": "reduce"} | options
        )
        page.clock.install(time=0)
        page.clock.pause_at(1000)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.context.close()


def current(page):
    return int(page.locator("[aria-current=step]").get_attribute("data-control").split()[1])


def wait(page):
    """Let just so much time pass as the step is to be read in; the step must have stayed until then."""
    step = current(page)
    page.clock.run_for(max(LEAST, LETTER * len(page.locator(".said").text_content())) - 1)
    assert current(page) == step
    page.clock.run_for(1)


def test_it_plays_to_the_last_step_and_stops_and_from_there_begins_again(opened):
    page = opened()
    play = page.locator("[data-control=play]")
    expect(play).to_have_attribute("aria-label", "Play all steps")
    page.clock.run_for(600_000)
    assert current(page) == 0, "nothing plays by itself"
    play.click()
    expect(play).to_have_attribute("aria-label", "Pause")
    for step in range(1, 7):
        assert current(page) == step
        wait(page)
    assert current(page) == 7
    expect(play).to_have_attribute("aria-label", "Play all steps")
    page.clock.run_for(600_000)
    assert current(page) == 7
    play.click()
    assert current(page) == 0
    wait(page)
    assert current(page) == 1


def test_a_step_with_more_to_read_stays_longer(opened):
    page = opened("family")
    page.locator("[data-control=play]").click()
    long = len(page.locator(".said").text_content())
    assert LETTER * long > LEAST
    page.clock.run_for(LETTER * long - 1)
    assert current(page) == 1


PRESSES = {
    "a step": lambda page: page.locator("[data-control='step 2']").click(),
    "one back": lambda page: page.locator("[data-control=back]").click(),
    "an arrow": lambda page: page.locator("[data-control='step 1']").press("ArrowRight"),
    "a control of the drawing": lambda page: page.locator("[data-control='number 2']").click(),
    "a key in the drawing": lambda page: page.locator("[data-control='number 2']").press("Enter"),
    "pause": lambda page: page.locator("[data-control=play]").click(),
    "space": lambda page: page.locator("[data-control=next]").press(" "),
}


@pytest.mark.parametrize("press", PRESSES)
def test_any_press_of_the_reader_stops_it(opened, press):
    page = opened()
    page.locator("[data-control=play]").click()
    PRESSES[press](page)
    step = current(page)
    expect(page.locator("[data-control=play]")).to_have_attribute("aria-label", "Play all steps")
    page.clock.run_for(600_000)
    assert current(page) == step


def test_the_way_to_the_button_by_keyboard_does_not_stop_it(opened):
    page = opened()
    play = page.locator("[data-control=play]")
    play.focus()
    page.keyboard.press(" ")
    expect(play).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(play).to_be_focused()
    expect(play).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("Enter")
    expect(play).to_have_attribute("aria-label", "Play all steps")


def test_space_presses_the_button_that_has_the_focus(opened):
    page = opened()
    page.locator("[data-control='step 5']").press(" ")
    assert current(page) == 5
    page.locator("[data-control='number 2']").press(" ")
    expect(page.locator("[data-control='number 2']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-control=play]")).to_have_attribute("aria-label", "Play all steps")


def test_at_the_end_the_keyboard_keeps_its_place(opened):
    page = opened()
    page.locator("[data-control='step 6']").click()
    page.locator("[data-control=next]").focus()
    page.keyboard.press(" ")
    assert current(page) == 7
    expect(page.locator("[data-control=play]")).to_be_focused()


@pytest.mark.parametrize("go", ["root.remove()", "root.parentElement.style.display = 'none'"])
def test_a_drawing_that_has_left_the_page_or_is_folded_away_plays_no_longer(opened, go):
    page = opened()
    page.evaluate("window.root = document.querySelector('.tl-stream')")
    page.locator("[data-control=play]").click()
    page.evaluate(go)
    page.clock.run_for(600_000)
    current = "root.querySelector('[aria-current=step]').dataset.control"
    assert page.evaluate(current) == "step 1"


def test_with_reduced_motion_it_plays_and_nothing_moves(opened):
    page = opened("stepper")
    page.locator("[data-control=play]").click()
    for step in range(1, 6):
        assert current(page) == step
        assert page.evaluate("document.getAnimations().length") == 0
        assert page.locator(".ghost").count() == 0
        wait(page)
