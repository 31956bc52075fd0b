"""Lesson 07, the whole Transformer: the checks of its exercises, and its quiz."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.lesson_01 import draw
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.model import Transformer
from transformer_lab.model.masks import causal_mask, padding_mask

# ---------------------------------------------------------------- what the first layer gets


def _encoder_input(ids: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    return table[ids] * math.sqrt(table.size(1)) + positions[: ids.size(1)]


encoder_input = Check(
    reference=_encoder_input,
    cases=lambda: [
        (
            torch.randint(vocabulary, (batch, length), generator=torch.Generator().manual_seed(7)),
            torch.tensor(draw(vocabulary, width)),
            torch.tensor(draw(13, width, seed=1)),
        )
        for batch, length, vocabulary, width in ((1, 2, 5, 3), (2, 5, 11, 7), (3, 7, 5, 2))
    ],
    results=("what the first layer gets",),
    verified="rows of the table, times √d_model, plus the first positions",
    tolerance=1e-6,  # a root taken in single precision is right enough
    mistakes=[
        Mistake(
            lambda ids, table, positions: table[ids] * math.sqrt(table.size(1)),
            "the positions are missing.",
        ),
        Mistake(
            lambda ids, table, positions: table[ids] + positions[: ids.size(1)],
            "√d_model is missing: multiply the embeddings by it before the positions are added.",
        ),
        Mistake(
            lambda ids, table, positions: (
                (table[ids] + positions[: ids.size(1)]) * math.sqrt(table.size(1))
            ),
            "the positions are multiplied too: √d_model is for the embeddings alone.",
        ),
        Mistake(
            lambda ids, table, positions: (
                table[ids] / math.sqrt(table.size(1)) + positions[: ids.size(1)]
            ),
            "embeddings are divided by √d_model; §3.4 multiplies.",
        ),
        Mistake(
            lambda ids, table, positions: table[ids] * table.size(1) + positions[: ids.size(1)],
            "you multiplied by d_model, not √d_model.",
        ),
        Mistake(
            lambda ids, table, positions: (
                table[ids] * math.sqrt(len(table)) + positions[: ids.size(1)]
            ),
            "this is the root of the number of words; d_model is the table's width.",
        ),
        Mistake(
            lambda ids, table, positions: table[ids] * math.sqrt(table.size(1)) + positions[ids],
            "the positions are looked up by the word's id: a place is 0, 1, 2, …, whatever word "
            "stands there.",
        ),
        Mistake(
            lambda ids, table, positions: torch.cat(
                [
                    table[ids] * math.sqrt(table.size(1)),
                    positions[: ids.size(1)].expand(len(ids), -1, -1),
                ],
                dim=-1,
            ),
            "the positions are concatenated; the paper adds them.",
        ),
    ],
)

# ---------------------------------------------------------------- the forward pass

Forward = Callable[[Transformer, Tensor, Tensor], Tensor]


def small_model(seed: int, **changes: Any) -> Transformer:
    """A small model in float64; none of its sizes equals another."""
    config = TransformerConfig(
        source_vocab_size=11,
        target_vocab_size=13,
        d_model=6,
        d_ff=7,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=0.0,
        tie_source_target=False,
        **changes,
    )
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return Transformer(config).double().eval()


def forward_cases() -> list[tuple]:
    """A model, a padded source and a padded target, three times; one model pads with 3."""
    source = torch.tensor([[5, 7, 9, 4, 2], [6, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
    target = torch.tensor([[1, 4, 12, 5], [1, 6, 7, 0], [1, 9, 0, 0]])
    return [
        (small_model(0), torch.tensor([[5, 7, 2]]), torch.tensor([[1, 4]])),
        (small_model(1), source, target),
        (small_model(2, pad_id=3), source.where(source != 0, 3), target.where(target != 0, 3)),
    ]


def _assembled(
    model: Transformer,
    source: Tensor,
    target: Tensor,
    *,
    causal: bool = True,
    causal_in_encoder: bool = False,
    source_mask: bool = True,
    memory_mask: bool = True,
    positions: bool = True,
    target_positions: bool = True,
    inverted: bool = False,
    scaled: bool = True,
    pad_id: int | None = None,
    memory: bool = True,
    output: bool = True,
    softmax: bool = False,
) -> Tensor:
    """The forward pass, with each part that can be forgotten or misplaced as a switch."""

    def vectors(embedding: nn.Embedding, places: nn.Module, ids: Tensor, add: bool) -> Tensor:
        x = model.embed(embedding, ids) if scaled else embedding(ids)
        return places(x) if add else x

    words = padding_mask(source, model.config.pad_id if pad_id is None else pad_id)
    seen = words if source_mask else torch.ones_like(words)
    if causal_in_encoder:
        seen = seen & causal_mask(source.size(1))
    x = vectors(model.source_embedding, model.source_positions, source, positions)
    encoded = model.encoder(x, seen) if memory else x
    add = positions and target_positions
    y = vectors(model.target_embedding, model.target_positions, target, add)
    future = causal_mask(target.size(1)) if causal else None
    if future is not None and inverted:
        future = ~future
    y = model.decoder(y, encoded, future, words if memory_mask else None)
    logits = model.output(y) if output else y
    return logits.softmax(dim=-1) if softmax else logits


def _wrong(hint: str, **switch: Any) -> Mistake:
    def answer(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
        return _assembled(model, source, target, **switch)

    return Mistake(answer, hint)


def _at_words(answer: Forward, model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    """The logits at the target's words: what stands at its padding nobody reads."""
    logits = answer(model, source, target)
    fits = isinstance(logits, Tensor) and logits.shape[:2] == target.shape
    return logits[target != model.config.pad_id] if fits else logits


