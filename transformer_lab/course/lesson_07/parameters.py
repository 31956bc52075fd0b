"""Lesson 07: counting with a pencil, and one matrix in two places."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_lab.course.cases import draw
from transformer_lab.course.check import Check, Mistake

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
