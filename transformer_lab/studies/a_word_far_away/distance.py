"""Lesson 15's third study: which models can answer from a word far away, and at what cost?

    python -m transformer_lab.studies.a_word_far_away.distance

A sequence has 200 symbols, followed by a question. Most symbols are noise. Among them are pairs of
a key and a value, each written as one symbol. The question names a key, and the answer is that
key's value, one of four. The queried pair is 2 to 200 symbols before the question; its distance is
sampled uniformly on a logarithmic scale. With one pair, the model only has to remember the value;
with four pairs, it must also find the right one.

Five models learn from the same sequences: an LSTM, an LSTM whose last state attends to all its
states, and the encoder with full, local and linear attention. Each has two layers, and all have
about the same number of parameters. One layer of local attention carries a symbol across at most
one window, so two layers with windows of 32 reach no further than 64 symbols. That is a control:
beyond 64 symbols, this model can only guess.

A sixth model, with strided attention, was added later under the same conditions. Each query sees 14
symbols on either side and every fourteenth beyond (14 is about √200), so two layers connect any two
symbols, although only a fifth of the scores are used.

This was fixed before the first run: a model *answers* at a distance if it gets three out of four
questions right with each of five seeds. Guessing gets 25% ± 5% of them right (two standard errors
for `NUM_QUESTIONS` questions). Each kind of model gets the best of three learning rates, chosen in
runs with four pairs and a sixth seed. A training run ends after `STEPS` steps, or once the mean
loss of `EVERY` steps is below `ENOUGH`.

The LSTM's second rate, `STEADY`, was added afterwards, because the rate chosen with the sixth seed
turned out to be a bad one: with that rate, some LSTMs never do better than guessing. After four
seeds, there was no distance left at which the LSTM could still *answer*, so the fifth was not run.
`STEADY` is the next lower rate, and all five seeds were run with it.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model.attention import attention_weights
from transformer_lab.model.later.family import BERT
from transformer_lab.model.later.variants import (
    linear_attention,
    local_attention,
    strided_mask,
)
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.step_record import mean_losses
from transformer_lab.studies.common.stopwatch import time_fastest_call
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.step import training_step

NAME = "distance"
KEYS, VALUES, NOISE, LENGTH = 4, 4, 8, 200
FIRST_PAIR, FIRST_NOISE, FIRST_QUESTION = 1, 1 + KEYS * VALUES, 1 + KEYS * VALUES + NOISE
FIRST_VALUE = FIRST_QUESTION + KEYS
SYMBOLS = FIRST_VALUE + VALUES
"""The size of the vocabulary.

Id 0 is padding, which never occurs. It is followed by the ids of pairs, noise, questions and
values.
"""
WIDTH, FEED_FORWARD, HEADS, LAYERS, WINDOW, STRIDE = 64, 128, 4, 2, 32, 14
LSTM_WIDTH = {"LSTM": 64, "LSTM with attention": 62}
"""The widths that give the recurrent models as many parameters as the others, to within 2%."""
BATCH, STEPS, WARMUP, EVERY, ENOUGH = 32, 1_500, 100, 50, 0.02
DISTANCES, NUM_QUESTIONS = (2, 4, 8, 16, 32, 64, 65, 128, 200), 250
ANSWERS = 0.75
COST_LENGTHS, COST_BATCH, ROUNDS = (200, 800, 3_200), 4, 5
"""The sequence lengths at which steps are timed, the batch size, and the number of rounds."""

Way = Callable[[Tensor, Tensor, Tensor], Tensor]


def strided_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention under `strided_mask`; all scores are computed, so this saves no time."""
    mask = strided_mask(query.size(-2), window=STRIDE, stride=STRIDE, device=query.device)
    return attention_weights(query, key, mask) @ value


