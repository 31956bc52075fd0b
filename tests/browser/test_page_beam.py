"""The growing beam on the screen: each step shows one length more, and a press works a number out."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_growing_beam import GIVEN, KEPT, PARENTS, VALUES
from transformer_lab.lab import growing_beam


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
            said = f"{len(column)} candidates. Of these, {kept} are kept"
            expect(page.locator(".said")).to_contain_text(said)
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
    assert (before, whole) == pytest.approx((VALUES[PARENTS[node]], VALUES[node]), abs=1e-4)
    assert before + own == pytest.approx(whole, abs=1e-9), "what is written is a sum"
    assert chance == pytest.approx(math.exp(own), abs=0.0006)
    page.context.close()


@pytest.mark.thorough(caught_by=["test_a_beginnings_number_is_its_parents_and_its_own_words"])
def test_small_numbers_are_a_true_sum_and_no_probability_is_told_as_zero(browser, tmp_path):
    values = [0.0, -0.02004, -0.7204, -0.72043, -10.7304]
    drawn = growing_beam([None, 0, 1, 2, 2], list("sabcd"), values, kept={0, 1, 2, 3, 4}, winner=3)
    page = open_drawing(browser, drawn, tmp_path)
    page.locator("[data-control='step 3']").click()
    for node in (3, 4):
        page.locator(f"[data-control='node {node}']").press("Enter")
        text = page.locator(".sum").inner_text().replace("−", "-")
        sums = re.search(r"= (-[\d.]+) - ([\d.]+) = (-[\d.]+)\. ", text)
        before, own, whole = map(float, sums.groups())
        assert before - own == pytest.approx(whole, abs=1e-9)
    assert (
        "Its last word has a probability of < 0.001 after the others, and the whole beginning has < 0.001"
        in text
    )
    page.context.close()


@pytest.mark.thorough(caught_by=["test_a_beginnings_number_is_its_parents_and_its_own_words"])
def test_the_first_beginning_has_a_number_too_when_one_has_won(browser, tmp_path):
    page = open_drawing(browser, growing_beam(**GIVEN), tmp_path)
    page.locator("[data-control='step 4']").click()
    page.locator("[data-control='node 0']").press("Enter")
    expect(page.locator(".sum")).to_have_text(
        "Nothing is written yet. The empty beginning has a probability of 1, so its log-probability is 0."
    )
    page.context.close()


def test_the_step_where_another_beginning_comes_to_the_front_says_so(browser, tmp_path):
    given = {"parents": [None, 0, 0, 1, 2, 3, 4], "words": list("sabcdef")}
    values = [0.0, -1.0, -2.0, -5.0, -2.5, -6.0, -3.0]
    drawn = growing_beam(**given, log_probabilities=values, kept=set(range(7)), winner=6)
    page = open_drawing(browser, drawn, tmp_path)
    turns = []
    for step in range(5):
        page.locator(f"[data-control='step {step}']").click()
        turns.append("the order changes" in page.locator(".said").inner_text())
    assert turns == [False, False, True, False, False]
    page.locator("[data-control='step 2']").click()
    expect(page.locator(".said")).to_contain_text("b d leads with −2.50")
    page.context.close()
