"""The decks in a browser: nothing overflows, nothing is fetched, pieces answer, and they print."""

import re

import pytest

from tests.thorough import thorough_from
from tools.build_notebooks import lessons
from tools.slides.__main__ import build
from tools.slides.deck import deck
from transformer_lab.course.keys import lesson_key

SCREEN = {"width": 1280, "height": 720}
PATHS = lessons()
OVERFLOWING = """() => {
  const found = [];
  const leaves = ["img", "svg", "table", "canvas", "iframe", "pre", "p", "h2", "button", "input"];
  const look = (root, right, bottom, where) => {
    for (const part of root.querySelectorAll(leaves.join())) {
      const box = part.getBoundingClientRect();
      const seen = part.checkVisibility({ visibilityProperty: true }) && box.width > 2 && box.height > 2;
      if (seen && (box.right > right + 1 || box.bottom > bottom + 1 || box.left < -1 || box.top < -1))
        found.push(`${where}: ${part.tagName} reaches ${[box.right, box.bottom].map(Math.round)}`);
    }
  };
  const slide = document.querySelector(".slides > section.present .slide");
  look(slide, 1280, 700, slide.querySelector("h2").innerText);
  for (const frame of slide.querySelectorAll("iframe")) {
    const { documentElement, body } = frame.contentDocument;
    // The lab and the record of 48 heads scroll in their place.
    if (documentElement.style.overflow === "auto") found.push(`scrolls: ${frame.dataset.piece}`);
    else look(body, frame.clientWidth, frame.clientHeight, frame.dataset.piece);
  }
  return found;
}"""
SMALL = """() => [...document.querySelectorAll("h2, .text, .printed, .code")].filter(
  (words) => parseFloat(getComputedStyle(words).fontSize) < 24).map((words) => words.innerText)"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """All decks, built once."""
    folder = tmp_path_factory.mktemp("slides")
    build(PATHS, folder)
    return folder


@pytest.fixture
def open_deck(browser, decks):
    """Open a lesson's deck; at the end no error may have come, and no other machine been asked."""
    context = browser.new_context(viewport=SCREEN)
    page = context.new_page()
    errors, requests = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: m.type in ("error", "warning") and errors.append(m.text))
    page.on("request", lambda request: requests.append(request.url))

    def visit(lesson, query=""):
        (path,) = (path for path in PATHS if lesson_key(path) == lesson)
        page.goto((decks / f"{path.stem}.html").as_uri() + query)
        page.locator("body[data-ready]").wait_for(timeout=60_000)
        return page

    yield visit
    assert errors == []
    here = (decks.as_uri() + "/", "data:", "blob:", "about:")
    assert [url for url in requests if not url.startswith(here)] == []
    context.close()


def go_to(page, slide):
    """Show a slide, counted from 1."""
    page.evaluate(f'location.hash = "#/{slide - 1}"')
    page.locator(f".slides > section:nth-of-type({slide}).present").wait_for()


def slide_of(page, kind):
    """Go to the first slide with a piece of this kind; what is in its frame."""
    slides = page.locator(".slides > section")
    kinds = slides.evaluate_all("all => all.map((s) => s.querySelector('iframe')?.dataset.piece)")
    go_to(page, kinds.index(kind) + 1)
    return page.frame_locator(f"section.present iframe[data-piece={kind}]")


@pytest.mark.slow
@pytest.mark.parametrize("path", thorough_from(1, PATHS), ids=lambda path: path.stem)
def test_nothing_overflows_a_slide(open_deck, path):
    page = open_deck(lesson_key(path))
    count = page.locator(".slides > section").count()
    assert count == len(deck(path).slides)
    found = []
    for slide in range(1, count + 1):
        go_to(page, slide)
        found += page.evaluate(OVERFLOWING)
    scrolling = {
        "00": ["scrolls: lab"],
        "11": ["scrolls: record"] * 2,
        "18": ["scrolls: record"],
    }
    assert found == scrolling.get(lesson_key(path), [])
    assert page.evaluate(SMALL) == []


def test_a_drawing_steps_in_its_slide_and_keys_are_shared(open_deck):
    page = open_deck("01")
    frame = slide_of(page, "player")
    here = page.url
    frame.get_by_role("button", name="One step forward").click()
    current = frame.locator("[aria-current=step]")
    assert current.inner_text() == "scores"
    # Arrows are the drawing's while it has the focus; page keys are always the deck's.
    current.focus()
    page.keyboard.press("ArrowRight")
    assert current.inner_text() == "scaled scores"
    assert page.url == here
    page.keyboard.press("PageDown")
    page.wait_for_url(lambda url: url != here)
    page.keyboard.press("PageUp")
    page.wait_for_url(here)
    current.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != here)
    left = page.frame_locator("iframe[data-piece=player]").locator("[aria-current=step]")
    assert left.text_content() == "scaled scores"