WAYS: dict[str, Way | None] = {
    "full attention": None,
    "local attention": partial(local_attention, window=WINDOW),
    "linear attention": linear_attention,
}
STRIDED = "strided attention"
KINDS = (*LSTM_WIDTH, *WAYS)
RATES = (1e-3, 3e-3, 1e-2)
BEST = {
    "LSTM": 1e-2,
    "LSTM with attention": 1e-2,
    "full attention": 3e-3,
    "local attention": 3e-3,
    "linear attention": 1e-2,
}
"""The learning rate at which each kind of model is most accurate over all distances (seed 5).

Ties go to the rate with the shortest run.
"""
STEADY = 3e-3
"""The LSTM's second learning rate."""
STRIDED_BEST = 3e-3
"""The learning rate for strided attention, chosen like those in `BEST`."""
GRID: list[Setting] = (
    [
        {"kind": kind, "pairs": 4, "rate": rate, "steps": STEPS, "seed": 5}
        for rate in RATES
        for kind in KINDS
    ]
    + [
        {"kind": kind, "pairs": pairs, "rate": rate, "steps": STEPS, "seed": seed}
        for seed in (0, 1, 2, 3, 4)
        for pairs in (1, 4)
        for kind, rate in BEST.items()
        if kind != "LSTM" or seed < 4
    ]
    + [
        {"kind": "LSTM", "pairs": pairs, "rate": STEADY, "steps": STEPS, "seed": seed}
        for seed in (0, 1, 2, 3, 4)
        for pairs in (1, 4)
    ]
    + [{"cost": length} for length in COST_LENGTHS]
    + [{"kind": STRIDED, "pairs": 4, "rate": rate, "steps": STEPS, "seed": 5} for rate in RATES]
    + [
        {"kind": STRIDED, "pairs": pairs, "rate": STRIDED_BEST, "steps": STEPS, "seed": seed}
        for seed in (0, 1, 2, 3, 4)
        for pairs in (1, 4)
    ]
)
SMALL: list[Setting] = [
    {"kind": "linear attention", "pairs": 1, "rate": 3e-3, "steps": 20, "seed": seed}
    for seed in range(10, 15)
]
"""Runs of a few seconds; the tests repeat one of them."""


class Recurrent(nn.Module):
    """A two-layer LSTM that predicts the answer from its last state.

    If `attends` is set, the last state h first attends to all states M: c = softmax(h W Mᵀ /
    √width) M (the score of Luong et al. 2015, divided by √width). Then h + c predicts the answer,
    so a distant symbol is only one step away.
    """

    def __init__(self, width: int, attends: bool):
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, width)
        self.lstm = nn.LSTM(width, width, LAYERS, batch_first=True)
        with torch.no_grad():  # the gates are input, forget, cell, output; a bias of 1 is usual
            for layer in range(LAYERS):
                self.lstm.get_parameter(f"bias_hh_l{layer}")[width : 2 * width] += 1.0
        self.query = nn.Linear(width, width, bias=False) if attends else None
        self.output = nn.Linear(width, SYMBOLS)
        self.output.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=width**-0.5)

    def forward(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch symbols"]:
        """Return the logits for the answer."""
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        states, _ = self.lstm(x)
        last = states[:, -1:]
        if self.query is not None:
            last = last + attention_weights(self.query(last), states) @ states
        return self.output(last[:, 0])


class AttentionCore(nn.Module):
    """The core of multi-head attention, between the projections, computed by a given function."""

    def __init__(self, way: Way):
        super().__init__()
        self.way = way

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: None = None, cache: None = None
    ) -> Tensor:
        """Return the output of every head; inputs and output are (batch, heads, length, d_k)."""
        return self.way(query, key, value)


