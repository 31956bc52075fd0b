"""The zoom on the screen: NumPy's numbers, two pictures that fit on each other, and a way back."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_zoom import START, translator, unpack, zoom  # noqa: F401  fixtures
from transformer_lab.numpy_reference import softmax

FOCUSED = "document.activeElement.dataset.control"


def vectors(drawing):
    """Query, key and value of the head to which the steps lead."""
    start = drawing.data["start"]
    part = drawing.data["blocks"][start["block"]]["parts"][start["part"]]
    return (unpack(part[point])[start["head"]] for point in ("query", "key", "value"))


def numbers(page, selector):
    texts = page.locator(selector).all_inner_texts()
    return [float(text.replace("−", "-")) for text in texts]


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_beam.py::test_every_step_can_be_read_everywhere"]
)
def test_every_level_can_be_read_everywhere(browser, zoom, tmp_path):  # noqa: F811
    assert walk(browser, zoom, tmp_path) == 4


def test_the_weight_is_worked_out_as_numpy_does(browser, zoom, tmp_path):  # noqa: F811
    page = open_drawing(browser, zoom, tmp_path, reduced_motion="reduce")
    page.locator("[data-control='step 3']").click()
    query, key, value = vectors(zoom)
    row = zoom.data["start"]["row"]
    for column in (1, 3, 0):
        page.locator(f"[data-control='key {column}']").press("Enter")
        assert page.evaluate(FOCUSED) == f"key {column}"
        scaled = query[row] @ key.T / np.sqrt(query.shape[1])
        shares = softmax(scaled)
        wanted = {
            ".numbers .query": query[row],
            ".numbers .key": key[column],
            ".product": query[row] * key[column],
            ".score": query[row] @ key[column],
            ".scaled": scaled[column],
            ".share": shares[column],
            ".candidates small": scaled,
            ".candidates b": shares,
            ".numbers .value:not(.part, .output)": value[column],
            ".part": shares[column] * value[column],
            ".output": shares @ value,
        }
        for selector, expected in wanted.items():
            found = numbers(page, selector)
            np.testing.assert_allclose(
                found, np.atleast_1d(expected), atol=0.0051, err_msg=selector
            )
        expect(page.locator(".said")).to_contain_text(f"after the softmax {shares[column]:.2f}")
    page.context.close()


def test_one_goes_in_by_enter_and_out_by_escape_and_keeps_the_focus(browser, zoom, tmp_path):  # noqa: F811
    for motion in ("reduce", "no-preference"):
        page = open_drawing(browser, zoom, tmp_path, reduced_motion=motion)
        level = page.locator("[aria-current=step]")
        page.locator("[data-control='block 0']").press("Enter")
        expect(level).to_have_text("Encoder layer 1")
        page.keyboard.press("Enter")
        expect(level).to_have_text("head 4")
        at = re.fullmatch(r"cell (\d) (\d)", page.evaluate(FOCUSED))
        row, column = int(at[1]), int(at[2])
        aside = column + 1 if column < 3 else column - 1
        page.keyboard.press("ArrowRight" if aside > column else "ArrowLeft")
        assert page.evaluate(FOCUSED) == f"cell {row} {aside}"
        page.keyboard.press("Enter")
        words = zoom.data["source"]
        expect(level).to_have_text(f"{words[row]} looks at {words[aside]}")
        expect(page.locator(".said")).to_have_attribute("aria-live", "polite")
        for name, focused in (
            ("head 4", f"cell {row} {aside}"),
            ("Encoder layer 1", "head 0 3"),
            ("Figure 1", "block 0"),
        ):
            page.keyboard.press("Escape")
            expect(level).to_have_text(name)
            assert page.evaluate(FOCUSED) == focused
        expect(page.locator(".out")).to_be_hidden()
        page.keyboard.press("Escape")
        expect(level).to_have_text("Figure 1")
        page.locator("[data-control='next']").press("Enter")
        page.locator("[data-control='next']").press("Escape")
        assert page.evaluate(FOCUSED) == "next", "who stands on the steps stays there"
        page.context.close()


INSIDE = {1: ("block 1", ".layer"), 2: ("head 0 3", "tbody"), 3: ("cell 2 1", ".share")}
"""For each level what was pressed in the one before, and what of the new one it is."""
MIDDLES = """([part, whole]) => [part, whole].map((selector) => {
    const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect();
    return [left + width / 2, top + height / 2, width];
})"""


@pytest.mark.parametrize(("inward", "size"), [(True, 1), (False, 1), (True, 1.3)])
def test_at_each_moment_the_two_pictures_fit_on_each_other(
    browser,
    zoom,  # noqa: F811
    tmp_path,
    inward,
    size,
):
    page = open_drawing(browser, zoom, tmp_path)
    page.evaluate("(size) => { document.body.style.zoom = size; }", size)
    finish = "document.getAnimations().forEach((one) => one.finish())"
    for level in (1, 2, 3) if inward else (3, 2, 1):
        page.locator(f"[data-control='step {level - inward}']").click()
        page.evaluate(finish)
        # What is still leaving does so when its animation has ended.
        expect(page.locator(".leaving")).to_have_count(0)
        page.evaluate(finish)
        page.locator(f"[data-control='step {level - (not inward)}']").click()
        control, whole = INSIDE[level]
        part = f".level-{level - 1} [data-control='{control}']" + (" .map" if level == 2 else "")
        for moment in (0, 130, 450, 770, 899):
            page.evaluate(
                "(at) => document.getAnimations().forEach("
                "(one) => { one.pause(); one.currentTime = at; })",
                moment,
            )
            outer, inner = page.evaluate(MIDDLES, [part, f".level-{level} {whole}"])
            np.testing.assert_allclose(outer, inner, atol=1)
        page.evaluate(finish)
        expect(page.locator(".panel")).to_have_count(1)
    page.context.close()


def test_for_readers_who_want_no_motion_it_jumps(browser, zoom, tmp_path):  # noqa: F811
    page = open_drawing(browser, zoom, tmp_path, reduced_motion="reduce")
    for level in (1, 2, 3, 0):
        page.locator(f"[data-control='step {level}']").click()
        assert page.evaluate("document.getAnimations().length") == 0
        assert page.locator(".panel").count() == 1
    page.context.close()


def test_a_masked_weight_cannot_be_pressed(browser, zoom, tmp_path):  # noqa: F811
    page = open_drawing(browser, zoom, tmp_path, reduced_motion="reduce")
    block = next(i for i, one in enumerate(zoom.data["blocks"]) if one["side"] == "decoder")
    page.locator(f"[data-control='block {block}']").click()
    page.locator("[data-control='head 0 0']").click()
    count = len(zoom.data["target"])
    expect(page.locator("[role=gridcell]")).to_have_count(count * (count + 1) // 2)
    expect(page.locator("td.unseen")).to_have_count(count * (count - 1) // 2)
    page.locator("[data-control='cell 0 0']").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED) == "cell 0 0"
    page.context.close()
