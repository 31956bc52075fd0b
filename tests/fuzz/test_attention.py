"""Attention: explicit, fused and NumPy's agree, gradients too; what has no answer is a ValueError."""

import numpy as np
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, numbers, seeds, sizes, tried
from transformer_lab import numpy_reference as reference
from transformer_lab.model.attention import attention_weights, fused_attention


@st.composite
def inputs(draw):
    """Query, key, value of four dimensions and a mask, or none; any row of it may be empty."""
    batch, heads, queries, keys, d_k, d_v = (draw(sizes) for _ in range(6))
    seed, scale = draw(seeds), draw(st.sampled_from([1e-3, 1.0, 30.0]))
    shapes = ((queries, d_k), (keys, d_k), (keys, d_v))
    q, k, v = (numbers(seed + n, batch, heads, *s, scale=scale) for n, s in enumerate(shapes))
    broad = [draw(st.booleans()) for _ in range(4)]
    shape = [n if b else 1 for n, b in zip((batch, heads, queries, keys), broad, strict=True)]
    share = draw(st.sampled_from([None, 0.0, 0.5, 1.0]))
    mask = None if share is None else np.random.default_rng(seed).random(shape) < share
    return q, k, v, mask


def as_tensors(q, k, v, mask):
    mask = None if mask is None else torch.tensor(mask)
    return *(torch.tensor(x, requires_grad=True) for x in (q, k, v)), mask


@cases(0.088)
@given(inputs())
def test_the_paths_agree_forward_and_backward(given_):
    output, weights = reference.scaled_dot_product_attention(*given_)
    q, k, v, mask = as_tensors(*given_)
    explicit = attention_weights(q, k, mask)
    np.testing.assert_allclose(explicit.detach().numpy(), weights, atol=1e-12)
    fused = fused_attention(q, k, v, mask)
    np.testing.assert_allclose(fused.detach().numpy(), output, atol=1e-9, rtol=1e-9)
    np.testing.assert_allclose((explicit @ v).detach().numpy(), output, atol=1e-9, rtol=1e-9)
    sums = weights.sum(axis=-1)
    assert np.all(np.isclose(sums, 1) | (sums == 0))
    grad = numbers(7, *output.shape)
    found = reference.scaled_dot_product_attention_backward(grad, *given_[:3], weights)
    wanted = torch.autograd.grad(explicit @ v, (q, k, v), torch.tensor(grad))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other.numpy(), atol=1e-9, rtol=1e-7)


@cases(0.044)
@given(inputs(), st.data())
def test_what_is_hidden_does_not_count(given_, data):
    """Whatever stands at a key that no query may see, all is the same."""
    q, k, v, mask = given_
    assume(mask is not None and mask.shape[-1] == k.shape[-2])
    hidden = ~mask.any(axis=(0, 1, 2))
    assume(hidden.any())
    moved = [
        np.where(hidden[:, None], data.draw(st.sampled_from([0.0, -1e6, 1e6])), x) for x in (k, v)
    ]
    before, _ = reference.scaled_dot_product_attention(q, k, v, mask)
    after, _ = reference.scaled_dot_product_attention(q, *moved, mask)
    np.testing.assert_array_equal(before, after)


@cases(0.053)
@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=3, max_size=4), st.booleans())
def test_shapes_fit_or_are_named(shapes, is_boolean):
    arrays = [np.ones(shape) for shape in shapes]
    if len(arrays) == 4 and is_boolean:
        arrays[3] = arrays[3] > 0
    found, said = tried(reference.scaled_dot_product_attention, *arrays)
    if said:
        assert any(name in said for name in ("query", "key", "value", "mask"))
        return
    output, weights = found
    *batch, queries, _ = shapes[0]
    assert output.shape == (*batch, queries, shapes[2][-1])
    assert weights.shape == (*batch, queries, shapes[1][-2])
    assert np.isfinite(output).all()
