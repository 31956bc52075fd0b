"""All that a run needs to go on: as one set of tensors in a file, and back, with every part checked."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_lab.config import is_integer, is_number
from transformer_lab.training.checkpoint import CheckpointError, check_tensors

ADAM = ("step", "exp_avg", "exp_avg_sq")
"""What Adam keeps of each parameter, under PyTorch's names."""
Weights = Mapping[str, Tensor]


@dataclass
class Progress:
    """How far a run is; all of it is saved and resumed."""

    step: int = 0
    epoch: int = 0
    index: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best: float = math.inf
    worse: int = 0
    history: list[dict[str, float | int]] = field(default_factory=list)


@dataclass(frozen=True)
class State:
    """A run between two steps.

    Attributes:
        progress: The fields of `Progress`.
        model: The weights that Adam has reached.
        average: Their moving average.
        adam: What Adam keeps, for each name in ADAM; empty before the first step.
        best: The weights of the best validation, where somebody watches it.
        random: The states of the random numbers, by device.
    """

    progress: Mapping[str, Any]
    model: Weights
    average: Weights
    adam: Mapping[str, Weights]
    best: dict[str, Tensor] | None
    random: dict[str, Tensor]

    def tensors(self) -> dict[str, Tensor]:
        """One name for each tensor: group/name."""
        groups = {"model": self.model, "average": self.average, "best": self.best or {}}
        groups |= {"random": self.random}
        groups |= {f"adam/{key}": values for key, values in self.adam.items()}
        return {f"{group}/{n}": t for group, values in groups.items() for n, t in values.items()}

    @classmethod
    def of(
        cls,
        tensors: Weights,
        meta: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]],
        path: Path,
        learning: Collection[str] | None = None,
    ) -> "State":
        """The state of a run whose model has parameters of these shapes; Adam keeps those that learn.

        Raises:
            CheckpointError: Naming what is missing or does not fit.
        """

        def group(prefix: str) -> dict[str, Tensor]:
            long = f"{prefix}/"
            return {n.removeprefix(long): t for n, t in tensors.items() if n.startswith(long)}

        model, average, best = group("model"), group("average"), group("best")
        adam = {key: group(f"adam/{key}") for key in ADAM}
        random, progress = group("random"), meta.get("progress", {})
        is_one = model and average and "cpu" in random and is_progress(progress)
        state = cls(dict(progress) if is_one else {}, model, average, adam, best or None, random)
        if not is_one or tensors.keys() - state.tensors().keys():
            raise CheckpointError(f"{path}: not the state of a training run")
        has_adam = state.progress["step"] > 0  # which has nothing to say before its first step
        for values in (model, average, *([best] if best else [])):
            check_tensors(values, shapes, path, [torch.float32])
        learnt = {n: shape for n, shape in shapes.items() if learning is None or n in learning}
        for key in ADAM:
            kept = dict.fromkeys(learnt, ()) if key == "step" else learnt
            check_tensors(adam[key], kept if has_adam else {}, path, [torch.float32])
            least = 1.0 if key == "step" else 0.0
            for name, tensor in adam[key].items():
                if key != "exp_avg" and not bool((tensor >= least).all()):
                    expected = f"numbers of at least {least:.0f}"
                    raise CheckpointError(
                        f"{path}: adam/{key}/{name} is damaged; expected {expected}"
                    )
        for name, numbers in state.random.items():
            if numbers.dtype != torch.uint8 or numbers.dim() != 1:
                text = f"{path}: random/{name} is no state of torch's random numbers"
                raise CheckpointError(text)
        try:
            torch.Generator().set_state(state.random["cpu"])
        except (RuntimeError, TypeError) as error:
            text = f"{path}: random/cpu is no state of torch's random numbers"
            raise CheckpointError(text) from error
        return state


def is_progress(values: Any) -> bool:
    """Are these the fields of `Progress`, each of its kind?"""
    if not isinstance(values, Mapping) or {f.name for f in fields(Progress)} != values.keys():
        return False
    counts = ("step", "epoch", "index", "tokens", "worse")
    return (
        all(is_integer(values[name]) and 0 <= values[name] < 2**63 for name in counts)
        and all(is_number(values[name]) for name in ("seconds", "best"))
        and 0 <= values["seconds"] < math.inf
        and not math.isnan(values["best"])
        and isinstance(values["history"], list)
        and all(is_entry(entry) for entry in values["history"])
    )


def is_entry(value: Any) -> bool:
    """Is this a line of a history: a step, and numbers by name?"""
    return isinstance(value, dict) and "step" in value and all(map(is_number, value.values()))