@pytest.mark.thorough(caught_by=["test_nothing_overflows_a_slide"])
@pytest.mark.slow
@pytest.mark.parametrize(
    ("lesson", "kind"),
    thorough_from(
        1, [("03", "slabs"), ("05", "stream"), ("06", "stepper"), ("10", "beam"), ("12", "hops")]
    ),
)
def test_a_drawing_that_grows_with_its_steps_still_fits(open_deck, lesson, kind):
    page = open_deck(lesson)
    frame = slide_of(page, kind)
    on = frame.get_by_role("button", name="One step forward")
    while on.is_enabled():
        on.click()
        page.wait_for_timeout(100)  # it is made smaller before the next picture on the screen
        assert page.evaluate(OVERFLOWING) == []


@pytest.mark.thorough(
    caught_by=["tests/browser/test_drawings.py::test_a_quiz_answers_and_counts_first_choices"]
)
def test_a_quiz_answers_in_its_slide_and_shows_one_question(open_deck):
    frame = slide_of(open_deck("01"), "quiz")
    assert frame.locator("form:visible").count() == 1
    frame.locator("label:visible").first.click()
    assert re.match(r"(Right|No)\.", frame.locator(".reply:visible").inner_text())


def test_a_record_and_the_lab_answer_in_their_slides(open_deck):
    page = open_deck("00")
    record = slide_of(page, "record")
    record.get_by_role("button", name="As a map").click()
    record.locator(".weight-map table").wait_for()
    lab = slide_of(page, "lab")
    lab.get_by_role("button", name="wide", exact=True).click()
    lab.get_by_text("elle", exact=True).first.wait_for()


@pytest.mark.thorough(
    caught_by=["tests/browser/test_drawings.py::test_a_slider_shows_the_picture_of_each_value"]
)
def test_a_slider_moves_in_its_slide(open_deck):
    frame = slide_of(open_deck("01"), "frames")
    before = frame.locator("img").get_attribute("alt")
    frame.locator("input[type=range]").fill("20")
    assert frame.locator("img").get_attribute("alt") != before


def test_a_picture_that_is_too_tall_stands_in_two_columns(open_deck):
    page = open_deck("07")
    titles = page.locator(".slides > section h2").all_text_contents()
    go_to(page, 1 + titles.index("One sentence goes through a layer of the encoder"))
    frame = page.frame_locator("section.present iframe[data-piece=frames]")
    halves = frame.locator("canvas:visible")
    assert halves.count() == 2
    assert frame.locator("img:visible").count() == 0
    before = halves.first.get_attribute("aria-label")
    assert "layer 2" in before
    frame.locator("input[type=range]").fill("0")
    frame.locator("canvas[aria-label*='layer 1']").wait_for()


@pytest.mark.thorough(caught_by=["test_the_list_leads_to_each_deck"])
def test_the_notes_are_the_guides(open_deck):
    page = open_deck("01")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    notes = speaker.locator(".speaker-controls-notes .value")
    notes.filter(has_text="Write equation 1 from an empty file").wait_for()
    assert "Minutes 0 to 8." in notes.inner_text()


@pytest.mark.thorough(
    caught_by=["test_nothing_overflows_a_slide", "test_the_list_leads_to_each_deck"]
)
@pytest.mark.slow
def test_a_deck_prints_a_page_for_each_slide(open_deck):
    page = open_deck("01", "?print-pdf")
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    pages = re.findall(rb"/Type\s*/Page\b(?!s)", printed)
    (path,) = (path for path in PATHS if lesson_key(path) == "01")
    assert len(pages) == len(deck(path).slides)


def test_the_list_leads_to_each_deck(browser, decks):
    context = browser.new_context(viewport=SCREEN)
    page = context.new_page()
    page.goto((decks / "index.html").as_uri())
    links = page.get_by_role("listitem").get_by_role("link")
    names = links.evaluate_all("all => all.map((link) => link.getAttribute('href'))")
    assert names == [f"{path.stem}.html" for path in PATHS]
    assert all((decks / name).exists() for name in names)
    context.close()
