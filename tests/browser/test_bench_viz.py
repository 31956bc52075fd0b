"""`python -m benchmarks --only record` still finds its way around a record's page."""

import pytest

from benchmarks.record_page import OURS, measure_candidates


@pytest.mark.thorough(caught_by=["tests/browser/test_record_page.py::test_a_head_is_opened"])
@pytest.mark.parametrize("tokens", [13, 31])
def test_a_records_page_can_be_measured(browser, tokens):
    """As a table, and as a picture."""
    seen = measure_candidates(browser, [OURS], tokens, 1, {})[OURS.name]
    assert set(seen.times) == {"build", "drawn", "head", "hover", "kind", "deeper"}
    assert min(seen.payload, *seen.memory[0]) > 0
    assert seen.said == ""
