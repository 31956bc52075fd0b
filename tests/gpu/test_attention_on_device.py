"""Fused and explicit attention in every precision, beside the same formula in float64 on the CPU."""

import math

import pytest
import torch

from transformer_lab.model.attention import AttentionCore, attention_weights, fused_attention

BATCH, HEADS, QUERY, KEY, D_K, D_V = 2, 3, 11, 13, 16, 24
TOLERANCES = {torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}


@pytest.fixture(params=TOLERANCES, ids=str)
def dtype(request):
    return request.param


def random_heads(dtype, device, query=QUERY, key=KEY):
    """Queries, keys and values, the same on every device."""
    generator = torch.Generator().manual_seed(query * key)
    shapes = (query, D_K), (key, D_K), (key, D_V)
    return [
        torch.randn(BATCH, HEADS, *shape, generator=generator).to(device, dtype) for shape in shapes
    ]


def in_float64(query, key, value, mask):
    """The formula (equation 1), word by word; a query that may see nothing gets 0."""
    query, key, value = (t.cpu().double() for t in (query, key, value))
    scores = query @ key.transpose(-2, -1) / math.sqrt(D_K)
    exponentials = scores.exp() * mask.cpu()
    sums = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / sums.where(sums > 0, 1) @ value


def masks(device):
    """Everything, padding, the past alone, and one query that may see nothing."""
    padding = torch.ones(BATCH, 1, 1, KEY, dtype=torch.bool)
    padding[1, ..., 7:] = False
    past = torch.ones(QUERY, KEY, dtype=torch.bool).tril()
    blind = past.clone()
    blind[5] = False
    found = {"everything": torch.ones_like(past), "padding": padding, "past": past, "blind": blind}
    return {name: mask.to(device) for name, mask in found.items()}


@pytest.mark.parametrize("name", ["everything", "padding", "past", "blind"])
def test_fused_and_explicit_attention_equal_the_formula(device, dtype, name):
    query, key, value = random_heads(dtype, device)
    mask = masks(device)[name]
    expected = in_float64(query, key, value, mask)
    explicit = attention_weights(query, key, mask) @ value
    fused = fused_attention(query, key, value, mask)
    for found in (explicit, fused):
        assert found.isfinite().all()
        assert (found.cpu().double() - expected).abs().max() < TOLERANCES[dtype]
    if name == "blind":
        assert (fused[..., 5, :] == 0).all()
        assert (explicit[..., 5, :] == 0).all()


def test_one_query_at_a_time_gives_the_rows_of_all_together(device, dtype):
    query, key, value = random_heads(dtype, device)
    together = fused_attention(query, key, value)
    alone = [fused_attention(query[..., i : i + 1, :], key, value) for i in range(QUERY)]
    assert (torch.cat(alone, dim=-2) - together).abs().max() < TOLERANCES[dtype]


def test_gradients_of_the_fused_path_equal_those_of_the_explicit_one(device, dtype):
    mask = masks(device)["blind"]

    def gradients(attend):
        tensors = [t.requires_grad_() for t in random_heads(dtype, device)]
        attend(*tensors).float().square().sum().backward()
        return [t.grad.float() for t in tensors]

    fused = gradients(lambda q, k, v: fused_attention(q, k, v, mask))
    explicit = gradients(lambda q, k, v: attention_weights(q, k, mask) @ v)
    for one, other in zip(fused, explicit, strict=True):
        assert one.isfinite().all()
        assert (one - other).norm() < 8 * TOLERANCES[dtype] * other.norm()


def test_a_mask_of_half_precision_scores_never_overflows(device, dtype):
    query, key, value = random_heads(dtype, device)
    mask = masks(device)["past"]
    found = AttentionCore()(30 * query, 30 * key, value, mask)
    assert found.isfinite().all()
    assert (found[..., 0, :] - value[..., 0, :]).abs().max() < TOLERANCES[dtype]
