"""Checks for the exercises of lesson 17: parameter count, and how many words fit in memory."""

from collections.abc import Iterator
from functools import partial

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- count a model from its sizes


def _count_parameters(words: int, d_model: int, d_ff: int, layers: int) -> int:
    attention = 4 * (d_model**2 + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    encoder_layer = attention + network + 2 * 2 * d_model
    decoder_layer = 2 * attention + network + 3 * 2 * d_model
    return words * d_model + layers * (encoder_layer + decoder_layer) + words


_edit_count = partial(edit_reference, _count_parameters)


def _random_sizes(chance: RandomValues) -> tuple:
    words, layers = chance.between(5, 40_000), chance.between(1, 9)
    return words, 2 * chance.between(1, 300), chance.between(1, 3000), layers


def _work_out_parameters(
    words: int, d_model: int, d_ff: int, layers: int, at: tuple
) -> Iterator[Step]:
    attention = 4 * (d_model**2 + d_model)
    network = 2 * d_model * d_ff + d_ff + d_model
    encoder, decoder = attention + network + 4 * d_model, 2 * attention + network + 6 * d_model
    outside = words * d_model + words
    yield (
        "one attention layer, four d_model × d_model matrices, each with d_model biases",
        attention,
    )
    yield "one feed-forward network, two matrices of d_model · d_ff, and both biases", network
    yield "an encoder layer, with attention, network and two norms of 2 · d_model", encoder
    yield "a decoder layer, with two attentions, network and three norms", decoder
    yield "the shared embedding, words · d_model, and a bias for each word", outside
    yield (
        "the sum of the two layers, times `layers`, plus the embedding and these biases",
        layers * (encoder + decoder) + outside,
    )


parameters = Check(
    reference=_count_parameters,
    cases=lambda: [(10, 4, 8, 1), (13, 6, 7, 3), (37_000, 512, 2_048, 6)],
    drawn=_random_sizes,
    results=("the number of parameters",),
    working=_work_out_parameters,
    verified="embedding, encoder, decoder and output bias, up to the size of the base model",
    mistakes=[
        Mistake(
            _edit_count(("return", "return 2 * words * d_model +")),
            "you counted the embedding three times, but source, target and output share one "
            "matrix.",
        ),
        Mistake(
            _edit_count(("return", "return words * d_model +")),
            "you counted the embedding twice, but it is also the output's matrix and should be "
            "counted once.",
        ),
        Mistake(
            _edit_count(("2 * attention + network + 3 * 2 * d_model", "encoder_layer")),
            "you counted the decoder layer like an encoder layer, but it also has cross-attention "
            "and a third norm.",
        ),
        Mistake(
            _edit_count(("3 * 2 * d_model", "2 * 2 * d_model")),
            "the decoder's third LayerNorm is missing.",
        ),
        Mistake(
            _edit_count(("d_model**2 + d_model", "d_model**2"), (" + d_ff + d_model", "")),
            "you left out the biases of the attention and feed-forward layers.",
        ),
        Mistake(
            _edit_count((" + 2 * 2 * d_model", ""), (" + 3 * 2 * d_model", "")),
            "the LayerNorms are missing. Each has a gain and a bias.",
        ),
        Mistake(
            _edit_count((" + words", "")),
            ("the output's bias is missing. It has one number for each word."),
        ),
        Mistake(
            _edit_count(("return", "return 512 * d_model +")),
            "this counts the sinusoids, but they are computed, not learnt.",
        ),
        Mistake(
            _edit_count(("layers * ", "")),
            "you counted only one layer on each side, but each side has `layers` layers.",
        ),
    ],
)

# ---------------------------------------------------------------- how long can the text get?


def _fit_words(room: int, layers: int, heads: int, d_k: int, source: int, each: int) -> int:
    word = heads * 2 * d_k * each  # in one layer
    memory = layers * word * source
    return max(0, (room - memory) // (layers * word))


_edit_fit = partial(edit_reference, _fit_words)


def _random_room(chance: RandomValues) -> tuple:
    layers, heads, d_k, source = chance.sizes(4)
    each = chance.one_of(1, 2, 4)
    return chance.between(0, 300_000), layers, heads, d_k, source, each


def _work_out_words(
    room: int, layers: int, heads: int, d_k: int, source: int, each: int, at: tuple
) -> Iterator[Step]:
    word = layers * heads * 2 * d_k * each
    left = room - source * word
    yield "the bytes per word in one layer, for a key and a value in every head", word // layers
    yield "the bytes per word in all layers", word
    yield "the bytes for the memory, which needs the same for each source word", source * word
    yield "the room that is left after that", left
    yield "that divided by the bytes per word", left / word
    yield "that number rounded down, and at least 0", max(0, left // word)


words_that_fit = Check(
    reference=_fit_words,
    cases=lambda: [
        (1_000, 1, 2, 3, 5, 4),
        (5_000, 3, 2, 5, 7, 2),
        (300, 2, 2, 4, 11, 4),
        (96 * 2**20, 6, 8, 64, 1_000, 2),
    ],
    drawn=_random_room,
    results=("the number of words",),
    working=_work_out_words,
    verified="keys and values in every layer, including those of the memory",
    mistakes=[
        Mistake(
            _edit_fit(("layers * word * source", "0")),
            "you left out the source words, but in every layer cross-attention keeps keys and "
            "values for each of them.",
        ),
        Mistake(
            _edit_fit(("layers * word * source", "word * source")),
            "you counted the source words' keys and values once, but every layer keeps its own, so "
            "count them in every layer.",
        ),
        Mistake(
            _edit_fit((" * 2", "")),
            "you counted one vector for each word, but the cache stores both a key and a value.",
        ),
        Mistake(
            _edit_fit(("* 2", "* 3")),
            "you counted three vectors for each word, but the cache does not store queries.",
        ),
        Mistake(
            _edit_fit(("layers * word", "word")),
            "you counted only one layer, but every layer has a cache.",
        ),
        Mistake(
            _edit_fit(("heads * 2", "2")),
            "you counted only one head, but every head has its own keys and values.",
        ),
        Mistake(
            _edit_fit((" * each", "")), "this counts numbers, but each number takes `each` bytes."
        ),
        Mistake(
            _edit_fit(
                ("max(0, (room - memory) // (layers * word))", "(room - memory) // (layers * word)")
            ),
            "this is right if the source fits. If it does not, no target word fits either, so the "
            "answer should be 0, not a negative number.",
        ),
        Mistake(
            _edit_fit(
                ("(room - memory) // (layers * word)", "-((memory - room) // (layers * word))")
            ),
            "you rounded up, but the last word does not fit. Round down instead.",
        ),
    ],
)
