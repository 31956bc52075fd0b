"""Wrong answers to the exercises of lesson 03, written as a learner writes them."""

import numpy as np
import torch
from torch import nn

from transformer_lab.numpy_reference import softmax


def view_only(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, length, d_model // num_heads)


def no_swap(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-1), axis=2)


def every_hth_column(x, num_heads):
    return np.stack([x[:, :, i::num_heads] for i in range(num_heads)], axis=1)


def heads_first(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-1))


def transposed_heads(x, num_heads):
    return np.stack([part.swapaxes(1, 2) for part in np.split(x, num_heads, axis=-1)], axis=1)


def reshape_only(heads):
    batch, num_heads, length, d = heads.shape
    return heads.reshape(batch, length, num_heads * d)


def mean_of_heads(heads):
    return np.mean(heads, 1)


def sum_of_heads(heads):
    return sum(heads[:, i] for i in range(heads.shape[1]))


def alternating(heads):
    return np.stack(list(heads.swapaxes(0, 1)), axis=-1).reshape(heads.shape[0], heads.shape[2], -1)


def four_axes(heads):
    return np.moveaxis(heads, 1, 2)


def attend(q, k, v, scale):
    return softmax(q @ k.swapaxes(-2, -1) / scale) @ v


def loop(x, w_q, w_k, w_v, num_heads, scale=None):
    d = x.shape[-1] // num_heads
    heads = []
    for i in range(num_heads):
        block = slice(i * d, (i + 1) * d)
        q, k, v = x @ w_q[:, block], x @ w_k[:, block], x @ w_v[:, block]
        heads.append(attend(q, k, v, scale or d**0.5))
    return heads


def without_w_o(x, w_q, w_k, w_v, w_o, num_heads):
    return np.concatenate(loop(x, w_q, w_k, w_v, num_heads), axis=-1)


def one_wide_head(x, w_q, w_k, w_v, w_o, num_heads):
    return attend(x @ w_q, x @ w_k, x @ w_v, x.shape[-1] ** 0.5) @ w_o


def root_of_d_model(x, w_q, w_k, w_v, w_o, num_heads):
    heads = loop(x, w_q, w_k, w_v, num_heads, scale=x.shape[-1] ** 0.5)
    return np.concatenate(heads, axis=-1) @ w_o


def no_root(x, w_q, w_k, w_v, w_o, num_heads):
    return np.concatenate(loop(x, w_q, w_k, w_v, num_heads, scale=1.0), axis=-1) @ w_o


def slices_of_x(x, w_q, w_k, w_v, w_o, num_heads):
    d = x.shape[-1] // num_heads
    heads = []
    for i in range(num_heads):
        b = slice(i * d, (i + 1) * d)
        part = x[..., b]
        heads.append(attend(part @ w_q[b, b], part @ w_k[b, b], part @ w_v[b, b], d**0.5))
    return np.concatenate(heads, axis=-1) @ w_o


def averaged(x, w_q, w_k, w_v, w_o, num_heads):
    mean = np.mean(loop(x, w_q, w_k, w_v, num_heads), axis=0)
    return np.tile(mean, num_heads) @ w_o


class Base(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def cut(self, x):
        return x.reshape(x.size(0), x.size(1), self.h, -1).transpose(1, 2)

    def attend(self, q, k, v, width):
        weights = (q @ k.transpose(-2, -1) / width**0.5).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2)


class IgnoresMemory(Base):
    def forward(self, query, key, value):
        q, k, v = (self.cut(w(query)) for w in (self.w_q, self.w_k, self.w_v))
        return self.w_o(self.attend(q, k, v, q.size(-1)))


class ReadsNoValue(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(key))
        return self.w_o(self.attend(q, k, v, q.size(-1)))


class ReadsNoKey(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(value)), self.cut(self.w_v(value))
        return self.w_o(self.attend(q, k, v, q.size(-1)))


