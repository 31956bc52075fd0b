"""Turning positions on the screen: the turns are the package's, and what should stay stays."""

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.drawn import open_drawing, walk
from tests.lab.test_turning import KEY, QUERY, WORDS
from transformer_lab.lab import clock_positions, turning_arrows
from transformer_lab.model.positions import AlibiPositions, RotaryPositions
from transformer_lab.numpy_reference import sinusoidal_positions

PAIRS = len(QUERY) // 2


@pytest.fixture
def arrows():
    return turning_arrows(QUERY, KEY, words=WORDS)


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_beam.py::test_every_step_can_be_read_everywhere"]
)
def test_every_step_can_be_read_everywhere(browser, arrows, tmp_path):
    assert walk(browser, clock_positions(34), tmp_path) == 2
    assert walk(browser, arrows, tmp_path) == 2


def rotated(vector: np.ndarray, place: int) -> np.ndarray:
    """A vector that stands at a place, turned by the package's class."""
    rows = torch.tensor(vector).expand(1, 1, place + 1, -1)
    return RotaryPositions(len(vector)).double().turn(rows, 0)[0, 0, place].numpy()


def test_pairs_turn_as_the_package_turns_them(ask):
    function = """({ computeSpeeds, turnPair }, [vector, place]) =>
        computeSpeeds(vector.length / 2, 10000)
        .flatMap((speed, i) => turnPair(vector.slice(2 * i, 2 * i + 2), place * speed))"""
    for place in (0, 1, 53):
        found = ask("lesson/turning.js", function, [QUERY.tolist(), place])
        assert found == pytest.approx(rotated(QUERY, place).tolist(), abs=1e-5)


def test_hands_are_the_papers_and_the_bias_is_the_packages(ask):
    function = "({ computeSpeeds }, [pairs, base]) => computeSpeeds(pairs, base)"
    angles = 5 * np.array(ask("lesson/turning.js", function, [17, 10_000]))
    np.testing.assert_allclose(np.sin(angles), sinusoidal_positions(6, 34)[5, 0::2])
    np.testing.assert_allclose(np.cos(angles), sinusoidal_positions(6, 34)[5, 1::2])
    rows = torch.zeros(1, 3, 7, 2)
    expected = AlibiPositions(3)(rows, rows)[2].numpy()
    function = """({ alibiBias }, [heads, distance]) =>
        [0, 1, 2].map((head) => alibiBias(head, heads, distance))"""
    for query, key in ((0, 0), (2, 5), (6, 1)):
        found = ask("lesson/turning_alibi.js", function, [3, query - key])
        assert found == pytest.approx(expected[:, query, key].tolist())


def test_moved_together_the_angle_and_the_score_stay(browser, arrows, tmp_path):
    page = open_drawing(browser, arrows, tmp_path)
    angle, score = page.locator(".angle"), page.locator(".score")
    before = angle.inner_text(), score.inner_text()
    expected = rotated(QUERY, 3) @ rotated(KEY, 5)
    assert float(before[1].replace("−", "-")) == pytest.approx(expected, abs=0.002)
    arrow = page.locator("path.query").last.get_attribute("d")
    page.get_by_role("button", name="Move query and key").press("Enter")
    expect(page.locator("[data-control='both']")).to_be_focused()
    assert page.locator("path.query").last.get_attribute("d") != arrow
    assert (angle.inner_text(), score.inner_text()) == before
    page.locator("[data-control='other']").press("ArrowRight")
    assert angle.inner_text() != before[0]
    expected = rotated(QUERY, 4) @ rotated(KEY, 7)
    assert float(score.inner_text().replace("−", "-")) == pytest.approx(expected, abs=0.002)
    page.locator("[data-control='pair']").press("End")
    expect(page.locator(".sum")).to_contain_text(f"pair {PAIRS - 1}")
    page.context.close()


@pytest.mark.thorough(caught_by=["test_moved_together_the_angle_and_the_score_stay"])
@pytest.mark.parametrize("last", ["position", "other"])
def test_both_stop_where_one_of_them_is_at_its_last_place(browser, arrows, tmp_path, last):
    page = open_drawing(browser, arrows, tmp_path)
    slider, both = page.locator(f"[data-control='{last}']"), page.locator("[data-control='both']")
    slider.press("End")
    slider.press("ArrowLeft")
    before = page.locator(".score").inner_text()
    both.press("Enter")
    assert page.locator(".score").inner_text() == before
    expect(slider).to_have_value(slider.get_attribute("max"))
    expect(both).to_be_disabled()
    expect(page.locator("[data-control='position']")).to_be_focused()
    page.locator(f"[data-control='{last}']").press("ArrowLeft")
    expect(both).to_be_enabled()
    page.context.close()


def test_a_key_before_the_query_is_at_a_distance_with_a_minus_sign(browser, arrows, tmp_path):
    page = open_drawing(browser, arrows, tmp_path)
    page.locator("[data-control='other']").press("Home")
    expect(page.locator(".sum")).to_contain_text("at distance −3:")
    page.context.close()


def test_each_row_of_alibi_has_its_word_and_each_button_its_own_name(browser, tmp_path):
    words = ["the", "cat", "saw", "the", "sea"]
    page = open_drawing(browser, turning_arrows(QUERY, KEY, words=words), tmp_path)
    page.get_by_role("button", name="Step 2").click()
    first = page.locator("figure").first
    assert first.locator("tbody th").all_inner_texts() == words
    assert first.locator("thead th").all_inner_texts() == words
    names = page.locator(".rows button").all_inner_texts()
    assert names == ["the (1)", "cat", "saw", "the (4)", "sea"]
    page.context.close()


def test_a_row_of_alibi_is_worked_out(browser, arrows, tmp_path):
    page = open_drawing(browser, arrows, tmp_path)
    page.get_by_role("button", name="Step 2").click()
    page.locator("[data-control='row 0']").press("Enter")
    expect(page.locator("tr.lit")).to_have_count(8)
    powers = np.exp(-0.5 * np.arange(len(WORDS)))
    first = (powers / powers.sum())[0]
    expect(page.locator(".sum")).to_contain_text(f"the weights would be ({first:.2f}")
    page.context.close()
