"""Checks for the exercises of lesson 07: the input of the first layer, and tied weights."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from transformer_lab.course.judge.cases import random_array, require_gradients
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- what the first layer gets


def _embed(ids: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    vectors = table[ids] * math.sqrt(table.size(1))
    return vectors + positions[: ids.size(1)]


def _work_out_input(ids: Tensor, table: Tensor, positions: Tensor, at: tuple) -> Iterator[Step]:
    sentence, place, _ = at
    word, width = int(ids[sentence, place]), table.size(1)
    yield f"the id at position {place} of sentence {sentence}, both counted from 0", word
    yield f"row {word} of the table", table[word]
    yield f"that row times √{width}, because d_model is {width}", table[word] * math.sqrt(width)
    yield f"row {place} of the positions", positions[place]
    yield "the sum of the last two", table[word] * math.sqrt(width) + positions[place]


_edit_input = partial(edit_reference, _embed)


def _random_input(chance: RandomValues) -> tuple:
    batch, length, vocabulary, d = chance.sizes(4)
    ids = chance.ids(batch, length, below=vocabulary)
    return require_gradients(ids, chance.tensor(vocabulary, d), chance.tensor(length + 4, d))


encoder_input = Check(
    reference=_embed,
    cases=lambda: (
        [
            (
                torch.tensor([[3, 1]]),
                torch.tensor(random_array(5, 3, seed=5, scale=3.0).round()),
                torch.tensor(random_array(13, 3, seed=9, scale=3.0).round()),
            )
        ]
        + [
            (
                torch.randint(
                    vocabulary, (batch, length), generator=torch.Generator().manual_seed(7)
                ),
                torch.tensor(random_array(vocabulary, width)),
                torch.tensor(random_array(13, width, seed=1)),
            )
            for batch, length, vocabulary, width in ((2, 5, 11, 7), (3, 7, 523, 2))
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
    working=_work_out_input,
    verified="rows of the table, times √d_model, plus the first positions",
    tolerance=1e-6,  # a root in single precision is exact enough
    mistakes=[
        Mistake(_edit_input((" + positions[: ids.size(1)]", "")), "the positions are missing."),
        Mistake(
            _edit_input((" * math.sqrt(table.size(1))", "")),
            "√d_model is missing. Multiply the embeddings by it before you add the positions.",
        ),
        Mistake(
            lambda ids, table, positions: (
                (table[ids] + positions[: ids.size(1)]) * math.sqrt(table.size(1))
            ),
            "you multiply the positions by √d_model as well, but you should multiply only the "
            "embeddings.",
        ),
        Mistake(
            _edit_input(("* math", "/ math")),
            "you divide the embeddings by √d_model, but you should multiply them by it, as in "
            "§3.4 of the paper.",
        ),
        Mistake(
            _edit_input(("math.sqrt(table.size(1))", "table.size(1)")),
            "you multiplied by d_model, but you should multiply by √d_model.",
        ),
        Mistake(
            _edit_input(("table.size(1)", "len(table)")),
            "you multiply by the square root of the table's number of rows, but d_model is its "
            "number of columns.",
        ),
        Mistake(
            _edit_input(("positions[: ids.size(1)]", "positions[ids]")),
            "you look up the positions by word id. Look up rows 0, 1, 2, … instead, whatever the "
            "words are.",
        ),
        Mistake(
            _edit_input(
                (
                    "vectors + positions[: ids.size(1)]",
                    "torch.cat([vectors, positions[: ids.size(1)].expand_as(vectors)], dim=-1)",
                )
            ),
            "you concatenate the positions, but you should add them, as in the paper.",
        ),
    ],
)


# ---------------------------------------------------------------- one matrix, two places

Tie = Callable[[nn.Embedding, nn.Linear], None]


def _tie_and_train(answer: Tie, vocabulary: int, width: int) -> tuple[Tensor, Tensor, int]:
    """Tie the two matrices and train for one step; return both and the parameter count."""
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


def _tie_weights(embedding: nn.Embedding, output: nn.Linear) -> None:
    output.weight = embedding.weight


def _work_out_tying(vocabulary: int, width: int, at: tuple) -> Iterator[Step]:
    matrix = torch.tensor(random_array(vocabulary, width)).requires_grad_()
    row, ids = at[0] if at else 0, torch.arange(0, vocabulary, 2)
    yield f"row {row} of the embedding, as it was before", matrix[row].tolist()
    nn.functional.cross_entropy(matrix[ids] @ matrix.T, ids).backward()
    assert matrix.grad is not None
    yield "its gradient, summed over both places", matrix.grad[row]
    torch.optim.Adam([matrix], lr=0.1).step()
    yield (
        "the row in both places, after Adam moved each number by 0.1 against its gradient",
        matrix[row],
    )
    yield (
        f"the number of parameters, {vocabulary} · {width}, because the matrix counts once",
        vocabulary * width,
    )


_edit_tying = partial(edit_reference, _tie_weights)


def _random_sizes(chance: RandomValues) -> tuple:
    return tuple(chance.sizes(2))


tie = Check(
    reference=_tie_weights,
    run=_tie_and_train,
    cases=lambda: [(3, 2), (11, 5), (7, 13)],
    drawn=_random_sizes,
    arguments=("vocabulary", "width"),
    results=("the embedding after a step", "the output after a step", "the number of parameters"),
    working=_work_out_tying,
    verified="one parameter in both places, even after a step of training",
    mistakes=[
        Mistake(
            _edit_tying(
                ("output.weight = embedding.weight", "output.weight.data.copy_(embedding.weight)")
            ),
            "you copied the numbers, so the two matrices are equal at first but differ after one "
            "step. Both modules must hold the same nn.Parameter.",
        ),
        Mistake(
            _edit_tying((".weight", ".weight.data")),
            "the two matrices share their numbers, but they are two parameters, so each number is "
            "counted twice and updated twice. Assign the nn.Parameter itself.",
        ),
        Mistake(
            _edit_tying(("output.weight = embedding.weight", "embedding.weight = output.weight")),
            "the two matrices are tied, but the embedding now has the output's numbers. The "
            "embedding should keep its own numbers.",
        ),
        Mistake(
            _edit_tying(
                (
                    "= embedding.weight",
                    "= nn.Parameter(embedding.weight.detach().clone(), requires_grad=False)",
                )
            ),
            "the output's matrix is a frozen copy, so it does not learn. Use the embedding's "
            "nn.Parameter itself.",
        ),
        Mistake(
            lambda embedding, output: None,
            "this changes nothing, so the embedding and the output still have two separate "
            "matrices.",
        ),
    ],
)
