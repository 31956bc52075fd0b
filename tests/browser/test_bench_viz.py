"""`python -m benchmarks --only explorer` still finds its way around the explorer's page."""

import pytest

from benchmarks.explorer import OURS, measure_candidates


@pytest.mark.thorough(
    caught_by=["tests/browser/test_explorer_page.py::test_a_head_is_opened_by_mouse"]
)
def test_the_explorers_page_can_be_measured(browser):
    seen = measure_candidates(browser, [OURS], 13, 1, {})[OURS.name]
    assert set(seen.times) == {"build", "drawn", "head", "hover", "kind"}
    assert min(seen.payload, *seen.memory[0]) > 0
    assert seen.said == ""