class Attentive(nn.Module):
    """The package's bidirectional encoder, with self-attention computed by `way` if it is given."""

    def __init__(self, way: Way | None):
        super().__init__()
        self.model = BERT(
            TransformerConfig(
                source_vocab_size=SYMBOLS,
                target_vocab_size=SYMBOLS,
                d_model=WIDTH,
                d_ff=FEED_FORWARD,
                num_heads=HEADS,
                num_encoder_layers=LAYERS,
                dropout=0.0,
                norm="pre",
            )
        )
        for layer in self.model.stack.layers:
            if way is not None:
                layer.self_attention.core = AttentionCore(way)

    def forward(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch symbols"]:
        """Return the logits for the answer, read at the question's position."""
        x = self.model.stack(self.model.embed(ids), None)
        return self.model.output(x[:, -1])


def make_model(kind: str, seed: int) -> nn.Module:
    """Return an untrained model; `kind` is `STRIDED` or one of `KINDS`."""
    torch.manual_seed(seed)
    if kind in LSTM_WIDTH:
        return Recurrent(LSTM_WIDTH[kind], attends=kind != "LSTM")
    return Attentive(strided_attention if kind == STRIDED else WAYS[kind])


def draw_sequences(
    pairs: int, distance: Int[Tensor, " batch"], generator: torch.Generator, length: int = LENGTH
) -> tuple[Int[Tensor, "batch length_and_1"], Int[Tensor, " batch"]]:
    """Sample sequences and the ids of their answers.

    The queried pair is `distance` symbols before the question. All keys in a sequence differ, and
    the other pairs are at random positions.
    """
    batch = len(distance)

    def random(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=generator)

    ids = random(FIRST_NOISE, FIRST_QUESTION, batch, length + 1)
    chance = torch.rand(batch, length, generator=generator)
    asked_place = (length - distance)[:, None]
    chance.scatter_(1, asked_place, 2.0)  # puts the pair asked about first
    places = chance.topk(pairs, dim=1).indices  # (batch, pairs)
    keys = torch.rand(batch, KEYS, generator=generator).argsort(dim=1)[:, :pairs]
    values = random(0, VALUES, batch, pairs)
    ids.scatter_(1, places, FIRST_PAIR + keys * VALUES + values)
    ids[:, -1] = FIRST_QUESTION + keys[:, 0]
    return ids, FIRST_VALUE + values[:, 0]


def draw_distances(batch: int, generator: torch.Generator) -> Int[Tensor, " batch"]:
    """Sample a distance from 2 to `LENGTH` for each sequence, uniformly on a logarithmic scale.

    Every range from d to 2d gets about the same number of distances.
    """
    share = torch.rand(batch, generator=generator)
    return (2 * ((LENGTH + 1) / 2) ** share).long()


def run(setting: Setting) -> dict[str, Any]:
    """Train one model, or time all of them.

    Returns:
        For `{"cost": length}`, the result of `time_training_steps`. For a model:

        "parameters": the parameter count.
        "steps": the number of training steps.
        "losses": the mean loss of each group of `EVERY` steps, in nats.
        "right": the accuracy at each of `DISTANCES`.
    """
    if "cost" in setting:
        return time_training_steps(setting["cost"])
    seed, pairs, steps = setting["seed"], setting["pairs"], setting["steps"]
    model = make_model(setting["kind"], seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses: list[float] = []
    for step in range(1, steps + 1):
        batch = draw_sequences(pairs, draw_distances(BATCH, generator), generator)
        rate = linear_rate(step, setting["rate"], min(WARMUP, steps // 2), steps)
        losses.append(training_step(partial(answer_loss, model), optimizer, batch, rate)[0].item())
        if step % EVERY == 0 and sum(losses[-EVERY:]) < EVERY * ENOUGH:
            break
    model.eval()
    return {
        "steps": len(losses),
        "parameters": sum(p.numel() for p in model.parameters()),
        "losses": mean_losses(losses, EVERY),
        "right": [answer_accuracy(model, pairs, distance, seed) for distance in DISTANCES],
    }


def answer_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Float[Tensor, ""]:
    """Return the mean cross-entropy of a batch's answers, in nats."""
    return F.cross_entropy(model(batch[0]), batch[1])


def time_training_steps(length: int) -> dict[str, list[float]]:
    """Time a training step on `COST_BATCH` sequences for each kind of model.

    Returns:
        For each kind, the time of one step in seconds, measured once in each of `ROUNDS` rounds.
        The kinds take turns in each round.
    """
    steps = {kind: make_training_step(kind, length) for kind in KINDS}
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(ROUNDS):
        for kind, step in steps.items():
            found[kind].append(time_fastest_call(step))
    return found


def make_training_step(kind: str, length: int) -> Callable[[], object]:
    """Return a function that takes one training step with a new model, always on the same batch."""
    model, generator = make_model(kind, seed=0), torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters())
    batch = draw_sequences(4, torch.full((COST_BATCH,), 2), generator, length)
    return partial(training_step, partial(answer_loss, model), optimizer, batch, 1e-3)


@torch.no_grad()
def answer_accuracy(model: nn.Module, pairs: int, distance: int, seed: int) -> float:
    """Return the accuracy on `NUM_QUESTIONS` new questions at one distance."""
    generator = torch.Generator().manual_seed(1_000 * (seed + 1) + distance)
    ids, answers = draw_sequences(pairs, torch.full((NUM_QUESTIONS,), distance), generator)
    return round((model(ids).argmax(dim=-1) == answers).double().mean().item(), 4)


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