class NoOutputProjection(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        return self.attend(q, k, v, q.size(-1))


class ViewInPlaceOfTranspose(Base):
    def cut(self, x):
        return x.view(x.size(0), self.h, x.size(1), -1)

    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        return self.w_o(self.attend(q, k, v, q.size(-1)))


class RootOfDModel(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        return self.w_o(self.attend(q, k, v, query.size(-1)))


class ValuesCompared(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        return self.w_o(self.attend(q, v, k, q.size(-1)))


class ProductsInNumPy(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])
        return self.w_o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class SoftmaxInNumPy(Base):
    def forward(self, query, key, value):
        q, k, v = self.cut(self.w_q(query)), self.cut(self.w_k(key)), self.cut(self.w_v(value))
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        shares = torch.exp(scores - np.max(scores, axis=-1, keepdims=True))
        return self.w_o((shares / shares.sum(-1, keepdim=True) @ v).transpose(1, 2).flatten(2))


class OtherNames(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.query = nn.Linear(d_model, d_model)

    def forward(self, query, key, value):
        return torch.zeros_like(query)


def h_times(length, d_model, num_heads):
    return num_heads * (4 * length * d_model**2 + 2 * length**2 * d_model)


def three_projections(length, d_model, num_heads):
    return 3 * length * d_model * d_model + 2 * length * length * d_model


def scores_only(length, d_model, num_heads):
    return 4 * length * d_model * d_model + length * length * d_model


def heads_counted_twice(length, d_model, num_heads):
    return 4 * length * d_model**2 + num_heads * 2 * length**2 * d_model


def one_position_projected(length, d_model, num_heads):
    return 4 * d_model**2 + 2 * length**2 * d_model


def reshaped_and_swapped_back(x, w_q, w_k, w_v, w_o, num_heads):
    b, n, d = x.shape
    q, k, v = ((x @ w).reshape(b, num_heads, n, d // num_heads) for w in (w_q, w_k, w_v))
    return (attended(q, k, v)).swapaxes(1, 2).reshape(b, n, d) @ w_o


def never_swapped(x, w_q, w_k, w_v, w_o, num_heads):
    b, n, d = x.shape
    q, k, v = ((x @ w).reshape(b, n, num_heads, d // num_heads) for w in (w_q, w_k, w_v))
    return attended(q, k, v).reshape(b, n, d) @ w_o


def columns_in_turn(x, w_q, w_k, w_v, w_o, num_heads):
    heads = [
        attended(x @ w_q[:, i::num_heads], x @ w_k[:, i::num_heads], x @ w_v[:, i::num_heads])
        for i in range(num_heads)
    ]
    return np.concatenate(heads, axis=-1) @ w_o


def attended(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True) @ v


def large_scores_overflow(x, w_q, w_k, w_v, w_o, num_heads):
    heads = []
    width = x.shape[-1] // num_heads
    for h in range(num_heads):
        own = slice(h * width, (h + 1) * width)
        q, k, v = (x @ w[:, own] for w in (w_q, w_k, w_v))
        e = np.exp(np.einsum("bqd,bkd->bqk", q, k) / width**0.5)
        heads.append(e @ v / e.sum(axis=-1)[..., None])
    return np.concatenate(heads, axis=-1) @ w_o


TABLE = [
    ("split_heads", view_only, "mixes positions"),
    ("split_heads", no_swap, "Swap the two middle axes"),
    ("split_heads", every_hth_column, "block of neighbouring columns"),
    ("split_heads", heads_first, "before the batch"),
    ("split_heads", transposed_heads, "last two axes are swapped"),
    ("merge_heads", reshape_only, "Swap heads and positions before"),
    ("merge_heads", mean_of_heads, "are averaged"),
    ("merge_heads", sum_of_heads, "are added up"),
    ("merge_heads", alternating, "alternates between columns"),
    ("merge_heads", four_axes, "still two separate axes"),
    ("multi_head", large_scores_overflow, "large ones give NaN"),
    ("multi_head", without_w_o, "W_O is missing"),
    ("multi_head", one_wide_head, "one wide head"),
    ("multi_head", root_of_d_model, "√d_model"),
    ("multi_head", no_root, "not divided by √d_k"),
    ("multi_head", slices_of_x, "a slice of the input"),
    ("multi_head", averaged, "are averaged"),
    ("multi_head", reshaped_and_swapped_back, "only reshape, which mixes words"),
    ("multi_head", never_swapped, "heads of each word attend to one another"),
    ("multi_head", columns_in_turn, "every h-th column"),
    ("multi_head_class", IgnoresMemory, "keys and values from `query`"),
    ("multi_head_class", ReadsNoValue, "`value` is never used"),
    ("multi_head_class", ReadsNoKey, "`key` is never used"),
    ("multi_head_class", NoOutputProjection, "w_o is not applied"),
    ("multi_head_class", ViewInPlaceOfTranspose, "change the shape, which mixes words"),
    ("multi_head_class", RootOfDModel, "the scores by √d_model"),
    ("multi_head_class", ValuesCompared, "keys and values are swapped"),
    ("multi_head_class", ProductsInNumPy, "no gradient passes through NumPy. Use @"),
    ("multi_head_class", SoftmaxInNumPy, "dim instead of axis, and keepdim instead of keepdims"),
    (
        "multi_head_class",
        OtherNames,
        "it lacks w_k.bias",
    ),
    ("multiplications", h_times, "this is h times too large"),
    ("multiplications", three_projections, "one projection is missing"),
    ("multiplications", scores_only, "as much again"),
    ("multiplications", heads_counted_twice, "For all heads together"),
    ("multiplications", one_position_projected, "each of the n positions"),
]
