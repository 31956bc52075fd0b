"""Wrong answers to the exercises of lesson 05, written as a learner writes them."""

import numpy as np
import torch
from torch import nn

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward


def over_the_batch(x, gain, bias):
    return gain * (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) + bias


def over_positions(x, gain, bias):
    return gain * (x - x.mean(-2, keepdims=True)) / np.sqrt(x.var(-2, keepdims=True) + 1e-5) + bias


def over_everything(x, gain, bias):
    return gain * (x - np.mean(x)) / np.sqrt(np.var(x) + 1e-5) + bias


def unbiased(x, gain, bias):
    y = torch.tensor(x)
    variance = y.var(dim=-1, keepdim=True)
    return torch.tensor(gain) * (y - y.mean(-1, keepdim=True)) / (variance + 1e-5).sqrt() + (
        torch.tensor(bias)
    )


def by_the_variance(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) + bias


def epsilon_outside(x, gain, bias):
    return gain * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5) + bias


def no_gain(x, gain, bias):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def linear(x, w_1, b_1, w_2, b_2):
    return x @ (w_1 @ w_2) + (b_1 @ w_2 + b_2)


def relu_last(x, w_1, b_1, w_2, b_2):
    y = (x @ w_1 + b_1) @ w_2 + b_2
    return y * (y > 0)


def no_b_1(x, w_1, b_1, w_2, b_2):
    return np.where(x @ w_1 > 0, x @ w_1, 0) @ w_2 + b_2


def no_b_2(x, w_1, b_1, w_2, b_2):
    return np.clip(x @ w_1 + b_1, 0, None) @ w_2


def relu_first(x, w_1, b_1, w_2, b_2):
    return (np.clip(x, 0, None) @ w_1 + b_1) @ w_2 + b_2


def adds_the_input(x, w_1, b_1, w_2, b_2):
    return np.clip(x @ w_1 + b_1, 0, None) @ w_2 + b_2 + x


def pre_norm(x, sublayer, norm):
    y = norm(x)
    return sublayer(y) + x


def no_residual(x, sublayer, norm):
    y = sublayer(x)
    return norm(y)


def norm_inside(x, sublayer, norm):
    return norm(sublayer(x)) + x


def norm_of_x_alone(x, sublayer, norm):
    return sublayer(x) + norm(x)


def no_norm(x, sublayer, norm):
    return sublayer(x) + x


def two_norms(x, sublayer, norm):
    y = sublayer(norm(x))
    return norm(y + x)


class Base(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_2, self.norm_1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.self_attention = MultiHeadAttention(d_model, num_heads)


class Pre(Base):
    def forward(self, x):
        y = self.norm_1(x)
        x = self.self_attention(y, y, y) + x
        return self.feed_forward(self.norm_2(x)) + x


class SharedNorm(Base):
    def forward(self, x):
        for sublayer in (lambda x: self.self_attention(x, x, x), self.feed_forward):
            x = self.norm_1(x + sublayer(x))
        return x


class OneResidual(Base):
    def forward(self, x):
        x = self.norm_1(self.self_attention(x, x, x) + x)
        return self.norm_2(self.feed_forward(x))


class SecondFromTheInput(Base):
    def forward(self, x):
        first = self.norm_1(self.self_attention(x, x, x) + x)
        return self.norm_2(self.feed_forward(first) + x)


class FeedForwardFirst(Base):
    def forward(self, x):
        x = self.norm_1(self.feed_forward(x) + x)
        return self.norm_2(self.self_attention(x, x, x) + x)


class NormsForgotten(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x):
        return x


def bias_inside(x, gain, bias):
    normal = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return gain * (normal + bias)


def not_centred(x, gain, bias):
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) + bias


def square_of_x(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    return gain * centred / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) + bias


def root_of_a_root(x, gain, bias):
    deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return gain * (x - x.mean(-1, keepdims=True)) / np.sqrt(deviation) + bias


TABLE = [
    ("layer_norm", not_centred, "the mean is not subtracted"),
    ("layer_norm", square_of_x, "you squared x itself"),
    ("layer_norm", root_of_a_root, "take the square root twice"),
    ("layer_norm", bias_inside, "then add the bias"),
    ("layer_norm", over_the_batch, "the mean over the first axis"),
    ("layer_norm", over_positions, "over the positions"),
    ("layer_norm", over_everything, "one mean for the whole array"),
    ("layer_norm", unbiased, "unbiased variance"),
    ("layer_norm", by_the_variance, "divide by its square root"),
    ("layer_norm", epsilon_outside, "inside the square root"),
    ("layer_norm", no_gain, "gain and bias are not applied"),
    ("feed_forward", linear, "the two linear maps collapse into one"),
    ("feed_forward", relu_last, "max(0, ·) at the end"),
    ("feed_forward", no_b_1, "b1 is missing"),
    ("feed_forward", no_b_2, "b2 is missing"),
    ("feed_forward", relu_first, "applied to the input"),
    ("feed_forward", adds_the_input, "you add the input"),
    ("add_norm", pre_norm, "this is pre-norm"),
    ("add_norm", no_residual, "x is not added"),
    ("add_norm", norm_inside, "inside the sum"),
    ("add_norm", norm_of_x_alone, "you normalise only x"),
    ("add_norm", no_norm, "not normalised"),
    ("add_norm", two_norms, "one norm too many"),
    ("encoder_layer", Pre, "this is pre-norm"),
    ("encoder_layer", SharedNorm, "norm_1 is used twice"),
    ("encoder_layer", OneResidual, "the residual connection around"),
    ("encoder_layer", SecondFromTheInput, "the output of the first Add & Norm"),
    ("encoder_layer", FeedForwardFirst, "self-attention should come first"),
    ("encoder_layer", NormsForgotten, "it lacks norm_1.bias"),
]
