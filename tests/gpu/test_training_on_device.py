"""Training on the device: the CPU's steps, states that travel between devices, and a group of one."""

import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from tests.training import test_trainer
from tests.training.test_trainer import examples
from transformer_lab.data.batching import buckets, collate
from transformer_lab.training import distributed

STEPS = 11


def make_trainer(device, state_path=None, steps=STEPS, precision="fp32", dropout=0.0):
    """The small trainer of the other tests, on a device and by default without dropout."""
    changes = {"max_steps": steps, "peak_rate": 3e-3, "device": str(device), "precision": precision}
    return test_trainer.make_trainer(state_path, changes=changes, dropout=dropout)


@torch.no_grad()
def distance(one, other):
    """The largest difference between two models' logits, wherever they lie.

    Their weights may differ by more: the bias of the keys changes no output, so its gradient is
    rounding alone, which Adam scales up to whole steps.
    """
    batch = collate(examples(31, seed=3))

    def logits(model):
        own = batch.to(model.output.weight.device)
        return model(own.source, own.target_input).cpu()

    return (logits(one) - logits(other)).abs().max().item()


def test_a_run_ends_with_the_cpus_logits_and_validation_loss(device):
    found, expected = make_trainer(device), make_trainer("cpu")
    assert found.train() == expected.train() == "max_steps"
    losses = [t.progress.history[-1]["validation_loss"] for t in (found, expected)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-3)
    assert distance(found.model, expected.model) < 1e-2


@pytest.mark.parametrize("back", [False, True], ids=["on the device", "on the CPU"])
def test_a_run_that_was_stopped_goes_on_as_if_it_was_not(device, tmp_path, back):
    whole = make_trainer(device, dropout=0.0)
    whole.train()
    path = tmp_path / "state.safetensors"
    make_trainer(device, path, steps=4).train()
    resumed = make_trainer("cpu" if back else device, path)
    resumed.resume()
    assert resumed.progress.step == 4
    resumed.train()
    assert resumed.progress.step == STEPS
    assert distance(resumed.model, whole.model) < 1e-2


def test_dropout_is_drawn_again_the_same_after_a_stop(device, tmp_path):
    whole = make_trainer(device, dropout=0.3)
    whole.train()
    path = tmp_path / "state.safetensors"
    make_trainer(device, path, steps=4, dropout=0.3).train()
    resumed = make_trainer(device, path, dropout=0.3)
    resumed.resume()
    resumed.train()
    other = make_trainer(device, steps=4, dropout=0.3)
    other.train()
    assert distance(resumed.model, whole.model) < 1e-2 < distance(other.model, whole.model)


def test_bfloat16_learns_as_float32_does(device):
    losses = []
    for precision in ("fp32", "bf16"):
        trainer = make_trainer(device, steps=29, precision=precision)
        before = trainer.validation_loss()
        trainer.train()
        losses.append(trainer.progress.history[-1]["validation_loss"])
        assert losses[-1] < before - 0.3
    assert losses[1] == pytest.approx(losses[0], abs=0.05)


def test_one_process_of_a_group_takes_the_step_of_a_plain_one(device, tmp_path):
    backend = "nccl" if device.type == "cuda" else "gloo"
    store = dist.FileStore(str(tmp_path / "meeting"), 1)
    dist.init_process_group(backend, store=store, rank=0, world_size=1)
    try:
        grouped, plain = make_trainer(device), make_trainer(device)
        grouped.batch_loss = DistributedDataParallel(grouped.batch_loss)
        for group in buckets(examples(97, seed=5), 301):
            batch = collate(group)
            for trainer in (grouped, plain):
                trainer.progress.step += 1
            losses = [t.step(batch, 1e-3)[0].item() for t in (grouped, plain)]
            assert losses[0] == pytest.approx(losses[1], abs=1e-4)
        assert distance(grouped.model, plain.model) < 1e-3
        assert distributed.broadcast({"said": 3}) == {"said": 3}
        assert distributed.all_gather("here") == ["here"]
        (summed,) = [torch.ones(5, device=device)]
        dist.all_reduce(summed)
        assert summed.tolist() == [1.0] * 5
    finally:
        dist.destroy_process_group()
