"""The page's kernels in WebAssembly: their bytes are those of their sources, and products are right."""

import numpy as np
import pytest
import wasmtime

from tools.assemble import SOURCES, assemble, bytes_file, javascript

MOST = {"product": 1_000, "kernel": 3_000}
"""Bytes that each kernel may have. The product is in every page with a model."""


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_bytes_in_the_page_are_those_of_the_source(source):
    module = assemble(source.read_text(encoding="utf-8"))
    assert bytes_file(source).read_text(encoding="utf-8") == javascript(source, module)
    assert len(module) <= MOST[source.stem]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_every_processor_computes_the_same_bits(source):
    """Relaxed instructions would round once on one and twice on another."""
    text = source.read_text(encoding="utf-8")
    assert "f32x4.mul" in text
    assert "relaxed" not in text


SIZES = [(1, 1, 4), (2, 3, 16), (3, 7, 20), (5, 13, 28), (11, 2, 36)]


@pytest.mark.parametrize("start", ["bias", "itself"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("rows", "inner", "columns"), SIZES)
def test_it_multiplies_and_touches_nothing_else(rows, inner, columns, turned, start):
    """c = a b + start, with rows of c that lie 8 numbers further apart than they are long."""
    store = wasmtime.Store()
    module = assemble(SOURCES[0].read_text(encoding="utf-8"))
    exports = wasmtime.Instance(store, wasmtime.Module(store.engine, module), []).exports(store)
    generator = np.random.default_rng(rows)
    a = generator.normal(size=(rows, inner)).astype(np.float32)
    b = generator.normal(size=(inner, columns)).astype(np.float32)
    bias = generator.normal(size=columns).astype(np.float32)
    c = generator.normal(size=(rows, columns + 8)).astype(np.float32)
    parts = [a.T if turned else a, b, bias, c]
    at = np.cumsum([0, *(part.size for part in parts)]).tolist()
    memory = exports["memory"]
    memory.write(store, b"".join(np.ascontiguousarray(part).tobytes() for part in parts), 0)
    a_steps = (1, rows) if turned else (inner, 1)
    begins = (at[2], 0) if start == "bias" else (at[3], columns + 8)
    exports["multiply"](
        *(store, at[0], *a_steps, at[1], columns, at[3], columns + 8, *begins, rows, inner, columns)
    )
    found = np.frombuffer(memory.read(store, 0, 4 * at[-1]), dtype=np.float32)
    product = found[at[3] :].reshape(c.shape)
    expected = a @ b + (bias if start == "bias" else c[:, :columns])
    np.testing.assert_allclose(product[:, :columns], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(product[:, columns:], c[:, columns:])
    kept = np.concatenate([np.ravel(part) for part in parts[:3]])
    np.testing.assert_array_equal(found[: at[3]], kept)
