"""The two hops on the screen: words light up, and a muted head changes the answer as the data say."""

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.viz.test_hops import HEADS, Answers
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.viz import two_hops


@pytest.fixture(scope="module")
def drawing():
    return two_hops(Answers(), FAMOUS, HEADS)


def test_every_step_can_be_read_everywhere(browser, drawing, tmp_path):
    assert walk(browser, drawing, tmp_path) == 5


def test_muted_heads_change_the_bars_to_the_models_answer(browser, drawing, tmp_path):
    page = open_drawing(browser, drawing, tmp_path)
    page.get_by_role("button", name="Step 5").click()
    muted = 0
    for head in (1, 2, 1, 0):
        page.locator(".switches button").nth(head).press("Enter")
        muted ^= 1 << head
        for pair, told in zip(page.locator(".sentence").all(), drawing.data["pairs"], strict=True):
            numbers = [float(text) for text in pair.locator(".bars div > span").all_inner_texts()]
            assert numbers == pytest.approx(told["answers"][muted], abs=0.0051)
            best = drawing.data["pronouns"][numbers.index(max(numbers))]
            expect(pair.locator(f"[data-control$='written {told['step']}']")).to_have_text(best)
    expect(page.locator(".said")).to_contain_text("Without e2.3 and c2.3")
    page.context.close()


def test_a_chosen_words_row_is_drawn_in_both_sentences(browser, drawing, tmp_path):
    page = open_drawing(browser, drawing, tmp_path)
    page.get_by_role("button", name="Step 2").click()
    for place in (0, 7):
        page.locator(f"[data-control='1 source {place}']").press("Enter")
        expect(page.locator(f"[data-control='1 source {place}']")).to_be_focused()
        for number, told in enumerate(drawing.data["pairs"]):
            row = told["maps"][0][place]
            drawn = page.locator(".sentence").nth(number).locator("path.encoder")
            assert drawn.count() == sum(weight >= 0.02 for weight in row)
            widest = max(float(path.get_attribute("stroke-width")) for path in drawn.all())
            assert widest == pytest.approx(9 * max(row), abs=0.06)
    page.context.close()
