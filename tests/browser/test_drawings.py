"""What lessons hold beside the lab, in a browser: it moves and answers without a kernel."""

import json
import re

import ipywidgets
import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.thorough import thorough_from
from transformer_lab.course.quiz.questions import Question
from transformer_lab.course.quiz.quiz import Quiz
from transformer_lab.figures import weight_bars
from transformer_lab.lab import attention_player
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.drawing import fragment
from transformer_lab.lab.sliders import draw_frames
from transformer_lab.numpy_reference import scaled_dot_product_attention

WORDS = ["the", "<b>", "שלום"]
RANDOM = np.random.default_rng(11)
INPUTS = RANDOM.normal(size=(3, 7))
QUERY, KEY = (INPUTS @ weights for weights in RANDOM.normal(size=(2, 7, 5)))
VALUE = INPUTS @ RANDOM.normal(size=(7, 2))
QUIZ = Quiz(
    [
        Question("Is <b>this</b> bold?", (("no", "Text is text."), ("yes", "Look again.")), 0),
        Question("Which?", (("a", "Not a."), ("b", "It is b."), ("c", "Not c.")), 1),
    ]
)


@pytest.fixture(scope="module")
def player_page(tmp_path_factory):
    drawing = attention_player(WORDS, QUERY, KEY, VALUE, inputs=INPUTS, row=1)
    return drawing.to_html(tmp_path_factory.mktemp("drawings") / "player.html")


def page_of(tmp_path, body):
    return saved.write_page(tmp_path / "page.html", "page", body, overwrite=False)


def numbers(page, place):
    """The numbers of the matrix in this place of the player."""
    rows = page.locator(".grid").nth(place).locator("tbody tr").all()
    read = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    return [[float(text.replace("−", "-") or "nan") for text in row] for row in read]


def go_to(page, step):
    page.get_by_role("button", name=re.compile(rf"Step \d of \d: {re.escape(step)}$")).click()


def test_the_matrices_are_numpys_and_come_one_after_the_other(visit_page, player_page):
    page = visit_page(player_page).page
    output, weights = scaled_dot_product_attention(QUERY, KEY, VALUE)
    scores = QUERY @ KEY.T
    steps = [
        ("X", 0, INPUTS),
        ("Q, K, V", 1, QUERY),
        ("Q, K, V", 2, KEY),
        ("Q, K, V", 3, VALUE),
        ("scores", 4, scores),
        ("scaled scores", 5, scores / 5**0.5),
        ("weights", 6, weights),
        ("output", 7, output),
    ]
    for step, place, expected in steps:
        if place:
            assert np.isnan(numbers(page, place)).all() or step == "Q, K, V"
        go_to(page, step)
        found = np.nan_to_num(
            np.array(numbers(page, place))
        )  # a small weight stands without number
        np.testing.assert_allclose(found, expected, atol=0.046 if step == "weights" else 0.0051)


def test_the_sum_of_the_chosen_row_is_worked_out(visit_page, player_page):
    page = visit_page(player_page).page
    go_to(page, "scores")
    page.locator(".grid").nth(4).locator("tbody tr").nth(2).locator("td").nth(0).click()
    sum_ = page.locator(".sum").inner_text()
    assert f"= {QUERY[2] @ KEY[0]:.2f}".replace("-", "−").rstrip("0") in sum_
    assert "query of “שלום” · key of “the”" in re.sub(r"[\u2066-\u2069]", "", sum_)
    rows = [page.locator(".grid").nth(place).locator("tr") for place in (0, 1, 2, 4)]
    marks = [("lit", "שלום"), ("lit", "שלום"), ("found", "the"), ("lit", "שלום")]
    for found, (mark, text) in zip(rows, marks, strict=True):
        expect(found.and_(page.locator(f".{mark}")).locator("th")).to_have_text(text)


def test_the_steps_go_by_keyboard_and_end_where_they_end(visit_page, player_page):
    page = visit_page(player_page, reduced_motion="reduce").page
    current = page.locator("[aria-current=step]")
    page.get_by_role("button", name="One step forward").focus()
    seen = [current.inner_text()]
    for key in ["ArrowRight"] * 6 + ["ArrowLeft"]:
        page.keyboard.press(key)
        seen.append(current.inner_text())
    assert seen == [
        "X",
        "Q, K, V",
        "scores",
        "scaled scores",
        "weights",
        "output",
        "output",
        "weights",
    ]
    assert page.locator(".ghost").count() == 0, "who wants no motion gets none"


