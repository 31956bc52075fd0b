"""Padding is what the model's configuration says, in every loss, batch and decoder."""

import pytest
import torch

from tests.conftest import SOURCE_WORDS, TARGET_WORDS, make_model
from tests.thorough import thorough_from
from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import Batch, Batches, Example, collate, pad
from transformer_lab.data.stored import make_batches
from transformer_lab.decoding import (
    beam_search,
    greedy,
    log_probabilities,
    minimum_bayes_risk,
    sample,
    speculative_greedy,
)
from transformer_lab.training.distributed import local_batch
from transformer_lab.training.step import BatchLoss
from transformer_lab.training.trainer import Trainer, token_loss

PADS = [0, 5, 19]
"""None of them is the package's bos, eos or unk."""
LENGTHS = [(3, 2), (7, 5), (2, 11), (5, 3), (13, 4)]


def examples(model) -> list[Example]:
    """Sentences of unequal lengths, in words that are no special token."""
    c, generator = model.config, torch.Generator().manual_seed(3)

    def words(count: int, below: int) -> list[int]:
        free = torch.tensor([i for i in range(4, below) if i != c.pad_id])
        return free[torch.randint(len(free), (count,), generator=generator)].tolist()

    return [
        Example([*words(s, SOURCE_WORDS), c.eos_id], [c.bos_id, *words(t, TARGET_WORDS), c.eos_id])
        for s, t in LENGTHS
    ]


def model_with(pad_id: int):
    return make_model(seed=11, pad_id=pad_id)


def trainer_of(model, train, **changes) -> Trainer:
    settings = {"max_steps": 5, "batch_tokens": 41, "validate_every": 2, "device": "cpu"}
    config = TrainingConfig(**{**settings, "precision": "fp32", **changes})
    return Trainer(model, train, train, config, show_progress=False)


@pytest.mark.parametrize("pad_id", PADS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_a_sentence_is_the_same_alone_and_beside_a_longer_one(pad_id, smoothing):
    model = model_with(pad_id)
    pairs = examples(model)
    loss_of = BatchLoss(model, smoothing)
    alone = [loss_of(collate([one], pad_id)) for one in pairs]
    counts = [len(one.target) - 1 for one in pairs]
    for i in range(len(pairs) - 1):
        together = loss_of(collate(pairs[i : i + 2], pad_id)) * sum(counts[i : i + 2])
        wanted = alone[i] * counts[i] + alone[i + 1] * counts[i + 1]
        torch.testing.assert_close(together, wanted)


@pytest.mark.parametrize("pad_id", PADS)
def test_validation_is_that_of_each_sentence_alone(pad_id):
    model = model_with(pad_id)
    pairs = examples(model)
    wanted = -sum(sum(log_probabilities(model, [one])) for one in pairs)
    wanted /= sum(len(one.target) - 1 for one in pairs)
    apart = token_loss(model, [collate([one], pad_id) for one in pairs], torch.float32)
    assert apart == pytest.approx(wanted, rel=1e-6)
    assert token_loss(model, [collate(pairs, pad_id)], torch.float32) == pytest.approx(wanted)
    trainer = trainer_of(model, pairs)
    assert trainer.validation_loss() == pytest.approx(wanted, rel=1e-6)


def with_pads_swapped(pad_id: int):
    """The model whose padding is 0, with another id for it: rows change places, and nothing else."""
    model = model_with(0).float()
    other = model_with(pad_id).float()
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        for tensor in (
            other.source_embedding.weight,
            other.target_embedding.weight,
            other.output.bias,
        ):
            tensor[[0, pad_id]] = tensor[[pad_id, 0]]
    return model, other


@pytest.mark.parametrize("pad_id", [5, 19])
def test_a_run_is_the_same_whatever_id_padding_has(pad_id):
    model, other = with_pads_swapped(pad_id)
    pairs = [
        Example(*([w for w in side if w != pad_id] for side in (e.source, e.target)))
        for e in examples(model)
    ]
    runs = [trainer_of(each, pairs) for each in (model, other)]
    losses = [[], []]
    for run, found in zip(runs, losses, strict=True):
        run.on_step = lambda report, found=found: found.append(float(report.loss))
        run.train()
    assert runs[0].progress.tokens == runs[1].progress.tokens > 0
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    first, second = ([entry["validation_loss"] for entry in run.progress.history] for run in runs)
    assert first == pytest.approx(second, rel=1e-5)


@pytest.mark.parametrize("pad_id", PADS)
@pytest.mark.parametrize("processes", [2, 3, 7])
def test_the_shares_of_several_processes_count_no_padding(pad_id, processes):
    model = model_with(pad_id)
    batch = collate(examples(model), pad_id)
    loss_of, mean = BatchLoss(model), 0.0
    for rank in range(processes):
        mine, factor = local_batch(batch, rank, processes, pad_id)
        mean += loss_of(mine) * factor / processes
    torch.testing.assert_close(mean, loss_of(batch))


def test_batches_and_their_validation_are_padded_with_the_models_own_id():
    model = model_with(5)
    pairs = examples(model)
    trainer = trainer_of(model, pairs)
    drawn = [next(trainer.batches.iterate_from(0, n))[2] for n in range(2)]
    for batch in [
        *trainer.validation,
        *drawn,
        Batches(pairs, 41, pad_id=5).iterate_from(0, 0).__next__()[2],
    ]:
        assert not (batch.source == 0).any()
        assert not (batch.target == 0).any()
    assert any((batch.source == 5).any() for batch in trainer.validation)
    assert make_batches(pairs, 41, 0, 5).pad_id == 5


@pytest.mark.parametrize("pad_id", thorough_from(1, PADS))
def test_every_decoder_reads_a_sentence_as_it_reads_it_alone(pad_id):
    model = model_with(pad_id)
    sources = [e.source for e in examples(model)]
    batch = pad(sources, pad_id)

    def drawn(source, decode, **options):
        return decode(model, source, generator=torch.Generator(), max_length=5, **options)

    for decode in (greedy, beam_search):
        together = decode(model, batch, max_length=5)
        for row, source in zip(together, sources, strict=True):
            (alone,) = decode(model, torch.tensor([source]), max_length=5)
            found, wanted = (
                [h.ids for h in (x if isinstance(x, list) else [x])] for x in (row, alone)
            )
            assert found == wanted
    together = [h.ids for h in drawn(batch, sample, top_k=1)]
    assert together == [h.ids for h in greedy(model, batch, max_length=5)]
    agreed = drawn(batch, minimum_bayes_risk, utility=lambda a, b: a == b, candidates=2, top_p=1e-6)
    assert [h.ids for h in agreed] == together
    for n, source in enumerate(sources):
        wide = torch.tensor([[*source, pad_id, pad_id]])
        assert speculative_greedy(model, model, wide, max_length=5)[0].ids == together[n]


def test_a_hand_made_batch_takes_the_models_padding_too():
    model = model_with(5)
    one, two = examples(model)[:2]
    batch = Batch(pad([one.source, two.source], 5), pad([one.target, two.target], 5))
    torch.testing.assert_close(BatchLoss(model)(batch), BatchLoss(model)(collate([one, two], 5)))
