"""Checks of the exercises of lesson 17: count a model from its sizes, and how long a text may become."""

from typing import Any

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

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


def _random_sizes(chance: RandomValues) -> tuple:
    words, layers = chance.between(5, 40_000), chance.between(1, 9)
    return words, 2 * chance.between(1, 300), chance.between(1, 3000), layers


parameters = Check(
    reference=lambda words, d_model, d_ff, layers: _counted(words, d_model, d_ff, layers),
    cases=lambda: [(10, 4, 8, 1), (13, 6, 7, 3), (37_000, 512, 2_048, 6)],
    drawn=_random_sizes,
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


def _random_room(chance: RandomValues) -> tuple:
    layers, heads, d_k, source = chance.sizes(4)
    each = chance.one_of(1, 2, 4)
    return chance.between(0, 300_000), layers, heads, d_k, source, each


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
    drawn=_random_room,
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
