"""The growing beam on the screen: each step shows one length more, and a press works a number out."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.viz.test_beam_tree import KEPT, PARENTS, VALUES
from tests.viz.test_growing_beam import GIVEN
from transformer_lab.viz import growing_beam


def test_every_step_can_be_read_everywhere(browser, tmp_path):
    assert walk(browser, growing_beam(**GIVEN), tmp_path) == 5


def test_a_step_shows_the_beginnings_so_far_and_what_became_of_them(browser, tmp_path):
    drawn = growing_beam(**GIVEN)
    page = open_drawing(browser, drawn, tmp_path)
    for step, column in enumerate(drawn.data["columns"]):
        page.locator(f"[data-control='step {step}']").click()
        seen = [node for nodes in drawn.data["columns"][: step + 1] for node in nodes]
        expect(page.locator(".node")).to_have_count(len(seen))
        expect(page.locator(".node.dropped")).to_have_count(len(set(seen) - KEPT))
        if step:
            kept = len(KEPT.intersection(column))
            expect(page.locator(".said")).to_contain_text(f"{len(column)} candidates. {kept} kept")
    page.locator("[data-control='step 4']").click()
    expect(page.locator(".node.lit")).to_have_count(4)  # the winner's path
    page.context.close()


@pytest.mark.parametrize("node", [2, 4, 6])
def test_a_beginnings_number_is_its_parents_and_its_own_words(browser, tmp_path, node):
    page = open_drawing(browser, growing_beam(**GIVEN), tmp_path)
    page.locator("[data-control='step 3']").click()
    page.locator(f"[data-control='node {node}']").press("Enter")
    text = page.locator(".sum").inner_text().replace("−", "-")
    before, own, whole, chance, _ = (
        float(n.replace(" ", "")) for n in re.findall(r"-? ?\d+\.\d+", text.partition("=")[2])
    )
    assert (before, whole) == pytest.approx((VALUES[PARENTS[node]], VALUES[node]), abs=0.006)
    assert before + own == pytest.approx(whole, abs=0.011)
    assert chance == pytest.approx(math.exp(own), abs=0.006)
    page.context.close()
