"""Attention without the n × n matrix: one exact method, and two that give different results.

No model in the course uses these; lesson 15 compares them with `attention_weights(…) @ value`.
`chunked_attention` is exact, and takes time proportional to n² and memory proportional to n. In
`local_attention` and `linear_attention`, both are proportional to n.
"""

import math
from collections.abc import Callable
from functools import wraps

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_lab.config import check, check_mask
from transformer_lab.model.attention import attention_weights


def chunked_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    size: int = 128,
) -> Float[Tensor, "*batch query d_v"]:
    """Compute `attention_weights(query, key, mask) @ value`, `size` keys at a time.

    The softmax is computed online (Milakov and Gimelshein 2018): for the keys seen so far, we keep
    the largest score, the sum of the exponentials and the weighted sum of the values. When a larger
    score turns up, both sums are scaled down. Sums use at least float32. The last dimension of
    `mask` covers the keys, and a query that may not attend to any key gets 0. Every block is kept
    for the backward pass, whereas FlashAttention recomputes the blocks.
    """
    check("size", size, "an integer of at least 1", size >= 1)
    wide = torch.promote_types(query.dtype, torch.float32)  # half precision loses long sums
    # The lowest number instead of −∞, since −∞ − (−∞) is no number.
    largest = query.new_full((*query.shape[:-1], 1), torch.finfo(wide).min, dtype=wide)
    total = torch.zeros_like(largest)
    mixed = query.new_zeros(*query.shape[:-1], value.size(-1), dtype=wide)
    for start in range(0, key.size(-2), size):
        part = slice(start, start + size)
        scores = (query @ key[..., part, :].mT / math.sqrt(query.size(-1))).to(wide)
        if mask is not None:
            scores = scores.masked_fill(~mask[..., part], -math.inf)
        new = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        weights, shrink = (scores - new).exp(), (largest - new).exp()
        total = shrink * total + weights.sum(dim=-1, keepdim=True)
        mixed = shrink * mixed + weights.to(value.dtype) @ value[..., part, :]
        largest = new
    # The largest score adds exp(0) = 1, if there is one.
    return (mixed / total.clamp(min=1)).to(value.dtype)


def with_fitting_mask(attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Wrap `chunked_attention` so that it checks the mask just as `attention_weights` does.

    A mask with one column for all keys is expanded to one column per key.
    """

    @wraps(attend)
    def checked(
        query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, size: int = 128
    ) -> Tensor:
        if mask is not None:
            check_mask(mask, (*query.shape[:-1], key.size(-2)))
            # A single column that stands for all keys could not be sliced.
            mask = torch.atleast_1d(mask).expand(*mask.shape[:-1], key.size(-2))
        return attend(query, key, value, mask, size)

    return checked


chunked_attention = with_fitting_mask(chunked_attention)


def local_mask(
    query: int, key: int | None = None, *, window: int, device: torch.device | str | None = None
) -> Bool[Tensor, "query key"]:
    """Return a mask that is True where query and key are at most `window` positions apart."""
    check("window", window, "an integer of at least 0", window >= 0)
    rows = torch.arange(query, device=device)[:, None]
    columns = torch.arange(query if key is None else key, device=device)
    return (rows - columns).abs() <= window


def strided_mask(
    query: int,
    key: int | None = None,
    *,
    window: int,
    stride: int,
    device: torch.device | str | None = None,
) -> Bool[Tensor, "query key"]:
    """Return a mask that is True at distances up to `window`, and at every multiple of `stride`.

    If the window is at least `stride` − 1, two layers connect any two positions. Source: Child et
    al. 2019, who use the window in some heads and the stride in others.
    """
    check("stride", stride, "an integer of at least 1", stride >= 1)
    near = local_mask(query, key, window=window, device=device)
    rows = torch.arange(query, device=device)[:, None]
    columns = torch.arange(query if key is None else key, device=device)
    return near | ((rows - columns) % stride == 0)


def local_attention(
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    window: int = 64,
) -> Float[Tensor, "*batch n d_v"]:
    """Return self-attention under `local_mask`, computing only the scores in and near the window.

    Each block of `window` queries reads the 3 · window keys around it, so about 3 · n · window
    scores are computed in total.
    """
    check("window", window, "an integer of at least 1", window >= 1)
    n = query.size(-2)
    check("length of key", key.size(-2), f"{n}, the length of query", key.size(-2) == n)
    rows_of_a_block = torch.arange(window, 2 * window, device=query.device)[:, None]
    near = (rows_of_a_block - torch.arange(3 * window, device=query.device)).abs() <= window
    blocks = []
    for start in range(0, n, window):
        rows, first = slice(start, min(start + window, n)), max(start - window, 0)
        columns = slice(first, min(start + 2 * window, n))
        skipped = first - (start - window)  # the first block has nothing on its left
        mask = near[: rows.stop - start, skipped : skipped + columns.stop - first]
        weights = attention_weights(query[..., rows, :], key[..., columns, :], mask)
        blocks.append(weights @ value[..., columns, :])  # (*batch, window, d_v)
    return torch.cat(blocks, dim=-2)


def linear_attention(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
) -> Float[Tensor, "*batch query d_v"]:
    """Return attention with weights φ(q)·φ(k) / Σ φ(q)·φ(k) instead of softmax, where φ = elu + 1.

    The d_k × d_v matrix φ(K)ᵀ V is computed first, so there is no n × n matrix. The output is NaN
    where all features of a query are so negative that their exponentials are 0, and it is 0 if
    there are no keys. Source: Katharopoulos et al. 2020, *Transformers are RNNs*, without a mask.
    """
    if key.size(-2) == 0:  # who sees nothing gets 0, as with a softmax
        return value.new_zeros((*query.shape[:-1], value.size(-1)))
    # elu(x) + 1; written so, since exp(x) − 1 + 1 is 0 in float32 from x = −17 on.
    q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (query, key))
    total = q @ k.sum(dim=-2)[..., None]  # (*batch, query, 1)
    return q @ (k.mT @ value) / total
