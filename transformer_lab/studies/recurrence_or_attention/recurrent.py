"""Lesson 15's second study: recurrent translators with and without attention, and the Transformer.

    python -m transformer_lab.studies.recurrence_or_attention.recurrent

All three have about the same number of parameters and train on the same batches of the bilingual
world. The recurrent translators use PyTorch's LSTM: a bidirectional encoder, and a decoder that
starts from the encoder's last state. In one of them, nothing else connects the encoder and the
decoder. In the other, every decoder state also attends to all encoder states.
"""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    Batch,
    Batches,
    Example,
    encode_pairs,
    pad,
)
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import world
from transformer_lab.model import Transformer
from transformer_lab.model.attention import attention_weights
from transformer_lab.model.masks import padding_mask
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.step_record import mean_losses
from transformer_lab.training.loss import label_smoothed_loss
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.step import training_step

NAME = "recurrent"
KINDS = ("LSTM", "LSTM with attention", "Transformer")
WARMUP_STEPS, PEAK_RATE = 200, 2e-3  # those of the course's small translator, for all kinds
BATCH_TOKENS = 320
NUM_TEST_SENTENCES = 400  # half of them have a combination that training lacks
LONGEST_GROUPS = (8, 11)
"""The maximum number of source words in a short sentence, and in a medium-length one."""

