"""Lesson 17, review: the checks of its exercises, which join several lessons, and its quiz."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.lesson_03 import fill_with_known_weights
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.masks import causal_mask

# ---------------------------------------------------------------- say the shapes

Shape = tuple[int, ...]


def _shapes(
    batch: int, source: int, target: int, d_model: int, heads: int, words: int
) -> tuple[Shape, ...]:
    return (
        (batch, source, d_model),
        (batch, heads, source, source),
        (batch, heads, target, target),
        (batch, heads, target, source),
        (batch, target, words),
    )


def _replaced(place: int, shape: Callable[..., Shape]) -> Callable[..., tuple[Shape, ...]]:
    """The right shapes, but for the one at this place."""

    def answer(*sizes: int) -> tuple[Shape, ...]:
        right = _shapes(*sizes)
        return (*right[:place], shape(*sizes), *right[place + 1 :])

    return answer


shapes = Check(
    reference=_shapes,
    cases=lambda: [(2, 7, 5, 6, 3, 11), (1, 3, 4, 10, 2, 13), (3, 2, 9, 8, 4, 17)],
    results=(
        "memory",
        "encoder self-attention",
        "decoder self-attention",
        "cross-attention",
        "logits",
    ),
    verified="the shapes of memory, three kinds of weights, and logits",
    mistakes=[
        Mistake(
            _replaced(3, lambda b, s, t, d, h, v: (b, h, s, t)),
            "cross-attention is turned round: the decoder asks, so rows are target words.",
        ),
        Mistake(
            _replaced(3, lambda b, s, t, d, h, v: (b, h, t, t)),
            "cross-attention reads the memory: its columns are source words.",
        ),
        Mistake(
            _replaced(0, lambda b, s, t, d, h, v: (b, t, d)),
            "the memory is what the encoder puts out: a vector for each source word.",
        ),
        Mistake(
            _replaced(4, lambda b, s, t, d, h, v: (b, t, d)),
            "these are the decoder's vectors; the last linear map gives a number for each word of "
            "the vocabulary.",
        ),
        Mistake(
            _replaced(4, lambda b, s, t, d, h, v: (b, v)),
            "there are logits at every target place, not at the last one alone.",
        ),
        Mistake(
            _replaced(2, lambda b, s, t, d, h, v: (b, h, t, s)),
            "decoder self-attention: its queries and its keys are both target words.",
        ),
        Mistake(
            lambda b, s, t, d, h, v: (
                (b, s, d),
                (b, s, s),
                (b, t, t),
                (b, t, s),
                (b, t, v),
            ),
            "the heads are missing: each head has weights of its own, (batch, heads, query, key).",
        ),
        Mistake(
            lambda b, s, t, d, h, v: (
                (b, s, d),
                (b, s, h, s),
                (b, t, h, t),
                (b, t, h, s),
                (b, t, v),
            ),
            "the heads stand before the queries: (batch, heads, query, key).",
        ),
    ],
)

# ---------------------------------------------------------------- find the five mistakes

SYMPTOMS = {
    "by_view": "a head holds whole stretches of a few words in place of a part of every word",
    "root_of_d_model": "at equal weights the scores are smaller than PyTorch's",
    "over_queries": "the weights that arrive at a key sum to 1, those of a query do not",
    "mask_late": "hidden keys have taken their share before they are hidden",
    "no_output": "the heads stand side by side and never meet",
}
"""Each planted mistake, and what one sees of it."""


def planted(
    x: Tensor,
    memory: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    w_o: Tensor,
    num_heads: int,
    mask: Tensor,
    left: tuple[str, ...] = (),
) -> Tensor:
    """Multi-head attention from x to the memory, with the mistakes that are `left` in it."""

    def split(vectors: Tensor) -> Tensor:
        batch, length, width = vectors.shape
        if "by_view" in left:
            return vectors.reshape(batch, num_heads, length, width // num_heads)
        return vectors.reshape(batch, length, num_heads, -1).transpose(1, 2)

    q, k, v = split(x @ w_q), split(memory @ w_k), split(memory @ w_v)
    width = x.size(-1) if "root_of_d_model" in left else q.size(-1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(width)
    axis = -2 if "over_queries" in left else -1
    if "mask_late" in left:
        weights = scores.softmax(dim=axis) * mask
    else:
        weights = scores.masked_fill(~mask, -math.inf).softmax(dim=axis)
    merged = (weights @ v).transpose(1, 2).flatten(2)
    return merged if "no_output" in left else merged @ w_o


def _with(*left: str) -> Callable[..., Tensor]:
    return partial(planted, left=left)


def _mended_cases() -> list[tuple]:
    cases = []
    for seed, (batch, query, key, heads, d_k) in enumerate(((1, 3, 5, 2, 3), (2, 5, 7, 3, 2))):
        d_model = heads * d_k
        w = [torch.tensor(draw(d_model, d_model, seed=seed + 7 * i)) for i in range(1, 5)]
        # Every query sees a key and every key is seen, so that no wrong axis ends in 0/0.
        always = torch.arange(key) % query == torch.arange(query)[:, None]
        mask = (torch.tensor(draw(batch, 1, query, key, seed=seed)) > 0) | always
        x, memory = draw(batch, query, d_model, seed=seed + 50), draw(batch, key, d_model)
        cases.append((torch.tensor(x), torch.tensor(memory), *w, heads, mask))
    return cases


mended = Check(
    reference=planted,
    cases=_mended_cases,
    arguments=("x", "memory", "w_q", "w_k", "w_v", "w_o", "num_heads", "mask"),
    results=("the output",),
    verified="all five mistakes are gone: equal to multi-head attention under a mask",
    mistakes=[
        Mistake(
            _with(*left),
            f"{count} of the five {'is' if count == 1 else 'are'} still there: "
            f"{'; '.join(SYMPTOMS[name] for name in left)}.",
        )
        for count in range(1, 6)
        for left in itertools.combinations(SYMPTOMS, count)
    ],
)

# ---------------------------------------------------------------- the decoder layer


class _Layer(nn.Module):
    """The right answer, and the frame in which the wrong ones go wrong."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


