"""A run's state: everything that the run needs to continue, as named tensors.

`training.saving` writes and reads it, and the trainer builds it. The tensors are checked when they
are read.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_lab.config import is_integer, is_number
from transformer_lab.storage.tensors import CheckpointError, check_tensors

ADAM = ("step", "exp_avg", "exp_avg_sq")
"""The tensors that Adam keeps for each parameter, under PyTorch's names."""
Weights = Mapping[str, Tensor]


@dataclass
class Progress:
    """The progress of a run; it is saved, and restored when the run is resumed.

    Attributes:
        step: Optimizer steps so far.
        epoch: Complete passes over the examples.
        index: Batches taken from the current epoch.
        tokens: Target tokens trained on so far, without padding.
        seconds: Training time so far.
        best: The best value of the monitored metric so far, negated if larger is better.
        worse: The number of validations since that best value.
        history: The step and the metrics of each validation.
    """

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
    """The state of a run between two steps.

    Attributes:
        progress: The fields of `Progress`.
        model: The current weights, not averaged.
        ema: The exponential moving average of the weights; a saved file calls it "average".
        adam: Adam's tensors, indexed by name in `ADAM`, then by parameter; empty before the first
            step.
        best: The weights at the best validation; None without `TrainingConfig.patience`.
        random: The states of the random number generators, by device.
    """

    progress: Mapping[str, Any]
    model: Weights
    ema: Weights
    adam: Mapping[str, Weights]
    best: dict[str, Tensor] | None
    random: dict[str, Tensor]

    def to_tensors(self) -> dict[str, Tensor]:
        """Return all tensors in one dict, under names such as "model/output.bias"."""
        groups = {"model": self.model, "average": self.ema, "best": self.best or {}}
        groups |= {"random": self.random}
        groups |= {f"adam/{key}": values for key, values in self.adam.items()}
        return {f"{group}/{n}": t for group, values in groups.items() for n, t in values.items()}

    @classmethod
    def from_tensors(
        cls,
        tensors: Weights,
        meta: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]],
        path: Path,
        learning: Collection[str] | None = None,
    ) -> "State":
        """Build a state from the tensors and the JSON header of a file, and check every part.

        Args:
            tensors: The tensors by name, including all of Adam's state.
            meta: The header, which contains "progress".
            shapes: The shapes of the model's parameters, by name.
            path: The path of the file, for error messages.
            learning: The names of the parameters for which Adam has a state; None means all of
                them.

        Raises:
            CheckpointError: If something is missing or invalid; the message names it.
        """

        def group(prefix: str) -> dict[str, Tensor]:
            long = f"{prefix}/"
            return {n.removeprefix(long): t for n, t in tensors.items() if n.startswith(long)}

        model, ema, best = group("model"), group("average"), group("best")
        adam = {key: group(f"adam/{key}") for key in ADAM}
        random, progress = group("random"), meta.get("progress", {})
        is_state = model and ema and "cpu" in random and is_progress(progress)
        state = cls(dict(progress) if is_state else {}, model, ema, adam, best or None, random)
        if not is_state or tensors.keys() - state.to_tensors().keys():
            raise CheckpointError(f"{path} is not the state of a training run")
        has_adam = state.progress["step"] > 0  # there is no Adam state before the first step
        for values in (model, ema, *([best] if best else [])):
            check_tensors(values, shapes, path, [torch.float32])
        learnt = {n: shape for n, shape in shapes.items() if learning is None or n in learning}
        for key in ADAM:
            sizes = dict.fromkeys(learnt, ()) if key == "step" else learnt
            check_tensors(adam[key], sizes if has_adam else {}, path, [torch.float32])
            least = 1.0 if key == "step" else 0.0
            for name, tensor in adam[key].items():
                if key != "exp_avg" and not bool((tensor >= least).all()):
                    raise CheckpointError(
                        f"{path} is damaged: adam/{key}/{name} contains a number below {least:.0f}"
                    )
        for name, numbers in state.random.items():
            if numbers.dtype != torch.uint8 or numbers.dim() != 1:
                text = f"{path}: random/{name} is not a state of torch's random number generator"
                raise CheckpointError(text)
        try:
            torch.Generator().set_state(state.random["cpu"])
        except (RuntimeError, TypeError) as error:
            text = f"{path}: random/cpu is not a state of torch's random number generator"
            raise CheckpointError(text) from error
        return state


def is_progress(values: Any) -> bool:
    """Return whether `values` has exactly the fields of `Progress`, each with a valid value."""
    if not isinstance(values, Mapping) or {f.name for f in fields(Progress)} != values.keys():
        return False
    counts = ("step", "epoch", "index", "tokens", "worse")
    return (
        all(is_integer(values[name]) and 0 <= values[name] < 2**63 for name in counts)
        and all(is_number(values[name]) for name in ("seconds", "best"))
        and 0 <= values["seconds"] < math.inf
        and not math.isnan(values["best"])
        and isinstance(values["history"], list)
        and all(is_history_entry(entry) for entry in values["history"])
    )


def is_history_entry(value: Any) -> bool:
    """Return whether `value` is an entry of `Progress.history`: a dict of numbers with a "step"."""
    return isinstance(value, dict) and "step" in value and all(map(is_number, value.values()))
