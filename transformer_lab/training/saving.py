"""The state of a run on disk: one file, and where Adam's state is divided, one more for each process.

The files of the parts are written first. The one that names them, with the sums of their content,
comes last and in one step: before, the state that it replaces counts, with parts of its own.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn
from torch.optim import Optimizer

from transformer_lab.training import distributed
from transformer_lab.training.checkpoint import CheckpointError, load_tensors, save_tensors
from transformer_lab.training.folder import sha256_of
from transformer_lab.training.state import ADAM, State, Weights


def adam_state(optimizer: Optimizer, model: nn.Module) -> dict[str, Weights]:
    """What this process has of Adam's state: a tensor for each name in ADAM and parameter."""
    state = distributed.part_of(optimizer).state
    known = {name: state[p] for name, p in model.named_parameters() if state.get(p)}
    return {key: {name: part[key] for name, part in known.items()} for key in ADAM if known}


def put_adam_state(adam: Mapping[str, Weights], optimizer: Optimizer, model: nn.Module) -> None:
    """Give this process's optimizer what it keeps of a whole Adam state."""
    mine = distributed.part_of(optimizer)
    kept = {id(p) for group in mine.param_groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        if id(parameter) in kept and parameter.requires_grad:
            # Adam keeps its step count on the CPU unless it is fused on a GPU.
            mine.state[parameter] = {key: adam[key][name].to(parameter.device) for key in ADAM}


def save_state(path: Path, state: State, divided: bool) -> None:
    """Write a run between two steps; what was there counts until all of it is written.

    Args:
        path: Of the file; those of the parts, if any, stand beside it.
        state: Of a run, with this process's part of Adam's state.
        divided: Whether all processes call this, each to write its part. Else the first one calls it.

    Raises:
        OSError: Without room or permission.
        ValueError: If another process's part is not in the same folder.
    """
    meta: dict[str, Any] = {"progress": state.progress}
    parts: Mapping[str, str] = {}
    if divided:
        mine = part_path(path, state.progress["step"])
        save_tensors(mine, replace(state, model={}, average={}, best=None, random={}).tensors(), {})
        parts = dict(distributed.from_all((mine.name, sha256_of(mine))))
        if distributed.rank() > 0:
            return
        check_same_folder(path.parent, parts)
        state, meta = replace(state, adam={}), meta | {"parts": parts}
    save_tensors(path, state.tensors(), meta)
    for old in path.parent.iterdir():
        if is_part(path, old.name) and old.name not in parts:
            old.unlink()


def load_state(
    path: Path, shapes: Mapping[str, tuple[int, ...]], learning: Collection[str] | None = None
) -> State:
    """What `save_state` wrote, with all parts joined, whatever the number of processes was.

    `learning` names the parameters that are not frozen; None stands for all.

    Raises:
        CheckpointError: Naming what is missing, damaged or does not fit parameters of these shapes.
    """
    tensors, meta = load_tensors(path)
    parts = meta.get("parts", {})
    if not isinstance(parts, dict) or not all(is_part(path, name) for name in parts):
        raise CheckpointError(f"{path}: not the state of a training run")
    for name, sha256 in parts.items():
        tensors |= load_tensors(path.with_name(name), sha256)[0]
    return State.of(tensors, meta, shapes, path, learning)


def part_path(path: Path, step: int) -> Path:
    """The file of this process's part; the step is in its name, so that no part is ever replaced."""
    number = f"{distributed.rank() + 1}_of_{distributed.processes()}"
    return path.with_name(f"{path.stem}_{step}_{number}{path.suffix}")


def is_part(path: Path, name: str) -> bool:
    """Whether a file of this name holds a part of the state at `path`."""
    pattern = rf"{re.escape(path.stem)}_\d+_\d+_of_\d+{re.escape(path.suffix)}"
    return re.fullmatch(pattern, name) is not None


def check_same_folder(folder: Path, parts: Iterable[str]) -> None:
    """A ValueError if a part is not there: machines that share no folder cannot divide a state."""
    for name in parts:
        if not (folder / name).is_file():
            expected = "one folder that all machines see, where Adam's state is divided"
            raise ValueError(f"{folder} lacks {name} of another process; expected {expected}")
