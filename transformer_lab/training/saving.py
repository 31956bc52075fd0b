"""A run's state on disk: one file, plus one per process if Adam's state is sharded.

The trainers use it. The shards are written first, under new names. The file that lists them, with
their checksums, is written last and atomically. Until then, the previous state and its shards stay
valid.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn
from torch.optim import Optimizer

from transformer_lab.storage.folder import hash_file
from transformer_lab.storage.tensors import CheckpointError, load_tensors, save_tensors
from transformer_lab.training import distributed
from transformer_lab.training.state import ADAM, State, Weights


def get_adam_state(optimizer: Optimizer, model: nn.Module) -> dict[str, Weights]:
    """Return this process's part of Adam's state, indexed by name in `ADAM`, then by parameter."""
    state = distributed.local_optimizer(optimizer).state
    known = {name: state[p] for name, p in model.named_parameters() if state.get(p)}
    return {key: {name: part[key] for name, part in known.items()} for key in ADAM if known}


def set_adam_state(adam: Mapping[str, Weights], optimizer: Optimizer, model: nn.Module) -> None:
    """Copy Adam's state into this process's optimizer, for the parameters whose state it keeps."""
    mine = distributed.local_optimizer(optimizer)
    stored = {id(p) for group in mine.param_groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        if id(parameter) in stored and parameter.requires_grad:
            # Adam keeps its step count on the CPU unless it is fused on a GPU.
            mine.state[parameter] = {key: adam[key][name].to(parameter.device) for key in ADAM}


def save_state(path: Path, state: State, sharded: bool = False) -> None:
    """Write a run's state; the previous state stays valid until all of the new one is written.

    Args:
        path: The path of the file; any shards go into the same folder.
        state: The state of a run, including this process's shard of Adam's state.
        sharded: Whether Adam's state is sharded. If so, all processes call this, and each writes
            its own shard; otherwise only rank 0 calls it.

    Raises:
        OSError: If the disk is full or permission is denied.
        ValueError: If another process's shard is not in the same folder.
    """
    meta: dict[str, Any] = {"progress": state.progress}
    shards: Mapping[str, str] = {}
    if sharded:
        mine = shard_path(path, state.progress["step"])
        save_tensors(mine, replace(state, model={}, ema={}, best=None, random={}).to_tensors(), {})
        shards = dict(distributed.all_gather((mine.name, hash_file(mine))))
        if distributed.rank() > 0:
            return
        check_shards_exist(path.parent, shards)
        state, meta = replace(state, adam={}), meta | {"parts": shards}
    save_tensors(path, state.to_tensors(), meta)
    for old in path.parent.iterdir():
        if is_shard(path, old.name) and old.name not in shards:
            old.unlink()


def load_state(
    path: Path, shapes: Mapping[str, tuple[int, ...]], learning: Collection[str] | None = None
) -> State:
    """Read a state that `save_state` wrote, including the shards of all processes, if any.

    The number of processes may have changed since then.

    Args:
        path: The path of the file.
        shapes: The shapes of the model's parameters, by name.
        learning: The names of the parameters that are not frozen; None means all of them.

    Raises:
        CheckpointError: If something is missing or damaged, or does not match these parameters; the
            message names it.
    """
    tensors, meta = load_tensors(path)
    parts = meta.get("parts", {})
    if not isinstance(parts, dict) or not all(is_shard(path, name) for name in parts):
        raise CheckpointError(f"{path} is not the state of a training run")
    for name, sha256 in parts.items():
        tensors |= load_tensors(path.with_name(name), sha256)[0]
    return State.from_tensors(tensors, meta, shapes, path, learning)


def shard_path(path: Path, step: int) -> Path:
    """Return the path of this process's shard.

    Its name contains the step, so the shards of earlier steps are not overwritten.
    """
    number = f"{distributed.rank() + 1}_of_{distributed.world_size()}"
    return path.with_name(f"{path.stem}_{step}_{number}{path.suffix}")


def is_shard(path: Path, name: str) -> bool:
    """Return whether `name` is the file name of a shard of the state at `path`."""
    pattern = rf"{re.escape(path.stem)}_\d+_\d+_of_\d+{re.escape(path.suffix)}"
    return re.fullmatch(pattern, name) is not None


def check_shards_exist(folder: Path, shards: Iterable[str]) -> None:
    """Raise a ValueError if a shard is missing, for instance if the machines share no folder."""
    for name in shards:
        if not (folder / name).is_file():
            raise ValueError(
                f"{folder}/{name}, which another process should have written, is missing. Use a "
                "folder that all machines share, because each process saves its own part"
            )