forward = Check(
    reference=lambda model, source, target: model(source, target),
    run=_at_words,
    cases=forward_cases,
    arguments=("model", "source", "target"),
    results=("logits",),
    verified="the package's logits, for padded and unpadded sentences",
    mistakes=[
        _wrong(
            "the decoder sees the future: its self-attention needs the causal mask.", causal=False
        ),
        _wrong(
            "the encoder's self-attention sees padding: hand it the padding mask.",
            source_mask=False,
        ),
        _wrong(
            "cross-attention sees padding: the decoder needs the source's padding mask too, as "
            "its last argument.",
            memory_mask=False,
        ),
        _wrong(
            "padding is hidden nowhere: encoder and cross-attention both need the padding mask.",
            source_mask=False,
            memory_mask=False,
        ),
        _wrong(
            "the encoder has a causal mask: its words may see each other in both directions.",
            causal_in_encoder=True,
        ),
        _wrong(
            "the causal mask is inverted: True means “may attend”, as causal_mask returns it.",
            inverted=True,
        ),
        _wrong("the positions are missing, in encoder and decoder.", positions=False),
        _wrong("the decoder's positions are missing.", target_positions=False),
        _wrong(
            "√d_model is missing: use model.embed(embedding, ids), not the embedding alone.",
            scaled=False,
        ),
        _wrong(
            "the decoder's memory is the embedded source: it should be what the encoder puts out.",
            memory=False,
        ),
        _wrong("these are the decoder's vectors: model.output makes logits of them.", output=False),
        _wrong(
            "these are probabilities: logits come before the softmax, which is part of the loss.",
            softmax=True,
        ),
        _wrong(
            "0 is written in as padding; it is model.config.pad_id, and in some models another.",
            pad_id=0,
        ),
    ],
)

# ---------------------------------------------------------------- counting with a pencil


def _encoder_layer(
    d: int,
    d_ff: int,
    *,
    projections: int = 4,
    biases: bool = True,
    norms: int = 2,
) -> int:
    attention = projections * (d * d + d * biases)
    network = 2 * d * d_ff + (d_ff + d) * biases
    return attention + network + norms * 2 * d


layer_parameters = Check(
    reference=_encoder_layer,
    cases=lambda: [(4, 8), (7, 31), (512, 2048)],
    arguments=("d_model", "d_ff"),
    results=("the count",),
    verified="as many as PyTorch finds in the package's layer",
    mistakes=[
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, biases=False),
            "the biases of the six linear maps are missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, biases=False, norms=0),
            "these are the matrices alone: biases and the two LayerNorms have numbers too.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, projections=3),
            "attention has four projections: W_O is missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, norms=0),
            "4 · d_model are missing: the biases of the four projections, or the two LayerNorms.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff, norms=1),
            "2 · d_model are missing: there are two LayerNorms, each with a gain and a bias.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) - d_ff - d,
            "the two biases of the feed-forward network are missing.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) + 21 * (d * d + d) + 7 * d * d,
            "counted for eight heads of width d_model: together the heads are as wide as d_model.",
        ),
        Mistake(
            lambda d, d_ff: _encoder_layer(d, d_ff) + 4 * (d * d + d) + 2 * d,
            "this is a decoder layer: an encoder layer has no cross-attention.",
        ),
    ],
)

# ---------------------------------------------------------------- one matrix, two places

Tie = Callable[[nn.Embedding, nn.Linear], None]


