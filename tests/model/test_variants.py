"""Attention without the matrix, against attention with it."""

import pytest
import torch

from transformer_lab.model.attention import attention_weights
from transformer_lab.model.later.variants import (
    chunked_attention,
    linear_attention,
    local_attention,
    local_mask,
    strided_mask,
)
from transformer_lab.model.masks import causal_mask, length_mask

BATCH, HEADS, QUERY, KEY, D_K, D_V = 2, 3, 13, 17, 5, 7
TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def heads(length: int, width: int, seed: int, scale: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(BATCH, HEADS, length, width, generator=generator, dtype=torch.float64)
    return (scale * numbers).requires_grad_()


def inputs(query: int = QUERY, key: int = KEY, scale: float = 1.0) -> list[torch.Tensor]:
    shapes = ((query, D_K), (key, D_K), (key, D_V))
    return [heads(*shape, seed=seed, scale=scale) for seed, shape in enumerate(shapes)]


def masks() -> dict[str, torch.Tensor | None]:
    padding = length_mask(torch.tensor([KEY, 4]), KEY)
    blind = torch.ones(QUERY, KEY, dtype=torch.bool)
    blind[2] = False
    late = torch.zeros(QUERY, KEY, dtype=torch.bool)
    late[:, 11:] = True  # the first chunks hold nothing that anybody may see
    causal = causal_mask(QUERY, KEY)
    return {
        "none": None,
        "padding": padding,
        "causal": causal,
        "both": padding & causal,
        "blind row": blind,
        "late keys": late,
    }


@pytest.mark.parametrize("size", [1, 2, 3, 7, 17, 100])
@pytest.mark.parametrize("name", masks())
def test_chunked_attention_is_exact_in_output_and_gradients(name, size):
    mask, tensors = masks()[name], inputs()
    gradient = heads(QUERY, D_V, seed=9).detach()
    whole = attention_weights(*tensors[:2], mask) @ tensors[2]
    chunked = chunked_attention(*tensors, mask, size)
    torch.testing.assert_close(chunked, whole, **TIGHT)
    theirs = torch.autograd.grad(whole, tensors, gradient)
    ours = torch.autograd.grad(chunked, tensors, gradient)
    torch.testing.assert_close(ours, theirs, **TIGHT)


def test_a_query_that_sees_nothing_gets_zeros():
    mask = masks()["blind row"]
    assert chunked_attention(*inputs(), mask, size=5)[:, :, 2].eq(0).all()


def test_chunks_do_not_overflow_where_scores_are_in_the_hundreds():
    tensors = [t.float() for t in inputs(scale=40.0)]
    scores = tensors[0] @ tensors[1].mT
    assert scores.max() > 1_000
    whole = attention_weights(*tensors[:2]) @ tensors[2]
    torch.testing.assert_close(chunked_attention(*tensors, size=3), whole)


@pytest.mark.parametrize("window", [1, 2, 3, 5, 11, 13, 40])
@pytest.mark.parametrize("n", [1, 2, 13, 23])
def test_local_attention_is_attention_under_the_local_mask(n, window):
    tensors = inputs(n, n)
    gradient = heads(n, D_V, seed=9).detach()
    whole = attention_weights(*tensors[:2], local_mask(n, window=window)) @ tensors[2]
    local = local_attention(*tensors, window)
    torch.testing.assert_close(local, whole, **TIGHT)
    theirs = torch.autograd.grad(whole, tensors, gradient)
    torch.testing.assert_close(torch.autograd.grad(local, tensors, gradient), theirs, **TIGHT)


def test_the_local_mask_is_a_band():
    mask = local_mask(7, 5, window=2)
    for i in range(7):
        for j in range(5):
            assert mask[i, j].item() == (abs(i - j) <= 2)


@pytest.mark.parametrize(("window", "stride"), [(2, 3), (1, 5), (3, 1)])
def test_the_strided_mask_is_a_band_and_every_so_many_places_beyond_it(window, stride):
    mask = strided_mask(17, 13, window=window, stride=stride)
    for i in range(17):
        for j in range(13):
            far = abs(i - j)
            assert mask[i, j].item() == (far <= window or far % stride == 0)


def test_a_window_of_half_the_stride_connects_any_two_places_in_two_layers():
    def connects(window):
        mask = strided_mask(53, window=window, stride=7).int()
        return (mask @ mask).ne(0).all().item()

    assert connects(3)
    assert not connects(2)


def test_linear_attention_is_a_mix_with_its_own_weights():
    query, key, value = inputs()
    q, k = (torch.where(x > 0, x + 1, x.exp()) for x in (query, key))
    weights = torch.einsum("bhqd,bhkd->bhqk", q, k)
    weights = weights / weights.sum(-1, keepdim=True)
    assert (weights > 0).all()
    torch.testing.assert_close(linear_attention(query, key, value), weights @ value, **TIGHT)
    softmax = attention_weights(query, key) @ value
    assert (linear_attention(query, key, value) - softmax).abs().max() > 0.1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: chunked_attention(*inputs(), size=0), "size is 0"),
        (lambda: local_attention(*inputs(5, 5), window=0), "window is 0"),
        (lambda: local_mask(5, window=-1), "window is -1"),
        (lambda: strided_mask(5, window=-1, stride=2), "window is -1"),
        (lambda: strided_mask(5, window=2, stride=0), "stride is 0"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("keys", "size"), [(1_000, 1), (70_000, 128)])
def test_chunked_attention_keeps_long_sums_in_half_precision(dtype, keys, size):
    query, key = torch.zeros(3, 5, dtype=dtype), torch.zeros(keys, 5, dtype=dtype)
    value = torch.linspace(0.5, 1.5, keys * 2).view(keys, 2).to(dtype)
    found = chunked_attention(query, key, value, size=size)
    assert found.dtype == dtype
    mean = value.double().mean(dim=0).expand(3, 2)
    torch.testing.assert_close(found.double(), mean, rtol=2e-2, atol=0)


def test_linear_attention_of_no_keys_is_0():
    query, key, value = torch.randn(2, 3, 5), torch.randn(2, 0, 5), torch.randn(2, 0, 7)
    assert torch.equal(linear_attention(query, key, value), torch.zeros(2, 3, 7))


def test_linear_attention_stands_very_negative_numbers():
    query, key, value = (t.detach().float() for t in inputs())
    found = linear_attention(query - 20, key, value)
    wanted = linear_attention((query - 20).double(), key.double(), value.double())
    torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-4)


def test_local_attention_is_self_attention():
    query, key, value = inputs(query=3, key=7)
    with pytest.raises(ValueError, match="length of key is 7; expected 3, the length of query"):
        local_attention(query, key, value, window=2)
