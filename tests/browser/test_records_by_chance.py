"""Whatever a record holds, the page reads it as it was written; see tests/fuzz."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.browser.test_page_modules import READ, check_read
from tests.fuzz.cases import cases, depths, seeds, sentences
from tests.records import make_record
from transformer_lab.lab.record_data import page_data


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_record_page.py::test_every_cell_has_its_weight_and_every_row_its_word"
    ]
)
@cases(0.027)
@given(seeds, sentences, sentences, depths, st.sampled_from([0.1, 2.0, 60.0]))
def test_the_page_reads_every_record_as_it_was_written(ask, seed, source, target, heads, sharp):
    record = make_record(source, target, target, encoder=heads, cross=heads, seed=seed % 1000)
    (found,) = ask("record.js", READ, page_data([record]))
    check_read(record, found)
