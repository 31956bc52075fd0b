"""Whatever a record holds, the page reads it as it was written; see tests/fuzz."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.browser.test_page_modules import READ
from tests.fuzz.cases import cases, depths, seeds, sentences
from tests.records import make_record
from transformer_lab.viz.explorer.payload import page_data


@cases(0.027)
@given(seeds, sentences, sentences, depths, st.sampled_from([0.1, 2.0, 60.0]))
def test_the_page_reads_every_record_as_it_was_written(ask, seed, source, target, heads, sharp):
    record = make_record(source, target, target, encoder=heads, cross=heads, seed=seed % 1000)
    (found,) = ask("record.js", READ, page_data([record]))
    for kind, of_kind in found.items():
        queries, keys = record.tokens(kind)
        assert of_kind["tokens"] == {"queries": list(queries), "keys": list(keys)}
        for layer, weights in enumerate(getattr(record, kind)):
            seen = np.array(of_kind["weights"][layer])
            np.testing.assert_allclose(seen, weights, atol=0.0006)
            assert np.array_equal(seen.argmax(axis=-1), weights.argmax(axis=-1))