def test_rows_move_to_where_they_are_used_and_leave_nothing_behind(visit_page, player_page):
    page = visit_page(player_page).page
    go_to(page, "scores")
    expect(page.locator(".ghost.query")).to_have_count(3)
    expect(page.locator(".ghost")).to_have_count(0)


def test_a_slider_shows_the_picture_of_each_value(visit_page, tmp_path):
    def draw(value):
        return weight_bars(np.full((1, 2), value / 2), ["x"], ["a", "b"]), f"bars at {value}"

    data = draw_frames(draw, ipywidgets.IntSlider(min=0, max=2, value=1, description="times"))
    page = visit_page(
        page_of(tmp_path, fragment("frames", "<p>still</p>", saved.dump_json(data)))
    ).page
    image, slider = page.locator("img"), page.get_by_role("slider", name="times")
    expect(image).to_have_attribute("alt", "bars at 1")
    shown = image.get_attribute("src")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(image).to_have_attribute("alt", "bars at 2")
    assert image.get_attribute("src") != shown
    assert image.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }")
    expect(slider).to_have_attribute("aria-valuetext", "2")


def test_a_quiz_answers_and_counts_first_choices(visit_page, tmp_path):
    page = visit_page(page_of(tmp_path, QUIZ.page())).page
    assert page.locator("legend").first.inner_text() == "1. Is <b>this</b> bold?"
    replies = page.locator(".reply")
    page.get_by_label("yes").check()
    expect(replies.nth(0)).to_have_text("No. Look again.")
    page.get_by_label("no", exact=True).check()
    expect(replies.nth(0)).to_have_text("Right. Text is text.")
    expect(page.locator(".standing")).to_be_empty()
    page.get_by_label("b", exact=True).check()
    expect(page.locator(".standing")).to_have_text("1 of 2 right on the first try.")


def test_without_scripts_the_words_and_folded_answers_are_there(visit_page, tmp_path):
    drawing = attention_player(WORDS, QUERY, KEY, VALUE)
    path = page_of(tmp_path, drawing._repr_mimebundle_()["text/html"] + QUIZ.page())
    page = visit_page(path, java_script_enabled=False).page
    expect(page.get_by_text(drawing.alt)).to_be_visible()
    expect(page.locator("summary")).to_have_count(5)
    expect(page.get_by_text("It is b.")).to_be_hidden()
    page.locator("summary", has_text="a. a").click()
    expect(page.get_by_text("Not a.")).to_be_visible()
    expect(page.get_by_text("It is b.")).to_be_hidden()


@pytest.mark.parametrize("scheme", thorough_from(1, ["light", "dark"]))
@pytest.mark.parametrize("width", [1240, 390])
def test_folded_answers_can_be_read_by_everyone(browser, tmp_path, scheme, width):
    path = page_of(tmp_path, QUIZ.page().partition("<script")[0])  # axe-core is a script itself
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(path.as_uri())
    for summary in page.locator("summary").all():
        summary.click()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


@pytest.mark.parametrize(
    ("scheme", "width"),
    thorough_from(1, [("light", 390), ("light", 1240), ("dark", 390), ("dark", 1240)]),
)
def test_each_step_can_be_read_by_everyone(visit_page, tmp_path, scheme, width):
    drawing = attention_player(WORDS, QUERY, KEY, VALUE, inputs=INPUTS)
    player = drawing._repr_mimebundle_()["text/html"]
    data = {
        "label": "x",
        "start": 0,
        "pictures": [{"name": "1", "alt": "a", "width": 9, "webp": ""}],
    }
    body = player + fragment("frames", "", json.dumps(data)) + QUIZ.page()
    viewport = {"width": width, "height": 900}
    page = visit_page(page_of(tmp_path, body), viewport=viewport, color_scheme=scheme).page
    page.get_by_label("yes").check()
    for step in ("X", "scores", "output"):
        go_to(page, step)
        expect(page.locator(".ghost")).to_have_count(0)
        assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
