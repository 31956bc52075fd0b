"""Scaled dot-product attention and multi-head attention (§3.2)."""

import math
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer_lab.config import (
    check,
    check_count,
    check_mask,
    check_positive_integer,
    describe_count,
)
from transformer_lab.hooks import apply_hooks, find_hooks
from transformer_lab.model.kv_cache import KVCache

GPU_KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""PyTorch's GPU kernels for attention, except cuDNN's.

cuDNN's kernel does not return 0 for a query that may not attend to any key. It also has to be set
up again for each new shape, and nearly every batch of sentences has a new shape.
"""


def attention_weights(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """Return softmax(Q Kᵀ / √d_k) over the keys that `mask` allows (§3.2.1, equation 1).

    `mask` and `bias` broadcast to (*batch, query, key); `bias` is added to the scaled scores. A
    query that may not attend to any key gets weights of 0.
    """
    scores = attention_scores(query, key, mask, bias)
    blind = None if mask is None else ~mask.any(dim=-1, keepdim=True)
    return softmax_over_keys(scores, blind)


def attention_scores(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """Return Q Kᵀ / √d_k + bias, with −inf for the keys that `mask` hides."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (*batch, query, key)
    if bias is not None:
        scores = scores + bias
    if mask is None:
        return scores
    check_mask(mask, scores.shape)
    return scores.masked_fill(~mask, -math.inf)


def softmax_over_keys(
    scores: Float[Tensor, "*batch query key"], blind: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch query key"]:
    """Return the attention weights: the softmax of the scores over the last axis, the keys.

    Each row sums to 1, except for queries that may not attend to any key. `blind`, of shape
    (*batch, query, 1), is True for these queries, and their rows are 0.
    """
    weights = scores.softmax(dim=-1)
    # A row of nothing but -inf has no softmax; it gets zeros instead of NaN.
    return weights if blind is None else weights.masked_fill(blind, 0.0)


def fused_attention(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads query d_v"]:
    """Return `attention_weights(…) @ value`, in most cases without storing the weights.

    This calls PyTorch's `scaled_dot_product_attention` where that is faster.
    """
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.size(-2)))
        mask = torch.atleast_2d(mask)  # the kernel accepts no fewer dimensions
    if query.device.type == "cpu" and query.size(-2) == 1 and not dropout:
        # One query, as in decoding with a cache: its weights are a single row, and
        # on a CPU, two plain products are up to four times as fast as the kernel.
        return attention_weights(query, key, mask, bias) @ value
    if query.device.type == "cpu" and query.dtype == torch.bfloat16:
        # On a CPU the backward pass of this kernel is several times slower in
        # bfloat16 than in float32, so half precision does not pay off here.
        whole = (query.float(), key.float(), value.float())
        bias = None if bias is None else bias.float()
        with torch.autocast("cpu", enabled=False):
            return fused_attention(*whole, mask, bias, dropout).to(query.dtype)
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    attend = partial(
        F.scaled_dot_product_attention, query, key, value, attn_mask=mask, dropout_p=dropout
    )
    if query.device.type != "cuda":
        return attend()
    with sdpa_kernel(GPU_KERNELS):
        return attend()


