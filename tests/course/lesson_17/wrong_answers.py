"""Wrong answers to the exercises of lesson 17, written as a learner writes them."""

import torch
from torch import nn

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward


def source_asks(batch, source, target, d_model, heads, words):
    square = [(batch, heads, n, n) for n in (source, target)]
    return (batch, source, d_model), *square, (batch, heads, source, target), (batch, target, words)


def cross_is_square(batch, source, target, d_model, heads, words):
    weights = [(batch, heads, target, n) for n in (target, target)]
    encoder = (batch, heads, source, source)
    return [(batch, source, d_model), encoder, *weights, (batch, target, words)]


def memory_of_the_target(batch, source, target, d_model, heads, words):
    memory = (batch, target, d_model)
    rows, columns = (source, target, target), (source, target, source)
    weights = [(batch, heads, q, k) for q, k in zip(rows, columns, strict=True)]
    return memory, *weights, (batch, target, words)


def vectors_for_logits(batch, source, target, d_model, heads, words):
    memory, logits = [(batch, n, d_model) for n in (source, target)]
    s, t = source, target
    return memory, (batch, heads, s, s), (batch, heads, t, t), (batch, heads, t, s), logits


def last_word_only(b, s, t, d, h, v):
    return torch.Size([b, s, d]), (b, h, s, s), (b, h, t, t), (b, h, t, s), torch.Size([b, v])


def one_head_each(b, s, t, d, h, v):
    return (b, s, d), *((b, q, k) for q, k in ((s, s), (t, t), (t, s))), (b, t, v)


def attended(x, memory, w_q, w_k, w_v, w_o, num_heads, mask, **fault):
    batch, query, d_model = x.shape
    key, d_k = memory.shape[1], d_model // num_heads
    if fault.get("view"):
        q, k, v = (y.view(batch, num_heads, -1, d_k) for y in (x @ w_q, memory @ w_k, memory @ w_v))
    else:
        q = (x @ w_q).view(batch, query, num_heads, d_k).swapaxes(1, 2)
        k = (memory @ w_k).view(batch, key, num_heads, d_k).swapaxes(1, 2)
        v = (memory @ w_v).view(batch, key, num_heads, d_k).swapaxes(1, 2)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * fault.get("scale", d_k**-0.5)
    axis = fault.get("axis", 3)
    if fault.get("late"):
        weights = torch.softmax(scores, axis) * mask.double()
    else:
        weights = torch.softmax(torch.where(mask, scores, float("-inf")), axis)
    heads = torch.einsum("bhqk,bhkd->bqhd", weights, v).reshape(batch, query, d_model)
    return heads if fault.get("apart") else heads @ w_o


def cut_by_a_view(*arguments):
    return attended(*arguments, view=True)


def root_of_the_model(x, *rest):
    return attended(x, *rest, scale=x.shape[-1] ** -0.5)


def columns_sum_to_one(*arguments):
    return attended(*arguments, axis=2)


def masked_after(*arguments):
    return attended(*arguments, late=True)


def never_projected(*arguments):
    return attended(*arguments, apart=True)


def two_left(*arguments):
    return attended(*arguments, axis=2, apart=True)


def all_five(x, *rest):
    return attended(x, *rest, view=True, scale=x.shape[-1] ** -0.5, axis=2, late=True, apart=True)


class Frame(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)


class NoCausalMask(Frame):
    def forward(self, x, memory, mask, memory_mask):
        x = self.norm_1(self.self_attention(x, x, x) + x)
        x = self.norm_2(self.cross_attention(x, memory, memory, memory_mask) + x)
        return self.norm_3(self.feed_forward(x) + x)


class NoMemoryMask(Frame):
    def forward(self, x, memory, mask, memory_mask):
        x = self.norm_1(self.self_attention(x, x, x, mask) + x)
        x = self.norm_2(self.cross_attention(x, memory, memory) + x)
        return self.norm_3(self.feed_forward(x) + x)


class MaskedNowhere(Frame):
    def forward(self, x, memory, mask, memory_mask):
        x = self.norm_1(self.self_attention(x, x, x) + x)
        x = self.norm_2(self.cross_attention(x, memory, memory) + x)
        return self.norm_3(self.feed_forward(x) + x)


class MemoryFirst(Frame):
    def forward(self, x, memory, mask, memory_mask):
        read = self.norm_1(x + self.cross_attention(x, memory, memory, memory_mask))
        known = self.norm_2(read + self.self_attention(read, read, read, mask))
        return self.norm_3(known + self.feed_forward(known))


class TwiceItself(Frame):
    def forward(self, x, memory, mask, memory_mask):
        for attention, norm in (
            (self.self_attention, self.norm_1),
            (self.cross_attention, self.norm_2),
        ):
            x = norm(x + attention(x, x, x, mask))
        return self.norm_3(x + self.feed_forward(x))


class Replaces(Frame):
    def forward(self, x, memory, mask, memory_mask):
        y = self.norm_1(x + self.self_attention(x, x, x, mask))
        z = self.norm_2(self.cross_attention(y, memory, memory, memory_mask))
        return self.norm_3(z + self.feed_forward(z))


