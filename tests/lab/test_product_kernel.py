"""The kernel of the page's matrix products: its bytes are those of its source, and it multiplies."""

import numpy as np
import pytest
import wasmtime

from tools.assemble import BYTES, SOURCE, assemble, javascript

MOST = 600
"""Bytes that the kernel may have. It's in every page with a model."""


@pytest.fixture(scope="module")
def module():
    return assemble(SOURCE.read_text(encoding="utf-8"))


def test_the_bytes_in_the_page_are_those_of_the_source(module):
    assert BYTES.read_text(encoding="utf-8") == javascript(module)
    assert len(module) <= MOST


@pytest.mark.parametrize(
    ("rows", "inner", "panels"), [(1, 1, 1), (2, 3, 1), (3, 7, 2), (5, 13, 3), (11, 2, 5)]
)
def test_it_multiplies_and_touches_nothing_else(module, rows, inner, panels):
    store = wasmtime.Store()
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, module), []).exports(store)
    generator = np.random.default_rng(rows)
    x = generator.normal(size=(rows, inner)).astype(np.float32)
    weight = generator.normal(size=(16 * panels, inner)).astype(np.float32)
    bias = generator.normal(size=16 * panels).astype(np.float32)
    columns = np.concatenate([bias[:, None], weight], axis=1).reshape(panels, 16, 1 + inner)
    packed = columns.transpose(0, 2, 1)
    before = np.full(rows * 16 * panels + 16, 7, dtype=np.float32)  # y, and a little behind it
    parts = [x.flatten(), packed.flatten(), before]
    places = [4 * sum(len(part) for part in parts[:n]) for n in range(3)]
    memory = exports["memory"]
    memory.write(store, np.concatenate(parts).tobytes(), 0)
    exports["multiply"](store, *places, rows, inner, panels)
    found = np.frombuffer(memory.read(store, 0, 4 * sum(map(len, parts))), dtype=np.float32)
    *_, after = np.split(found, [len(x.flatten()), len(x.flatten()) + packed.size])
    np.testing.assert_allclose(
        after[:-16].reshape(rows, -1), x @ weight.T + bias, rtol=1e-5, atol=1e-5
    )
    np.testing.assert_array_equal(after[-16:], 7)
    np.testing.assert_array_equal(found[: -len(before)], np.concatenate(parts[:2]))