def shared_attention(
    query: Float[Tensor, "batch heads 1 d_k"],
    key: Float[Tensor, "memories heads key d_k"],
    value: Float[Tensor, "memories heads key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "batch heads 1 d_v"]:
    """Compute attention for one query per batch row, where groups of adjacent rows share a memory.

    Row i reads memory i // (batch / memories), as in beam search, where all hypotheses of a beam
    translate the same sentence. The queries that share a memory become the rows of one matrix, so
    the keys and values of the memory are neither copied nor read twice.
    """
    group = query.size(0) // key.size(0)
    # (memories, heads, group, d_k)
    together = query[:, :, 0].unflatten(0, (-1, group)).transpose(1, 2)
    heads = attention_weights(together, key, mask) @ value  # (memories, heads, group, d_v)
    return heads.transpose(1, 2).flatten(0, 1)[:, :, None]  # (batch, heads, 1, d_v)


class AttentionCore(nn.Module):
    """The part of an attention module between the input projections and the output projection.

    It appends to the cache, applies relative positions, computes scores, softmax and dropout, and
    multiplies by the values. Without hooks (see `hooks.py`) it calls the fused kernel; with hooks
    it computes the scores first and then the weights. Both ways give the same output.
    """

    def __init__(self, dropout: float = 0.0, positions: nn.Module | None = None):
        super().__init__()
        self.dropout = dropout
        self.positions = positions

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "memories shared key d_k"],
        value: Float[Tensor, "memories shared key d_v"],
        mask: Bool[Tensor, "..."] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Return the output of each head, before W_O.

        `mask` broadcasts to (batch, heads, query, key). If there are fewer key heads than query
        heads, each key head serves a group of neighbouring query heads. If the keys have fewer
        batch rows than the queries, because the hypotheses of a beam share a memory, each key row
        serves a group of neighbouring query rows.

        `cache` holds the keys and values of earlier positions, and the new ones are appended to it.
        The queries then belong to the last positions, and the last axis of the mask covers all
        positions.

        Raises:
            ValueError: If the mask is not boolean, does not broadcast, or could broadcast in two
                ways; or if the batch size of the queries is not a multiple of that of the keys. A
                numeric mask is refused because the fused kernel would add it to the scores.
        """
        shape = scores_shape(query, key, cache)
        fits = shape[0] > 0 and query.size(0) % shape[0] == 0
        if not fits and query.size(0):
            multiple = f"a multiple of {shape[0]}" if shape[0] else "none"
            expected = f"{multiple}, because key has {describe_count(shape[0], 'sentence')}"
            check_count("query", query.size(0), "sentence", expected, holds=False)
        if mask is not None:
            check_mask(mask, shape)
        if cache is not None:
            key, value = cache.append(key, value)
        bias = None
        if self.positions is not None:
            query, key, bias = self.positions(query, key)
        if key.size(1) < query.size(1):
            group = query.size(1) // key.size(1)
            key, value = (t.repeat_interleave(group, dim=1) for t in (key, value))
        dropout = self.dropout if self.training else 0.0
        hooks = find_hooks(self)
        if key.size(0) < query.size(0):
            if not hooks and not dropout and query.size(2) == 1 and bias is None:
                return shared_attention(query, key, value, mask)
            group = query.size(0) // key.size(0)
            key, value = (t.repeat_interleave(group, dim=0) for t in (key, value))
            if mask is not None and mask.ndim == 4 and mask.size(0) > 1:
                mask = mask.repeat_interleave(group, dim=0)
        if not hooks:
            return fused_attention(query, key, value, mask, bias, dropout)
        query = apply_hooks(hooks, "query", query)
        key = apply_hooks(hooks, "key", key)
        value = apply_hooks(hooks, "value", value)
        scores = apply_hooks(hooks, "scores", attention_scores(query, key, mask, bias))
        blind = (scores == -math.inf).all(dim=-1, keepdim=True)  # a hook may have hidden more
        weights = apply_hooks(hooks, "weights", softmax_over_keys(scores, blind))
        output = F.dropout(weights, dropout) @ value  # (batch, heads, query, d_v)
        return apply_hooks(hooks, "output", output)


def scores_shape(query: Tensor, key: Tensor, cache: KVCache | None) -> tuple[int, int, int, int]:
    """Return the shape (memories, heads, query, key) of the scores, without computing them.

    "memories" is the batch size of the keys, which is smaller than that of the queries when the
    hypotheses of a beam share a memory. "key" is the number of keys in `cache` and `key` together.
    """
    kept = None if cache is None or cache.key is None else cache.key.tensor
    memories, before = (key.size(0), 0) if kept is None else (kept.size(0), kept.size(2))
    return memories, query.size(1), query.size(2), before + key.size(2)


class MultiHeadAttention(nn.Module):
    """Compute MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O (§3.2.2).

    Each head has its own projections: W_Q and W_K to width d_k, and W_V to width d_v. Both widths
    are d_model / num_heads by default.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_k: int | None = None,
        d_v: int | None = None,
        core: AttentionCore | None = None,
    ):
        super().__init__()
        d_k, d_v = head_sizes(d_model, num_heads, d_k, d_v)
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, num_heads * d_k)
        self.w_k = nn.Linear(d_model, num_heads * d_k)
        self.w_v = nn.Linear(d_model, num_heads * d_v)
        self.w_o = nn.Linear(num_heads * d_v, d_model)
        self.core = core or AttentionCore()

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Return the attention output at each query position, projected by W_O.

        `mask` broadcasts to (batch, heads, query, key). With a `cache`, pass only new positions.
        Their keys and values are appended to the cache, and the queries attend to all of the cached
        positions.
        """
        q = self.split(self.w_q(query))
        k, v = self.keys_and_values(key, value)
        return self.w_o(self.merge(self.core(q, k, v, mask, cache)))

    def keys_and_values(
        self,
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
    ) -> tuple[Tensor, Tensor]:
        """Return the projected keys (batch, heads, key, d_k) and values (…, d_v)."""
        return self.split(self.w_k(key)), self.split(self.w_v(value))

    def split(self, x: Float[Tensor, "batch length features"]) -> Tensor:
        """Split the features into heads: (batch, length, heads · d) to (batch, heads, length, d).

        The features are unflattened first, and then the axes are transposed. A single `view` to the
        final shape would mix up the positions.
        """
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, heads, length, d_k)

    def merge(self, heads: Float[Tensor, "batch heads length d_v"]) -> Tensor:
        """Concatenate the heads: (batch, heads, length, d_v) to (batch, length, heads · d_v)."""
        return heads.transpose(1, 2).flatten(2)  # (batch, length, heads · d_v)


def head_sizes(d_model: int, num_heads: int, d_k: int | None, d_v: int | None) -> tuple[int, int]:
    """Return (d_k, d_v); each is d_model / num_heads by default.

    Raises:
        ValueError: If a size is not a positive integer, or if a default is needed and num_heads
            does not divide d_model.
    """
    named = {"d_model": d_model, "num_heads": num_heads, "d_k": d_k, "d_v": d_v}
    for name, value in named.items():
        if value is not None:
            check_positive_integer(name, value)
    divides = d_model % num_heads == 0 or (d_k is not None and d_v is not None)
    check("num_heads", num_heads, f"a divisor of d_model={d_model}", divides)
    return d_k or d_model // num_heads, d_v or d_model // num_heads