def _after_a_step(answer: Tie, vocabulary: int, width: int) -> tuple[Tensor, Tensor, int]:
    """Tie, train for one step; both matrices, and how many parameters an optimiser sees."""
    embedding = nn.Embedding(vocabulary, width)
    output = nn.Linear(width, vocabulary, bias=False)
    with torch.no_grad():
        embedding.weight.copy_(torch.tensor(draw(vocabulary, width)))
        output.weight.copy_(torch.tensor(draw(vocabulary, width, seed=1)))
    both = nn.ModuleList([embedding.double(), output.double()])
    answer(embedding, output)
    descent = torch.optim.Adam(both.parameters(), lr=0.1)
    ids = torch.arange(0, vocabulary, 2)
    loss = nn.functional.cross_entropy(output(embedding(ids)), ids)
    loss.backward()
    descent.step()
    return embedding.weight, output.weight, sum(p.numel() for p in both.parameters())


def _tie(embedding: nn.Embedding, output: nn.Linear) -> None:
    output.weight = embedding.weight


def _copy(embedding: nn.Embedding, output: nn.Linear) -> None:
    with torch.no_grad():
        output.weight.copy_(embedding.weight)


def _share_storage(embedding: nn.Embedding, output: nn.Linear) -> None:
    output.weight.data = embedding.weight.data


def _the_other_way(embedding: nn.Embedding, output: nn.Linear) -> None:
    embedding.weight = output.weight


def _frozen(embedding: nn.Embedding, output: nn.Linear) -> None:
    output.weight = nn.Parameter(embedding.weight.detach().clone(), requires_grad=False)


def _nothing(embedding: nn.Embedding, output: nn.Linear) -> None:
    return None


tie = Check(
    reference=_tie,
    run=_after_a_step,
    cases=lambda: [(3, 2), (11, 5), (7, 13)],
    arguments=("vocabulary", "width"),
    results=("the embedding after a step", "the output after a step", "the parameters' number"),
    verified="one parameter in both places, also after a step of training",
    mistakes=[
        Mistake(
            _copy,
            "equal at first, and two matrices after one step: the numbers were copied. Both "
            "modules must hold the same nn.Parameter.",
        ),
        Mistake(
            _share_storage,
            "they share their numbers, but are two parameters: counted twice, and an optimiser "
            "moves them twice. Assign the nn.Parameter itself.",
        ),
        Mistake(
            _the_other_way,
            "tied, but the embedding has taken the output's numbers. Here the embedding's are kept.",
        ),
        Mistake(_frozen, "the output's matrix is a frozen copy: it does not learn."),
        Mistake(_nothing, "nothing has changed: they are still two matrices."),
    ],
)

check = SimpleNamespace(
    encoder_input=encoder_input, tie=tie, forward=forward, layer_parameters=layer_parameters
)

quiz = Quiz(
    [
        Question(
            "How many attention modules does the base model have?",
            (
                ("6", "That is the number of layers on one side."),
                ("12", "Each decoder layer has two."),
                ("18", "6 in the encoder, 6 + 6 in the decoder; each with 8 heads."),
            ),
            right=2,
        ),
        Question(
            "The encoder's layers are stacked, and so are the decoder's. What does decoder layer 3 "
            "get from the encoder?",
            (
                ("the output of encoder layer 3", "All decoder layers get the same."),
                (
                    "the output of the last encoder layer",
                    "The same memory goes into the cross-attention of every decoder layer.",
                ),
                ("nothing, only layer 1 does", "Each decoder layer has a cross-attention."),
            ),
            right=1,
        ),
        Question(
            "d_model stays 512 and heads go from 8 to 16. What happens to the number of "
            "parameters?",
            (
                ("it doubles", "Each head is half as wide."),
                ("it stays as it is", "The projections are d_model × d_model whatever h is."),
                ("attention's part doubles", "16 heads of width 32 are as wide as 8 of 64."),
            ),
            right=1,
        ),
        Question(
            "A sentence has 1,000 words instead of 10. How many more parameters does the base "
            "model need?",
            (
                ("none", "The weights n × n are computed, not stored; sinusoids are computed too."),
                ("100 times as many for attention", "These are computed weights, not parameters."),
                (
                    "10,000 times as many for attention",
                    "Time and memory of the weights grow like that, not the parameters.",
                ),
            ),
            right=0,
        ),
        Question(
            "What does the model put out for a target of 7 words?",
            (
                ("the most probable sentence of 7 words", "That needs a search (lesson 10)."),
                ("one word: the one that comes next", "It answers at every place at once."),
                (
                    "7 rows of logits, one for each place",
                    "A row has one number for each word of the vocabulary. Row t is about the word "
                    "after place t.",
                ),
            ),
            right=2,
        ),
        Question(
            "When writing a sentence of 12 words, how often must the encoder run?",
            (
                (
                    "once",
                    "Its output does not depend on what is written. The short loop of this page "
                    "runs it each time; lesson 10 does not.",
                ),
                ("12 times", "The source does not change while writing."),
                ("13 times, with the end sign", "That is how often the decoder must run."),
            ),
            right=0,
        ),
    ]
)
