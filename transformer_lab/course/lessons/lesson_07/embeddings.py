"""Checks of the exercises of lesson 07: what the first layer gets, and one matrix in two places."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.cases import random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- what the first layer gets


def _encoder_input(ids: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    return table[ids] * math.sqrt(table.size(1)) + positions[: ids.size(1)]


def _random_input(chance: RandomValues) -> tuple:
    batch, length, vocabulary, d = chance.sizes(4)
    ids = chance.ids(batch, length, below=vocabulary)
    return require_gradients(ids, chance.tensor(vocabulary, d), chance.tensor(length + 4, d))


encoder_input = Check(
    reference=_encoder_input,
    cases=lambda: (
        [
            (
                torch.randint(
                    vocabulary, (batch, length), generator=torch.Generator().manual_seed(7)
                ),
                torch.tensor(random_array(vocabulary, width)),
                torch.tensor(random_array(13, width, seed=1)),
            )
            for batch, length, vocabulary, width in ((1, 2, 5, 3), (2, 5, 11, 7), (3, 7, 5, 2))
        ]
        + [
            require_gradients(
                torch.tensor([[3, 3, 0], [0, 2, 3]]),
                torch.tensor(random_array(5, 11)),
                torch.tensor(random_array(3, 11)),
            )
        ]
    ),
    drawn=_random_input,
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


# ---------------------------------------------------------------- one matrix, two places

Tie = Callable[[nn.Embedding, nn.Linear], None]


def _after_a_step(answer: Tie, vocabulary: int, width: int) -> tuple[Tensor, Tensor, int]:
    """Tie the matrices and train one step; return both, and the number of parameters."""
    embedding = nn.Embedding(vocabulary, width)
    output = nn.Linear(width, vocabulary, bias=False)
    with torch.no_grad():
        embedding.weight.copy_(torch.tensor(random_array(vocabulary, width)))
        output.weight.copy_(torch.tensor(random_array(vocabulary, width, seed=1)))
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


def _random_sizes(chance: RandomValues) -> tuple:
    return tuple(chance.sizes(2))


tie = Check(
    reference=_tie,
    run=_after_a_step,
    cases=lambda: [(3, 2), (11, 5), (7, 13)],
    drawn=_random_sizes,
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