SHAPE = {"pairs": 60_000, "steps": 2_400}
GRID: list[Setting] = [
    {"kind": kind, **SHAPE, "seed": seed} for seed in (0, 1, 2) for kind in KINDS
]
SMALL: list[Setting] = [
    {"kind": "LSTM with attention", "pairs": 2_000, "steps": 40, "seed": seed} for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


class RecurrentTranslator(nn.Module):
    """A translator with two LSTM layers per side and tied output and target embedding matrices.

    With `attention`, each decoder state h attends to all encoder states. The result c is combined
    with h: tanh(W [c; h]). This follows Luong et al. 2015 (their "general" score and global
    attention, without input feeding). There is one head, and its scores are scaled as in the paper
    (§3.2.1).
    """

    def __init__(self, source_words: int, target_words: int, width: int, attention: bool):
        super().__init__()
        self.source_embedding = nn.Embedding(source_words, width)
        self.target_embedding = nn.Embedding(target_words, width)
        self.encoder = nn.LSTM(width, width // 2, 2, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(width, width, 2, batch_first=True)
        self.query = nn.Linear(width, width, bias=False) if attention else None
        self.join = nn.Linear(2 * width, width) if attention else None
        self.output = nn.Linear(width, target_words)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=width**-0.5)
        self.output.weight = self.target_embedding.weight

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Return the logits for the next word at each target position (teacher forcing)."""
        memory, start = self.encode(source)
        states, _ = self.decoder(self.embed(self.target_embedding, target), start)
        if self.query is not None and self.join is not None:
            mask = padding_mask(source, PAD_ID)[:, 0]  # (batch, 1, source)
            found = attention_weights(self.query(states), memory, mask) @ memory
            states = self.join(torch.cat([found, states], dim=-1)).tanh()
        return self.output(states)

    def encode(
        self, source: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source width"], tuple[Tensor, Tensor]]:
        """Return the encoder's output at each source position, and the decoder's initial state.

        The decoder's initial (h, c) are the encoder's last states, with both directions
        concatenated.
        """
        lengths = (source != PAD_ID).sum(dim=1).cpu()
        embedded = self.embed(self.source_embedding, source)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source.size(1))
        return memory, (join_directions(last[0]), join_directions(last[1]))

    def embed(self, embedding: nn.Embedding, ids: Int[Tensor, "batch length"]) -> Tensor:
        """Look up the embeddings of the ids, multiplied by √width as in the Transformer."""
        return embedding(ids) * embedding.embedding_dim**0.5


def join_directions(state: Float[Tensor, "layers_and_ways batch half"]) -> Tensor:
    """Concatenate the two directions of each layer's state, and return (layers, batch, width)."""
    _, batch, half = state.shape
    return state.view(-1, 2, batch, half).transpose(1, 2).reshape(-1, batch, 2 * half)


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and score it on `NUM_TEST_SENTENCES` test sentences.

    Returns:
        "parameters": the parameter count.
        "losses": the mean label-smoothed training loss over each tenth of the steps, in nats.
        "next_words": the next-word accuracy under teacher forcing.
        "exact_match": the share of sentences that greedy decoding translates exactly.
        "by_length": the exact match for short, medium and long sentences.
    """
    seed = setting["seed"]
    splits = world(train=setting["pairs"], seed=seed)
    english = WordTokenizer.train([pair.source for pair in splits.train])
    french = WordTokenizer.train([pair.target for pair in splits.train])
    train = encode_pairs(splits.train, english, french)
    asked = encode_pairs(splits.test[:NUM_TEST_SENTENCES], english, french)
    torch.manual_seed(seed)
    model = make_model(setting["kind"], english.vocab_size, french.vocab_size)
    losses = train_in_place(model, train, setting["steps"], seed)
    written = greedy_ids(model, pad([e.source for e in asked]))
    exact = [ids == e.target[1:] for ids, e in zip(written, asked, strict=True)]
    groups: list[list[bool]] = [[], [], []]
    for right, example in zip(exact, asked, strict=True):
        words = len(example.source) - 1
        groups[sum(words > longest for longest in LONGEST_GROUPS)].append(right)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "losses": mean_losses(losses, len(losses) // 10)[:10],
        "next_words": next_word_accuracy(model, asked),
        "exact_match": true_share(exact),
        "by_length": [true_share(group) for group in groups],
    }


def true_share(answers: Sequence[bool]) -> float:
    """Return the share of true answers, rounded to four decimals, or 0 if there are no answers."""
    return round(sum(answers) / max(len(answers), 1), 4)


def make_model(kind: str, source_words: int, target_words: int) -> nn.Module:
    """Return a model of one of `KINDS`, with about as many parameters as the small Transformer."""
    return make_model_like(
        kind,
        TransformerConfig.tiny(source_words, target_words, dropout=0.0, tie_source_target=False),
    )


def make_model_like(kind: str, config: TransformerConfig) -> nn.Module:
    """Return a model of one of `KINDS`, with about as many parameters as `config`'s Transformer.

    A recurrent model gets the even width whose parameter count is closest to the Transformer's.
    """
    if kind == "Transformer":
        return Transformer(config)
    wanted = count_parameters(partial(Transformer, config))
    make = partial(
        RecurrentTranslator,
        config.source_vocab_size,
        config.target_vocab_size,
        attention=kind == "LSTM with attention",
    )
    widths = range(2, 4096, 2)
    place = bisect_left(widths, wanted, key=lambda width: count_parameters(partial(make, width)))
    nearest = min(
        widths[place - 1 : place + 1],
        key=lambda width: abs(count_parameters(partial(make, width)) - wanted),
    )
    return make(nearest)


def count_parameters(make: partial[Any]) -> int:
    """Count the parameters of the model that `make` builds, without allocating them."""
    with torch.device("meta"):
        return sum(p.numel() for p in make().parameters())


def train_in_place(
    model: nn.Module, train: Sequence[Example], steps: int, seed: int
) -> list[float]:
    """Train a model in place, and return the label-smoothed loss of each step, in nats."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)

    def loss_of(batch: Batch) -> Tensor:
        logits = model(batch.source, batch.target_input)
        return label_smoothed_loss(logits, batch.target_output, 0.1, PAD_ID)

    batches = Batches(train, BATCH_TOKENS, seed).iterate_from(0, 0)
    losses = []
    for step, (_, _, batch) in enumerate(islice(batches, steps), start=1):
        rate = linear_rate(step, PEAK_RATE, min(WARMUP_STEPS, steps // 2), steps)
        losses.append(training_step(loss_of, optimizer, batch, rate)[0].item())
    model.eval()
    return losses


@torch.no_grad()
def greedy_ids(model: nn.Module, source: Int[Tensor, "batch source"]) -> list[list[int]]:
    """Return the greedy translation of each source, as ids that include eos.

    Every step reads all earlier words again. A translation has at most twice as many ids as the
    padded source.
    """
    words = torch.full((len(source), 1), BOS_ID)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(2 * source.size(1)):
        best = model(source, words)[:, -1].argmax(dim=-1)
        words = torch.cat([words, best[:, None]], dim=1)
        ended |= best == EOS_ID
        if ended.all():
            break
    return [cut_after_eos(ids) for ids in words[:, 1:].tolist()]


def cut_after_eos(ids: list[int]) -> list[int]:
    """Return the ids up to and including the first eos, or all of them if there is none."""
    return ids[: ids.index(EOS_ID) + 1] if EOS_ID in ids else ids


@torch.no_grad()
def next_word_accuracy(model: nn.Module, asked: Sequence[Example]) -> float:
    """Return the share of target words, including eos, that the model ranks first at their step."""
    source, target = pad([e.source for e in asked]), pad([e.target for e in asked])
    best, real = model(source, target[:, :-1]).argmax(dim=-1), target[:, 1:] != PAD_ID
    return round((best == target[:, 1:])[real].double().mean().item(), 4)


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