class NormalisesFirst(Frame):
    def forward(self, x, memory, mask, memory_mask):
        n = self.norm_1(x)
        x = self.self_attention(n, n, n, mask) + x
        x = self.cross_attention(self.norm_2(x), memory, memory, memory_mask) + x
        return self.feed_forward(self.norm_3(x)) + x


def attention_numbers(d):
    return 4 * d * d + 4 * d


def network_numbers(d, f):
    return d * f + f + f * d + d


def three_tables(words, d, f, n):
    layers = n * (3 * attention_numbers(d) + 2 * network_numbers(d, f) + 10 * d)
    return 3 * words * d + words + layers


def two_tables(words, d, f, n):
    layers = n * (3 * attention_numbers(d) + 2 * network_numbers(d, f) + 10 * d)
    return 2 * words * d + words + layers


def same_layers(words, d, f, n):
    layer = attention_numbers(d) + network_numbers(d, f) + 4 * d
    return words * d + 2 * n * layer + words


def no_biases(words, d, f, n):
    return words * d + n * (12 * d * d + 4 * d * f + 10 * d) + words


def no_norms(words, d, f, n):
    encoder = attention_numbers(d) + network_numbers(d, f)
    return (words * d) + words + n * (2 * encoder + attention_numbers(d))


def no_output_bias(words, d, f, n):
    encoder = attention_numbers(d) + network_numbers(d, f) + 4 * d
    return words * d + n * (2 * encoder + attention_numbers(d) + 2 * d)


def only_the_target(room, layers, heads, d_k, source, each):
    return room // (2 * layers * heads * d_k * each)


def one_memory(room, layers, heads, d_k, source, each):
    word = 2 * heads * d_k * each
    return max((room - source * word) // (word * layers), 0)


def keys_only(room, layers, heads, d_k, source, each):
    return max(room // (layers * heads * d_k * each) - source, 0)


def queries_too(room, layers, heads, d_k, source, each):
    word = layers * heads * 3 * d_k * each
    return max(int(room / word) - source, 0)


def one_layer(room, layers, heads, d_k, source, each):
    return max(room // (2 * heads * d_k * each) - source, 0)


def numbers_for_bytes(room, layers, heads, d_k, source, each):
    return max(room // (2 * heads * d_k * layers) - source, 0)


def below_zero(room, layers, heads, d_k, source, each):
    word = 2 * each * d_k * heads * layers
    return (room - word * source) // word


TABLE = [
    ("shapes", source_asks, "the wrong way round"),
    ("shapes", cross_is_square, "reads the memory"),
    ("shapes", memory_of_the_target, "the encoder's output"),
    ("shapes", vectors_for_logits, "that of the decoder's vectors"),
    ("shapes", last_word_only, "at every target position"),
    ("shapes", one_head_each, "the heads are missing"),
    (
        "mended",
        cut_by_a_view,
        "one of the five mistakes is still there. Each head gets all the numbers",
    ),
    (
        "mended",
        root_of_the_model,
        "one of the five mistakes is still there. With the same matrices as PyTorch",
    ),
    (
        "mended",
        columns_sum_to_one,
        "one of the five mistakes is still there. Each key splits a weight of 1",
    ),
    ("mended", masked_after, "one of the five mistakes is still there. Hidden keys get a share"),
    (
        "mended",
        never_projected,
        "one of the five mistakes is still there. The heads are joined side by side",
    ),
    ("mended", two_left, "two of the five mistakes are still there. Each key splits a weight"),
    ("mended", all_five, "all five mistakes are still there"),
    ("decoder_layer", NoCausalMask, "each target word sees the words after it"),
    ("decoder_layer", NoMemoryMask, "the source's padding is visible"),
    ("decoder_layer", MaskedNowhere, "you used neither mask"),
    ("decoder_layer", MemoryFirst, "self-attention should come before"),
    ("decoder_layer", TwiceItself, "you never read the memory"),
    ("decoder_layer", Replaces, "the residual connection around cross-attention is missing"),
    ("decoder_layer", NormalisesFirst, "this is pre-norm"),
    ("parameters", three_tables, "the embedding three times"),
    ("parameters", two_tables, "the embedding twice"),
    ("parameters", same_layers, "the decoder layer like an encoder layer"),
    ("parameters", no_biases, "the biases of the attention and feed-forward layers"),
    ("parameters", no_norms, "the LayerNorms are missing"),
    ("parameters", no_output_bias, "the output's bias"),
    ("words_that_fit", only_the_target, "you left out the source words"),
    ("words_that_fit", one_memory, "keys and values once"),
    ("words_that_fit", keys_only, "both a key and a value"),
    ("words_that_fit", queries_too, "the cache does not store queries"),
    ("words_that_fit", one_layer, "every layer has a cache"),
    ("words_that_fit", numbers_for_bytes, "takes `each` bytes"),
    ("words_that_fit", below_zero, "so the answer should be 0"),
]
