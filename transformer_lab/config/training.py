"""The configuration of a training run: steps, rates, regularisation and device.

The trainer, presets and runs use it.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from transformer_lab.config.checks import (
    check,
    check_choice,
    check_seed,
    config_from_dict,
    convert_to_boolean,
    convert_to_integer,
    convert_to_positive,
    convert_to_share,
)

Precision = Literal["auto", "fp32", "bf16"]
Decay = Literal["inverse_sqrt", "linear"]


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The settings of a training run (§5); `runs.presets` has suitable values for each model size.

    If `peak_rate` is None, the learning rate is scaled as in the paper, by d_model^-0.5 (§5.3,
    equation 3). `decay` says how the rate falls after the warm-up: as in the paper, or linearly,
    reaching 0 right after `max_steps`. With linear decay, `max_steps` cannot be changed later.
    `batch_tokens` is the maximum number of positions, including padding, on the larger side of a
    batch. `weight_decay` is decoupled (AdamW; Loshchilov and Hutter 2019): at each step, the
    matrices shrink by this factor times the learning rate. The paper uses none. `patience` stops a
    run after this many validations without improvement. If `max_minutes` is None, there is no time
    limit.

    `average_decay` is the decay of the exponential moving average (EMA) of the weights; at the end,
    the model's weights are set to it. With 0, no average is kept, and the last weights are used.
    The paper instead averages its last checkpoints (§6.1). A run with a state file saves its state
    every `save_every` steps and every `save_minutes` minutes; set either one to None to disable it.
    `shard_optimizer` splits Adam's state among the processes, if there are several.
    """

    max_steps: int = 1_000
    max_minutes: float | None = None
    batch_tokens: int = 4_096
    peak_rate: float | None = 2.5e-3
    warmup_steps: int = 100
    decay: Decay = "inverse_sqrt"
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    label_smoothing: float = 0.1
    clip_norm: float = 1.0
    average_decay: float = 0.99
    validate_every: int = 100
    patience: int | None = None
    save_every: int | None = None
    save_minutes: float | None = 5.0
    shard_optimizer: bool = False
    seed: int = 0
    device: str = "auto"
    precision: Precision = "auto"

    def __post_init__(self) -> None:
        for name in ("max_steps", "batch_tokens", "warmup_steps", "validate_every"):
            convert_to_integer(self, name, 1)
        for name in ("patience", "save_every"):
            convert_to_integer(self, name, 1, optional=True)
        object.__setattr__(self, "seed", check_seed(self.seed))
        for name in ("beta1", "beta2", "weight_decay", "label_smoothing", "average_decay"):
            convert_to_share(self, name)
        for name in ("epsilon", "clip_norm"):
            convert_to_positive(self, name)
        for name in ("peak_rate", "max_minutes", "save_minutes"):
            convert_to_positive(self, name, optional=True)
        convert_to_boolean(self, "shard_optimizer")
        check_choice("decay", self.decay, get_args(Decay))
        if self.decay == "linear":
            check(
                "peak_rate",
                self.peak_rate,
                "a number, because decay is linear",
                bool(self.peak_rate),
            )
        check_choice("precision", self.precision, get_args(Precision))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingConfig":
        """Build a configuration from the result of `to_dict`.

        Raises:
            ValueError: If a field is unknown or missing, or its value is not allowed.
        """
        return config_from_dict(cls, values)
