"""The two hops on the screen: words light up, and a muted head changes the answer as the data say."""

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_hops import HEADS, Answers
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab import two_hops


@pytest.fixture(scope="module")
def drawing():
    return two_hops(Answers(), FAMOUS, HEADS)


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_beam.py::test_every_step_can_be_read_everywhere"]
)
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


def test_a_muted_head_is_told_as_muted_and_not_with_its_weight(browser, drawing, tmp_path):
    page = open_drawing(browser, drawing, tmp_path)
    page.get_by_role("button", name="Step 5").click()
    expect(page.locator(".sum")).not_to_contain_text("muted")
    before = page.locator("text.encoder").all_text_contents()
    assert any(name.startswith("e2.3 0.") for name in before)
    page.locator("[data-control='mute e2.3']").press("Enter")
    assert page.locator("text.encoder").all_text_contents() == ["e2.3 muted"] * len(before)
    told = page.locator(".sum").inner_text().replace("\n\n", "\n").splitlines()
    assert "The weights are those with all heads on:" in told
    assert told.count("e2.3: muted, it passes nothing on") == 2
    assert sum(line.startswith("c1.2, row of the pronoun: ") for line in told) == 2
    page.context.close()


def test_names_of_arcs_stand_apart_and_left_of_all_arcs(browser, drawing, tmp_path):
    page = open_drawing(browser, drawing, tmp_path, viewport={"width": 390, "height": 700})
    boxes = """all => all.map((one) => one.getBBox()).map(
        ({ x, y, width, height }) => [x, y, x + width, y + height])"""
    for step in (1, 2, 3, 4):
        page.locator(f"[data-control='step {step}']").click()
        if step == 4:
            page.locator("[data-control='mute e2.3']").click()
        for sentence in page.locator(".sentence").all():
            names = sentence.locator("text").evaluate_all(boxes)
            assert names
            for i, (left, top, right, bottom) in enumerate(names):
                assert left >= 0
                for x, y, to, down in names[:i]:
                    # Letters have room above and below that their box counts.
                    apart = right <= x or to <= left or bottom - 3 <= y or down - 3 <= top
                    assert apart, "no name lies on another"
            arcs = sentence.locator("path.encoder").evaluate_all(boxes)
            named = sentence.locator("text.encoder").evaluate_all(boxes)
            most = max((right for _, _, right, _ in named), default=0)
            assert all(left >= most - 1 for left, *_ in arcs)
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
