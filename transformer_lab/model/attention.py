"""Scaled dot-product attention and multi-head attention (§3.2)."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.config import check


def attention_weights(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """softmax(Q Kᵀ / √d_k) over the keys that `mask` allows (§3.2.1, equation 1).

    `mask` and `bias` broadcast to (*batch, query, key); `bias` is added to the
    scaled scores. A query that may see nothing gets weights of 0.
    """
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (*batch, query, key)
    if bias is not None:
        scores = scores + bias
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    # A row of nothing but -inf has no softmax; it gets zeros instead of NaN.
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def fused_attention(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    bias: Float[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "batch heads query d_v"]:
    """`attention_weights` times the values, without ever writing the weights down."""
    if query.device.type == "cpu" and query.size(-2) == 1 and not dropout:
        # One query, as in decoding with a cache: its weights are a single row, and
        # two plain products are on a CPU up to four times as fast as the kernel.
        return attention_weights(query, key, mask, bias) @ value
    if query.device.type == "cpu" and query.dtype == torch.bfloat16:
        # On a CPU the backward pass of this kernel is several times slower in
        # bfloat16 than in float32, and it is no matrix product worth halving.
        whole = (query.float(), key.float(), value.float())
        bias = None if bias is None else bias.float()
        with torch.autocast("cpu", enabled=False):
            return fused_attention(*whole, mask, bias, dropout).to(query.dtype)
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)


class AttentionCore(nn.Module):
    """What happens between the projections: positions in the scores, dropout, and the path taken.

    It takes the fused path unless somebody watches: a `watch` (see
    `transformer_lab.capture`) gets the weights, which are then computed
    explicitly. Both paths give the same output.
    """

    def __init__(self, dropout: float = 0.0, positions: nn.Module | None = None):
        super().__init__()
        self.dropout = dropout
        self.positions = positions
        self.watch: Watch | None = None

    def forward(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch shared key d_k"],
        value: Float[Tensor, "batch shared key d_v"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Attend with every head at once; `mask` broadcasts to (batch, heads, query, key).

        With fewer keys than queries each key and value serves a group of neighbouring heads.
        """
        bias = None
        if self.positions is not None:
            query, key, bias = self.positions(query, key)
        if key.size(1) < query.size(1):
            group = query.size(1) // key.size(1)
            key, value = (t.repeat_interleave(group, dim=1) for t in (key, value))
        dropout = self.dropout if self.training else 0.0
        if self.watch is None:
            return fused_attention(query, key, value, mask, bias, dropout)
        weights = self.watch.weights(attention_weights(query, key, mask, bias))
        return self.watch.heads(F.dropout(weights, dropout) @ value)  # (batch, heads, query, d_v)


class Watch:
    """Sees, and may change, the weights and the heads of one `AttentionCore`. Here: it lets all pass."""

    def weights(
        self, weights: Float[Tensor, "batch heads query key"]
    ) -> Float[Tensor, "batch heads query key"]:
        """The weights before dropout; what is returned is used in their place."""
        return weights

    def heads(
        self, heads: Float[Tensor, "batch heads query d_v"]
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Each head's output before W_O; what is returned is used in its place."""
        return heads


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, …, head_h) W_O (§3.2.2).

    Each head attends with its own projections W_Q, W_K (to width d_k) and
    W_V (to width d_v), which are by default d_model / num_heads wide.
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
        divides = d_model % num_heads == 0 or (d_k is not None and d_v is not None)
        check("num_heads", num_heads, f"a divisor of d_model={d_model}", divides)
        d_k, d_v = d_k or d_model // num_heads, d_v or d_model // num_heads
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
    ) -> Float[Tensor, "batch query d_model"]:
        """Attend from `query` to `key` and `value`; `mask` broadcasts to (batch, heads, query, key)."""
        q, k, v = self.project(query, key, value)
        return self.w_o(self.merge(self.core(self.split(q), self.split(k), self.split(v), mask)))

    def project(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_model"],
    ) -> tuple[Tensor, ...]:
        """Q, K and V of all heads; vectors that are projected twice or thrice are so in one product."""
        if query is key and key is value:
            return together(query, self.w_q, self.w_k, self.w_v)
        if key is value:
            return self.w_q(query), *together(key, self.w_k, self.w_v)
        return self.w_q(query), self.w_k(key), self.w_v(value)

    def split(self, x: Float[Tensor, "batch length features"]) -> Tensor:
        """Cut the features into heads: view first, transpose second, never a view alone."""
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, heads, length, d_k)

    def merge(self, heads: Float[Tensor, "batch heads length d_v"]) -> Tensor:
        """Concatenate the heads: the inverse of `split`."""
        return heads.transpose(1, 2).flatten(2)  # (batch, length, heads · d_v)


def together(
    x: Float[Tensor, "batch length features"], *projections: nn.Linear
) -> tuple[Tensor, ...]:
    """What several projections make of the same vectors, in one matrix product."""
    weight = torch.cat([p.weight for p in projections])
    bias = torch.cat([p.bias for p in projections])
    return F.linear(x, weight, bias).split([p.out_features for p in projections], dim=-1)
