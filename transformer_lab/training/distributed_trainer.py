"""A trainer for several processes, each of which computes its share of every batch.

`runs.building.make_trainer` builds it if torchrun has started several processes. A single process
uses the plain `Trainer`, which needs no ranks.
"""

import threading

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from transformer_lab.data.batching import Batch
from transformer_lab.training import distributed
from transformer_lab.training.saving import save_state
from transformer_lab.training.step import build_adam
from transformer_lab.training.trainer import READ_EVERY, Stop, Trainer


class DistributedTrainer(Trainer):
    """A `Trainer` for several processes, to be used inside `distributed.process_group`.

    All processes must pass the same arguments. Together they take the same steps as a single
    process would. Only the process of rank 0 validates, calls `on_step`, shows progress and decides
    when to stop. It is also the only one that saves, unless the optimizer is sharded
    (`TrainingConfig.shard_optimizer`). In that case, each process saves its own shard.
    """

    def build_loss(self) -> nn.Module:
        """Return the loss as a module whose gradients are averaged over the processes."""
        return DistributedDataParallel(super().build_loss())

    def build_optimizer(self) -> Optimizer:
        """Return an Adam optimizer, which is sharded if the configuration says so."""
        if self.config.shard_optimizer:
            return build_adam(self.model, self.config, distributed.build_sharded_optimizer)
        return super().build_optimizer()

    def run(self, interrupted: threading.Event) -> Stop:
        """Train until there is a reason to stop, and return it; only rank 0 reports progress."""
        if distributed.rank() > 0:
            self.show_progress, self.on_step = False, None
        return super().run(interrupted)

    def seed(self) -> None:
        """Seed the random number generator for dropout, based on the rank and the step.

        The saved state holds the random state of rank 0 only. The other processes are seeded at
        every step, so a resumed run repeats their random numbers.
        """
        rank, step = distributed.rank(), self.progress.step
        if rank == 0:
            super().seed()
        else:
            torch.manual_seed((self.config.seed + 1_000_003 * rank + 7_919 * step) % 2**63)

    def step(self, batch: Batch, rate: float) -> tuple[Tensor, Tensor]:
        """Take one optimizer step.

        Returns:
            The mean loss over all processes, and the norm of the gradient.
        """
        if distributed.rank() > 0:
            self.seed()
        loss, norm = super().step(batch, rate)
        return distributed.all_reduce_mean(loss), norm

    def compute_loss(self, batch: Batch) -> Tensor:
        """Return the loss of this process's share of a batch.

        It is scaled so that its mean over the processes is the loss of the whole batch.
        """
        place = distributed.rank(), distributed.world_size()
        mine, factor = distributed.local_batch(batch, *place, self.pad_id)
        return super().compute_loss(mine) * factor

    def stop_reason(self, interrupted: threading.Event) -> Stop | None:
        """Return the reason to stop, or None to continue; all processes stop at the same step.

        The maximum number of steps is checked after each step. Rank 0 checks the other limits every
        `READ_EVERY` steps.
        """
        step = self.progress.step
        if step >= self.config.max_steps:
            return super().stop_reason(interrupted)
        if step % READ_EVERY:
            return None
        return distributed.broadcast(super().stop_reason(interrupted))

    def is_save_due(self, saved_at: float) -> bool:
        """Return whether `config.save_minutes` have passed since `saved_at`.

        With a sharded optimizer, all processes save together, so rank 0 decides for all of them,
        every `READ_EVERY` steps.
        """
        due = super().is_save_due(saved_at)
        if not distributed.is_sharded(self.optimizer):
            return due
        # All must save at the same step, and their clocks differ.
        return self.progress.step % READ_EVERY == 0 and distributed.broadcast(due)

    def validate(self) -> dict[str, float]:
        """Return the metrics of `Trainer.validate` on rank 0, and {} on the other ranks."""
        return super().validate() if distributed.rank() == 0 else {}

    def save(self) -> None:
        """Write the state of the run to `state_path`, if there is one.

        Only rank 0 writes it, unless the optimizer is sharded. In that case, each process writes
        its shard of Adam's state.
        """
        sharded = distributed.is_sharded(self.optimizer)
        if self.state_path is not None and (sharded or distributed.rank() == 0):
            save_state(self.state_path, self.current_state(), sharded)
