"""Communication between several training processes, through PyTorch's distributed package.

`DistributedTrainer`, runs and the command line use it. Start the processes with torchrun:

    torchrun --nproc-per-node 2 -m transformer_lab train

Every process builds the same batches from the same seed, and trains on its own share of the
sentences in each batch. The gradients are averaged, so all processes take the same step. Only the
process of rank 0 validates, saves and prints.
"""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.optim import AdamW, Optimizer

from transformer_lab.config import check
from transformer_lab.config.device import pick_device
from transformer_lab.data.batching import PAD_ID, Batch

T = TypeVar("T")


def rank() -> int:
    """Return the rank of this process, counted from 0; it is 0 if there is only one process."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Return the number of processes that train together, which is 1 without torchrun."""
    return dist.get_world_size() if dist.is_initialized() else 1


@contextmanager
def process_group(device: str = "auto") -> Iterator[None]:
    """Connect the processes that torchrun has started, for the duration of the block.

    Only the process of rank 0 writes to standard output; the others are silenced. Without torchrun,
    or with a single process, nothing happens.

    Raises:
        ValueError: If this machine has fewer GPUs than processes, or the device is an Apple GPU.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    kind = pick_device(device).type
    check(
        "device",
        kind,
        "cpu or cuda, because there are several processes. Add --device cpu",
        kind != "mps",
    )
    if kind == "cuda":
        local, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
        check(
            "number of this process on its machine",
            local + 1,
            f"at most {gpus}, because each process needs a GPU",
            local < gpus,
        )
        torch.cuda.set_device(local)
    # The others wait while the first one validates, or fetches a corpus.
    dist.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=timedelta(hours=1))
    try:
        with print_on_rank_zero(contextlib.redirect_stdout):
            yield
    finally:
        dist.destroy_process_group()


@contextmanager
def rank_zero_first() -> Iterator[None]:
    """Run the block on rank 0 first, and then in the other processes.

    The other processes can therefore use files that rank 0 has written. If rank 0 fails, it raises
    the error, and the others exit without a message. If another process fails, for example because
    a file is missing on its machine, the remaining ones raise a ValueError that quotes the error.
    """
    if rank() > 0 and not broadcast(None):
        raise SystemExit(1)
    try:
        yield
    except BaseException as error:
        if rank() == 0:
            broadcast(False)
        elif isinstance(error, Exception):
            all_gather(str(error))
        raise
    if rank() == 0:
        broadcast(True)
    failures = [failure for failure in all_gather(None) if failure is not None]
    if failures:
        raise ValueError(f"another process has failed: {failures[0]}")


@contextmanager
def print_on_rank_zero(
    redirect: Callable[[Any], Any] = contextlib.redirect_stderr,
) -> Iterator[None]:
    """Silence a standard stream inside the block, in all processes except rank 0.

    Args:
        redirect: Selects the stream: `contextlib.redirect_stderr` or `contextlib.redirect_stdout`.
    """
    if rank() == 0:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect(nowhere):
        yield


def build_sharded_optimizer(groups: list[dict[str, Any]], **settings: Any) -> Optimizer:
    """Return an AdamW whose state is sharded: each process keeps the state of some parameters.

    After each step, every process sends the others the parameters that it has updated (PyTorch's
    `ZeroRedundancyOptimizer`; Rajbhandari et al. 2020, stage 1). The arguments are the same as for
    `AdamW`.
    """
    with warnings.catch_warnings():
        # Its package imports modules that PyTorch itself calls deprecated; only this function needs it.
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch.distributed.optim import ZeroRedundancyOptimizer
    return ZeroRedundancyOptimizer(groups, AdamW, **settings)


def local_optimizer(optimizer: Optimizer) -> Optimizer:
    """Return this process's part of a sharded optimizer; return any other optimizer unchanged."""
    own: Optimizer = getattr(optimizer, "optim", optimizer)
    return own


def is_sharded(optimizer: Optimizer) -> bool:
    """Return whether the optimizer's state is split among the processes."""
    return local_optimizer(optimizer) is not optimizer


def local_batch(
    batch: Batch, rank: int, world_size: int, pad_id: int = PAD_ID
) -> tuple[Batch, float]:
    """Return this process's share of a batch, and the factor that scales the share's mean loss.

    The factor is (real tokens in the share) · world_size / (real tokens in the batch). With this
    factor, the mean of the losses over the processes is the mean over all tokens in the batch. A
    plain mean of the means would give too much weight to the tokens of a process with few tokens.
    """
    if world_size == 1:
        return batch, 1.0
    mine = Batch(batch.source[rank::world_size], batch.target[rank::world_size])
    if len(mine.source) == 0:
        # Fewer sentences than processes: one sentence of nothing but padding has a loss of 0.
        source, target = batch.source[:1], batch.target[:1].clone()
        target[:, 1:] = pad_id
        mine = Batch(source, target)
    own, whole = (int((b.target_output != pad_id).sum()) for b in (mine, batch))
    return mine, own * world_size / whole


def all_reduce_mean(value: Tensor) -> Tensor:
    """Return the mean of a tensor over all processes; every process gets it."""
    whole = value.clone()
    dist.all_reduce(whole)
    return whole / world_size()


def all_gather(value: T) -> list[T]:
    """Return the values of all processes, ordered by rank; all processes must call it."""
    if world_size() == 1:
        return [value]
    values: list[Any] = [None] * world_size()
    dist.all_gather_object(values, value)
    return values


def check_same(name: str, value: object) -> None:
    """Raise a ValueError in every process unless all processes pass the same value."""
    values = all_gather(value)
    check(name, values, "the same in all processes", len(set(values)) == 1)


def broadcast(value: T) -> T:
    """Return rank 0's value in every process; all processes must call it."""
    if world_size() == 1:
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0)
    return box[0]
