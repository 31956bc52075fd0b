"""The flow on the screen: a box is a step, and what is shown of it is its own matrix."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_flow import drawn, translator  # noqa: F401  fixtures


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_beam.py::test_every_step_can_be_read_everywhere"]
)
def test_every_step_can_be_read_everywhere(browser, drawn, tmp_path):  # noqa: F811
    assert walk(browser, drawn, tmp_path) == len(drawn.data["boxes"])


def test_each_box_shows_its_shape_and_says_what_is_left_out(browser, drawn, tmp_path):  # noqa: F811
    page = open_drawing(browser, drawn, tmp_path)
    for number, box in enumerate(drawn.data["boxes"]):
        page.locator(f"[data-control='step {number}']").click()
        caption = page.locator(".panel > figure figcaption")
        rows, columns = box["shape"]
        expect(caption).to_contain_text(f"{rows} words × {columns}")
        shown = len(box["values"][0])
        expect(caption).to_contain_text(
            f"{shown} of the" if "columns" in box else f"{shown} of {columns}"
        )
        expect(page.locator(".panel > figure tbody tr")).to_have_count(rows)
        expect(page.locator(".maps figure")).to_have_count(len(box.get("maps", ())))
    page.context.close()


def test_the_first_number_of_a_chosen_word_is_worked_out(browser, drawn, tmp_path):  # noqa: F811
    page = open_drawing(browser, drawn, tmp_path)
    boxes = drawn.data["boxes"]
    for number in (1, 3, 5, 10):
        page.locator(f"[data-control='step {number}']").click()
        page.locator("[data-control='out 1']").press("Enter")
        text = page.locator(".sum").inner_text().replace("−", "-")
        parts = [float(part.replace(" ", "")) for part in re.findall(r"-? ?\d+\.?\d*", text)]
        before, added, total = parts[0], parts[1], parts[3] if number == 1 else parts[2]
        assert before + added == pytest.approx(total, abs=0.011)
        after = total if number == 1 else parts[3]
        assert after == pytest.approx(boxes[number]["values"][1][0])
    page.context.close()