class _SeesTheFuture(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, torch.ones_like(mask), memory_mask)


class _SeesPadding(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, mask, torch.ones_like(memory_mask))


class _NoMasks(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        return super().forward(x, memory, torch.ones_like(mask), torch.ones_like(memory_mask))


class _CrossFirst(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.cross_attention(x, memory, memory, memory_mask))
        x = self.norm_2(x + self.self_attention(x, x, x, mask))
        return self.norm_3(x + self.feed_forward(x))


class _NeverReadsTheMemory(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, x, x, mask))
        return self.norm_3(x + self.feed_forward(x))


class _NoResidualOnCross(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


class _AsksWithTheInput(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        y = self.norm_1(x + self.self_attention(x, x, x, mask))
        y = self.norm_2(y + self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(y + self.feed_forward(y))


class _PreNorm(_Layer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        y = self.norm_1(x)
        x = x + self.self_attention(y, y, y, mask)
        x = x + self.cross_attention(self.norm_2(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))


def _build_layer(answer: Callable[..., Any], *sizes_and_inputs: Any) -> Tensor:
    *sizes, x, memory, mask, memory_mask = sizes_and_inputs
    layer = answer(*sizes).double()
    for kind in (nn.Module.named_children, nn.Module.named_parameters):
        found = sorted(name for name, _ in kind(layer))
        wanted = sorted(name for name, _ in kind(_Layer(*sizes)))
        if found != wanted:
            raise TypeError(f"Layer has the parts {found}; expected {wanted}")
    fill_with_known_weights(layer)
    return layer(x, memory, mask, memory_mask)


def _layer_cases() -> list[tuple]:
    cases = []
    for seed, (batch, target, source, heads, d_k) in enumerate(((1, 3, 5, 2, 3), (2, 5, 4, 3, 2))):
        d_model = heads * d_k
        words = torch.ones(batch, 1, 1, source, dtype=torch.bool)
        words[-1, ..., -1] = False
        # In the second case the target is padded, too: a triangle of one's own is not enough.
        written = torch.ones(batch, 1, 1, target, dtype=torch.bool)
        written[1:, ..., -1] = False
        mask = causal_mask(target) & written if batch > 1 else causal_mask(target)
        x = torch.tensor(draw(batch, target, d_model, seed=seed))
        memory = torch.tensor(draw(batch, source, d_model, seed=seed + 9))
        cases.append((d_model, heads, 7 + seed, x, memory, mask, words))
    return cases


decoder_layer = Check(
    reference=_Layer,
    cases=_layer_cases,
    run=_build_layer,
    arguments=("d_model", "num_heads", "d_ff", "x", "memory", "mask", "memory_mask"),
    verified="three sub-layers, each inside Add & Norm, each with the mask that is its own",
    mistakes=[
        Mistake(_SeesTheFuture, "the words see the future: self-attention takes `mask`."),
        Mistake(
            _SeesPadding, "the padding of the source is seen: cross-attention takes `memory_mask`."
        ),
        Mistake(
            _NoMasks, "neither mask is used: self-attention takes one, cross-attention the other."
        ),
        Mistake(_CrossFirst, "self-attention comes before cross-attention."),
        Mistake(
            _NeverReadsTheMemory,
            "the memory is never read: keys and values of cross-attention come from it.",
        ),
        Mistake(_NoResidualOnCross, "around cross-attention the residual is missing."),
        Mistake(
            _AsksWithTheInput,
            "cross-attention asks with the layer's input; it works on what the first Add & Norm gave.",
        ),
        Mistake(_PreNorm, "this is pre-norm; the paper normalises after the sum."),
    ],
)

# ---------------------------------------------------------------- count a model from its sizes


def _counted(
    words: int,
    d_model: int,
    d_ff: int,
    layers: int,
    *,
    matrices: int = 1,
    cross: int = 1,
    projection_bias: bool = True,
    norms: int = 5,
    places: int = 0,
    output_bias: bool = True,
    layers_used: int | None = None,
) -> int:
    attention = 4 * (d_model**2 + d_model * projection_bias)
    network = 2 * d_model * d_ff + (d_ff + d_model) * projection_bias
    pair = (2 + cross) * attention + 2 * network + norms * 2 * d_model
    used = layers if layers_used is None else layers_used
    return matrices * words * d_model + places * d_model + used * pair + words * output_bias


def _miscount(hint: str, **switch: Any) -> Mistake:
    def answer(words: int, d_model: int, d_ff: int, layers: int) -> int:
        return _counted(words, d_model, d_ff, layers, **switch)

    return Mistake(answer, hint)


parameters = Check(
    reference=lambda words, d_model, d_ff, layers: _counted(words, d_model, d_ff, layers),
    cases=lambda: [(10, 4, 8, 1), (13, 6, 7, 3), (37_000, 512, 2_048, 6)],
    results=("the number of parameters",),
    verified="embedding, encoder, decoder and output bias, up to the base model",
    mistakes=[
        _miscount(
            "the embedding is counted three times; source, target and output share one matrix.",
            matrices=3,
        ),
        _miscount(
            "the embedding is counted twice; the output uses the same matrix once more.", matrices=2
        ),
        _miscount(
            "the decoder layer is counted like an encoder layer: it has cross-attention and a third "
            "norm besides.",
            cross=0,
            norms=4,
        ),
        _miscount("the decoder's third LayerNorm is missing.", norms=4),
        _miscount("the biases of the layers are missing.", projection_bias=False),
        _miscount("the LayerNorms are missing: a gain and a bias each.", norms=0),
        _miscount("the output's bias is missing: one number for each word.", output_bias=False),
        _miscount("sinusoids are computed and not learnt: they add nothing.", places=512),
        _miscount("only one layer on each side is counted.", layers_used=1),
    ],
)

# ---------------------------------------------------------------- how long may the text become?


def _fit(
    room: int,
    layers: int,
    heads: int,
    d_k: int,
    source: int,
    each: int,
    *,
    kept: int = 2,
    memories: int | None = None,
) -> int:
    one = heads * kept * d_k * each
    memory = (layers if memories is None else memories) * one * source
    return max(0, (room - memory) // (layers * one))


def _unfit(hint: str, **switch: Any) -> Mistake:
    return Mistake(lambda *sizes: _fit(*sizes, **switch), hint)


words_that_fit = Check(
    reference=lambda room, layers, heads, d_k, source, each: _fit(
        room, layers, heads, d_k, source, each
    ),
    cases=lambda: [
        (1_000, 1, 2, 3, 5, 4),
        (5_000, 3, 2, 5, 7, 2),
        (300, 2, 2, 4, 11, 4),
        (96 * 2**20, 6, 8, 64, 1_000, 2),
    ],
    results=("the number of words",),
    verified="keys and values, in every layer, beside those of the memory",
    mistakes=[
        _unfit(
            "the memory is forgotten: cross-attention keeps keys and values of each source word, "
            "in every layer.",
            memories=0,
        ),
        _unfit(
            "the memory's keys and values are counted once; each layer projects its own.",
            memories=1,
        ),
        _unfit("one vector for each word is counted; both key and value are kept.", kept=1),
        _unfit("three vectors for each word are counted; queries are not kept.", kept=3),
        Mistake(
            lambda room, layers, heads, d_k, source, each: _fit(room, 1, heads, d_k, source, each),
            "one layer is counted; every layer has its cache.",
        ),
        Mistake(
            lambda room, layers, heads, d_k, source, each: _fit(room, layers, 1, d_k, source, each),
            "one head is counted; each of them keeps keys and values.",
        ),
        Mistake(
            lambda room, layers, heads, d_k, source, each: _fit(
                room, layers, heads, d_k, source, 1
            ),
            "numbers are counted; each of them takes `each` bytes.",
        ),
        Mistake(
            lambda room, layers, heads, d_k, source, each: (
                (room // (layers * heads * 2 * d_k * each)) - source
            ),
            "right where the memory fits; where it does not, no word fits, and no fewer than 0.",
        ),
        Mistake(
            lambda room, layers, heads, d_k, source, each: max(
                0, -(-room // (layers * heads * 2 * d_k * each)) - source
            ),
            "rounded up: the last word does not fit.",
        ),
    ],
)

check = SimpleNamespace(
    shapes=shapes,
    mended=mended,
    decoder_layer=decoder_layer,
    parameters=parameters,
    words_that_fit=words_that_fit,
)

quiz = Quiz(
    [
        Question(
            "A part of the model treats every word alike and asks no other word. Which is it?",
            (
                ("self-attention in the encoder", "It is the part in which words meet."),
                (
                    "the feed-forward network",
                    "Position-wise: the same two matrices at every place (lesson 05).",
                ),
                ("cross-attention in the decoder", "There target words ask source words."),
            ),
            right=1,
        ),
        Question(
            "Two models of equal size, one seed each, reach 84 % and 96 %. What has been shown?",
            (
                (
                    "the second is better: the sizes are equal",
                    "In lesson 09 four seeds of one setting lie as far apart.",
                ),
                (
                    "nothing yet: two seeds may differ as much",
                    "The spread of the seeds is not known: run each again with other seeds, and "
                    "say which difference could be seen.",
                ),
                (
                    "the first has a bug: 12 points are too many",
                    "It may; a spread of seeds is the nearer explanation.",
                ),
            ),
            right=1,
        ),
        Question(
            "The input becomes twice as long. What does not grow, in theory?",
            (
                ("the number of parameters", "4 d² for each attention, whatever n is (lesson 15)."),
                ("the KV cache", "It keeps a key and a value for each word."),
                ("the multiplications of the projections", "They grow with n."),
            ),
            right=0,
        ),
        Question(
            "A head puts 0.99 of a row on one word. What is shown?",
            (
                (
                    "that this word is the reason for the answer",
                    "It may be a resting place, or another head may stand in (lessons 11, 12).",
                ),
                ("that the model is sure", "The row is sharp; the answer may not be."),
                (
                    "where the head looks",
                    "What it is used for must be tested by a change: mute the head, point the "
                    "row, and compare with other heads and rows.",
                ),
            ),
            right=2,
        ),
        Question(
            "Training accuracy is far above what can be known. What comes first?",
            (
                (
                    "a leak test: does the past see the future?",
                    "Change a later input, look at earlier outputs. An inverted or missing "
                    "causal mask and an unshifted target look like success.",
                ),
                (
                    "a larger test set: this one is too easy",
                    "It would be as easy: the answer stands in the input.",
                ),
                (
                    "a lower learning rate: it learns too fast",
                    "The loss is not too high; it is too good.",
                ),
            ),
            right=0,
        ),
        Question(
            "Which of these gives other numbers than softmax attention, not only in other order?",
            (
                ("FlashAttention", "Exact: the softmax is taken block by block."),
                ("the KV cache", "The same keys and values, computed once."),
                ("linear attention", "Its weights are not a softmax (lesson 15)."),
                ("speculative decoding, greedy", "Every word is the large model's own."),
            ),
            right=2,
        ),
    ]
)
