"""Training on several processes at once, with PyTorch's own distributed engine.

    torchrun --nproc-per-node 2 -m transformer_lab train

Every process makes the same batches from the same seed, and of each batch it computes its own
share of the sentences. The gradients are averaged, so that all processes take the same step. The
first process, of rank 0, is the one that validates, writes and prints.
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
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

from transformer_lab.config import check
from transformer_lab.data.batching import PAD_ID, Batch
from transformer_lab.device import pick_device

T = TypeVar("T")


def rank() -> int:
    """This process's number, from 0; 0 where there is only one."""
    return dist.get_rank() if dist.is_initialized() else 0


def processes() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


@contextmanager
def joined(device: str = "auto") -> Iterator[None]:
    """Inside the block the processes that torchrun has started know each other.

    Without torchrun nothing happens. All but the first print nothing.

    Raises:
        ValueError: If there is no GPU for each process of this machine, or only an Apple one.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    kind = pick_device(device).type
    check("device", kind, "cpu or cuda with several processes; give --device cpu", kind != "mps")
    if kind == "cuda":
        local, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
        check("processes on this machine", local + 1, f"at most {gpus}, its GPUs", local < gpus)
        torch.cuda.set_device(local)
    # The others wait while the first one validates, or fetches a corpus.
    dist.init_process_group("nccl" if kind == "cuda" else "gloo", timeout=timedelta(hours=1))
    try:
        with first_speaks(contextlib.redirect_stdout):
            yield
    finally:
        dist.destroy_process_group()


@contextmanager
def first_before_others() -> Iterator[None]:
    """The first process goes through the block, then the others: it may leave a file for them.

    If it fails, it says so, and the others end without a word. If another one fails, as on a machine
    that has other files, all end: a ValueError in those that did not fail says why.
    """
    if rank() > 0 and not as_the_first(None):
        raise SystemExit(1)
    try:
        yield
    except BaseException as error:
        if rank() == 0:
            as_the_first(False)
        elif isinstance(error, Exception):
            from_all(str(error))
        raise
    if rank() == 0:
        as_the_first(True)
    failures = [failure for failure in from_all(None) if failure is not None]
    if failures:
        raise ValueError(f"another process has failed: {failures[0]}")


@contextmanager
def first_speaks(redirect: Callable[[Any], Any] = contextlib.redirect_stderr) -> Iterator[None]:
    """Inside the block only the first process speaks: the others would say the same.

    On standard error, or on the stream that `redirect` leads elsewhere.
    """
    if rank() == 0:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect(nowhere):
        yield


def wrapped(module: nn.Module) -> nn.Module:
    """The module with gradients that are averaged over all processes; itself if there is one."""
    return DistributedDataParallel(module) if processes() > 1 else module


def divided(
    groups: list[dict[str, Any]], kind: type[Optimizer], settings: dict[str, Any]
) -> Optimizer:
    """An optimizer of which each process has the state of its share of the parameters.

    It sends the parameters of its share to the others after each step (PyTorch's
    `ZeroRedundancyOptimizer`; Rajbhandari et al. 2020, stage 1).
    """
    with warnings.catch_warnings():
        # Its package brings others along that PyTorch itself calls outdated; nobody else waits for it.
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch.distributed.optim import ZeroRedundancyOptimizer
    return ZeroRedundancyOptimizer(groups, kind, **settings)


def part_of(optimizer: Optimizer) -> Optimizer:
    """The optimizer of this process's share alone; itself if it is not divided."""
    own: Optimizer = getattr(optimizer, "optim", optimizer)
    return own


def is_divided(optimizer: Optimizer) -> bool:
    """Whether each process has a part of the optimizer's state, and none has all of it."""
    return part_of(optimizer) is not optimizer


def share_of(batch: Batch, rank: int, processes: int, pad_id: int = PAD_ID) -> tuple[Batch, float]:
    """The sentences of a batch that fall to a process, and the factor that its mean loss needs.

    A mean of means would count a token of a small share more than one of a large share. With
    the factor, (own real tokens) · processes / (all real tokens), the mean over the processes is
    the mean over all tokens of the whole batch.
    """
    if processes == 1:
        return batch, 1.0
    mine = Batch(batch.source[rank::processes], batch.target[rank::processes])
    if len(mine.source) == 0:
        # Fewer sentences than processes: one sentence of nothing but padding has the loss 0.
        source, target = batch.source[:1], batch.target[:1].clone()
        target[:, 1:] = pad_id
        mine = Batch(source, target)
    own, whole = (int((b.target_output != pad_id).sum()) for b in (mine, batch))
    return mine, own * processes / whole


def mean_over_processes(value: Tensor) -> Tensor:
    """The mean of a number over all processes; each of them gets it."""
    if processes() == 1:
        return value
    whole = value.clone()
    dist.all_reduce(whole)
    return whole / processes()


def from_all(value: T) -> list[T]:
    """What each process has as `value`, in their order; each of them gets it, and waits for it."""
    if processes() == 1:
        return [value]
    values: list[Any] = [None] * processes()
    dist.all_gather_object(values, value)
    return values


def check_same(name: str, value: object) -> None:
    """Raise a ValueError in each process if they do not all have the same value."""
    values = from_all(value)
    check(name, values, "the same in all processes", len(set(values)) == 1)


def as_the_first(value: T) -> T:
    """What the first process has as `value`; so all of them decide alike. It waits for the first."""
    if processes() == 1:
        return value
    box = [value]
    dist.broadcast_object_list(box, src=0)
    return box[0]
