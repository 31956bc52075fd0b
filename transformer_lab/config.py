"""The numbers that make a Transformer, and those that train one, under the paper's names."""

import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal, get_args

Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "silu"]
Positions = Literal["sinusoidal", "learned", "rotary", "alibi", "none"]
Precision = Literal["auto", "fp32", "bf16"]
Decay = Literal["inverse_sqrt", "linear"]

MOST_LAYERS = 10_000
MOST_PARAMETERS = 10**12
"""What no machine could build is refused before one tries."""
MOST_SEED = 2**63 - 1
"""PyTorch takes twice as large ones; what is added to a run's seed for each of its steps has the rest."""


EXTRA_TOKENS = 50
"""A translation is cut at so many tokens more than its source has (§6.1)."""


def check(name: str, value: object, expected: str, holds: bool) -> None:
    """Raise the one kind of error that a wrong argument gets: its name, its value, what was expected."""
    if not holds:
        raise ValueError(f"{name} is {value!r}; expected {expected}")


def check_mask(mask: Any, scores: Sequence[int], dtype: str = "torch.bool") -> None:
    """Raise a ValueError unless a mask is boolean, and fits scores of this shape in one way only.

    With scores (batch, heads, query, key), the first of three dimensions might count sentences or
    heads, and where both are as many nobody could tell from the result.
    """
    check_boolean(mask, dtype)
    shape, scores = tuple(mask.shape), tuple(scores)
    sizes = zip(shape[::-1], scores[::-1], strict=False)
    broadcasts = len(shape) <= len(scores) and all(m in (1, s) for m, s in sizes)
    clear = not 2 < len(shape) < len(scores) or all(n == 1 for n in shape[:-2])
    expected = f"a shape that broadcasts to {scores}"
    if not clear:
        expected += ", and in one way only. Does its first dimension count sentences or heads? "
        expected += "Write mask[:, None] for one mask a sentence, mask[None] for one mask a head"
    elif shape and shape[-1] not in (1, scores[-1]):
        expected += f": there are {scores[-1]} keys, but the mask covers {shape[-1]}"
    check("mask.shape", shape, expected, broadcasts and clear)


def check_boolean(mask: Any, dtype: str = "torch.bool") -> None:
    """Raise a ValueError unless a mask holds this library's True and False: "bool" is NumPy's."""
    found = getattr(mask, "dtype", type(mask))
    check("mask.dtype", found, f"{dtype}, True = may attend", str(found) == dtype)


def at_least_one(name: str, value: Any) -> int:
    """The value as an int; a ValueError unless it is an integer, NumPy's or Python's, of at least 1."""
    check(name, value, "an integer of at least 1", is_integer(value) and value >= 1)
    return int(value)


def need_integer(values: object, name: str, least: int, *, optional: bool = False) -> None:
    """Check a field that is a whole number, and keep it as an int that JSON can write."""
    value = getattr(values, name)
    if value is None and optional:
        return
    expected = "None or " * optional + f"an integer of at least {least}"
    check(name, value, expected, is_integer(value) and value >= least)
    object.__setattr__(values, name, int(value))  # the configurations are frozen


def checked_seed(seed: Any) -> int:
    """The seed as an int; a ValueError unless it is an integer from 0 to MOST_SEED."""
    expected = f"an integer from 0 to {MOST_SEED:,}"
    check("seed", seed, expected, is_integer(seed) and 0 <= seed <= MOST_SEED)
    return int(seed)


def need_positive(values: object, name: str, *, optional: bool = False) -> None:
    """Check a field that is a finite number above 0, and keep it as a float."""
    value = getattr(values, name)
    if value is None and optional:
        return
    expected = "a finite number above 0" + " or None" * optional
    check(name, value, expected, is_number(value) and 0 < value < math.inf)
    object.__setattr__(values, name, float(value))


def need_share(values: object, name: str) -> None:
    """Check a field that is a number from 0 up to, not including, 1, and keep it as a float."""
    value = getattr(values, name)
    check(
        name, value, "a number from 0 up to, not including, 1", is_number(value) and 0 <= value < 1
    )
    object.__setattr__(values, name, float(value))


def need_bool(values: object, name: str) -> None:
    """Check a field that is True or False, NumPy's included, and keep it as Python's."""
    value = getattr(values, name)
    is_one = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    check(name, value, "True or False", is_one)
    object.__setattr__(values, name, bool(value))


def is_integer(value: object) -> bool:
    """Whether this is a whole number, NumPy's included; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether this is a real number, NumPy's included, that a float can hold; True is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return not isinstance(value, Integral) or abs(int(value)) <= sys.float_info.max


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The shape of one Transformer (Vaswani et al. 2017, §3 and Table 3).

    The defaults are the paper's base model. `d_k` and `d_v` of None stand for
    d_model / num_heads, `num_key_value_heads` of None for as many as `num_heads`: with fewer,
    neighbouring heads share their keys and values (see `model/later/grouped.py`). A
    `recurrent_decoder` has a recurrence in the place of self-attention; `transformer_of` of
    `model/later/recurrence.py` builds it, `Transformer` the paper's.
    A ValueError names the first field that does not fit.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 512
    d_ff: int = 2048
    num_heads: int = 8
    num_key_value_heads: int | None = None
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    d_k: int | None = None
    d_v: int | None = None
    dropout: float = 0.1
    attention_dropout: float = 0.0
    feed_forward_dropout: float = 0.0
    norm: Norm = "post"
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    max_length: int = 512
    tie_source_target: bool = True
    tie_target_output: bool = True
    recurrent_decoder: bool = False
    pad_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    unk_id: int = 3

    def __post_init__(self) -> None:
        sizes = [
            "source_vocab_size",
            "target_vocab_size",
            "d_model",
            "d_ff",
            "num_heads",
            "max_length",
        ]
        for name in sizes:
            need_integer(self, name, 1)
        for name in ("d_k", "d_v", "num_key_value_heads"):
            need_integer(self, name, 1, optional=True)
        for name in ("num_encoder_layers", "num_decoder_layers"):
            need_integer(self, name, 0)
        for name in ("pad_id", "bos_id", "eos_id", "unk_id"):
            need_integer(self, name, 0)
        for name in ("dropout", "attention_dropout", "feed_forward_dropout"):
            need_share(self, name)
        for name in ("tie_source_target", "tie_target_output", "recurrent_decoder"):
            need_bool(self, name)
        check("norm", self.norm, f"one of {get_args(Norm)}", self.norm in get_args(Norm))
        kinds = get_args(Activation)
        check("activation", self.activation, f"one of {kinds}", self.activation in kinds)
        kinds = get_args(Positions)
        check("positions", self.positions, f"one of {kinds}", self.positions in kinds)
        if self.d_k is None or self.d_v is None:
            divides = self.d_model % self.num_heads == 0
            expected = f"a divisor of d_model={self.d_model}, or d_k and d_v given"
            check("num_heads", self.num_heads, expected, divides)
        shared = self.num_key_value_heads
        if shared is not None:
            expected = f"None or a divisor of num_heads={self.num_heads}"
            check("num_key_value_heads", shared, expected, self.num_heads % shared == 0)
        if self.positions == "rotary":
            check(
                "d_k", self.key_size, "an even number for rotary positions", self.key_size % 2 == 0
            )
        if self.tie_source_target:
            same = self.source_vocab_size == self.target_vocab_size
            expected = f"target_vocab_size={self.target_vocab_size}, as tie_source_target is set"
            check("source_vocab_size", self.source_vocab_size, expected, same)
        smallest = min(self.source_vocab_size, self.target_vocab_size)
        special = (self.pad_id, self.bos_id, self.eos_id, self.unk_id)
        inside = all(0 <= i < smallest for i in special)
        expected = f"ids from 0 to {smallest - 1}, inside both vocabularies"
        check("(pad_id, bos_id, eos_id, unk_id)", special, expected, inside)
        # Only padding may also begin a target, as in Marian's models: nobody is ever asked to write it.
        expected = "four different ids, of which only pad_id and bos_id may be the same one"
        differ = len(set(special)) == 4 - (self.bos_id == self.pad_id)
        check("(pad_id, bos_id, eos_id, unk_id)", special, expected, differ)
        for name in ("num_encoder_layers", "num_decoder_layers"):
            layers = getattr(self, name)
            check(name, layers, f"at most {MOST_LAYERS:,}", layers <= MOST_LAYERS)
        widest = max(self.source_vocab_size, self.target_vocab_size, self.d_ff)
        widest = max(widest, self.num_heads * self.key_size, self.num_heads * self.value_size)
        widest = max(widest, self.d_model * self.recurrent_decoder)
        widest = max(widest, self.max_length * (self.positions == "learned"))
        largest, expected = self.d_model * widest, f"at most {MOST_PARAMETERS:,}"
        check("size of the largest matrix", largest, expected, largest <= MOST_PARAMETERS)

    @property
    def key_size(self) -> int:
        """d_k: the width of one head's queries and keys."""
        return self.d_k or self.d_model // self.num_heads

    @property
    def value_size(self) -> int:
        """d_v: the width of one head's values."""
        return self.d_v or self.d_model // self.num_heads

    @classmethod
    def tiny(
        cls, source_vocab_size: int, target_vocab_size: int, **changes: Any
    ) -> "TransformerConfig":
        """A model for the bilingual world: learns it in a minute and a half on two CPU cores."""
        sizes = {
            "d_model": 128,
            "d_ff": 256,
            "num_heads": 4,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
        }
        return cls._preset(source_vocab_size, target_vocab_size, sizes, changes)

    @classmethod
    def small(
        cls, source_vocab_size: int, target_vocab_size: int, **changes: Any
    ) -> "TransformerConfig":
        """A model for some ten thousand real sentences and twenty minutes of two CPU cores.

        Its norm comes before the sub-layer, unlike the paper's: in so short a run that is the
        difference between learning to translate and having begun to.
        """
        sizes = {
            "d_model": 192,
            "d_ff": 768,
            "num_heads": 4,
            "num_encoder_layers": 3,
            "num_decoder_layers": 3,
            "norm": "pre",
            "dropout": 0.05,
        }
        return cls._preset(source_vocab_size, target_vocab_size, sizes, changes)

    @classmethod
    def base(
        cls, source_vocab_size: int = 37_000, target_vocab_size: int = 37_000, **changes: Any
    ) -> "TransformerConfig":
        """The paper's base model (Table 3, first row; vocabulary of §5.1)."""
        return cls._preset(source_vocab_size, target_vocab_size, {}, changes)

    @classmethod
    def big(
        cls, source_vocab_size: int = 37_000, target_vocab_size: int = 37_000, **changes: Any
    ) -> "TransformerConfig":
        """The paper's big model (Table 3, last row)."""
        sizes = {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3}
        return cls._preset(source_vocab_size, target_vocab_size, sizes, changes)

    @classmethod
    def _preset(
        cls, source: int, target: int, sizes: dict[str, Any], changes: dict
    ) -> "TransformerConfig":
        # One vocabulary for both languages is tied as in the paper; two of
        # different sizes cannot be, so there only the output is tied.
        fitting = {"tie_source_target": source == target}
        values = {**fitting, **sizes, **changes}
        return cls(source_vocab_size=source, target_vocab_size=target, **values)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TransformerConfig":
        """The configuration of `to_dict`; a ValueError names fields that are unknown or missing."""
        return _from_dict(cls, values)


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """How a model is trained (§5 of the paper); `recipe.PRESETS` has values that fit each size.

    `peak_rate` None means the paper's own scale, d_model^-0.5 (§5.3, equation 3).
    `decay` says how the rate falls after the warm-up: as in the paper, or straight
    down to 0 at `max_steps`, which then has to be known beforehand.
    `batch_tokens` counts padded positions of the larger side of a batch.
    `weight_decay` is what the matrices lose at each step, as a share of themselves and per unit of
    the rate, beside what Adam does (Loshchilov and Hutter 2019); the paper has none.
    `max_minutes` None means no limit in time. A run that has a file for its state saves it every
    `save_every` steps and every `save_minutes` minutes; None: not for that reason. `average_decay`
    is that of a moving average of the weights, with which the model ends, in place of the paper's
    mean of its last checkpoints (§6.1); 0 keeps the last weights. `shard_optimizer` divides Adam's
    state among the processes, where there are several.
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
            need_integer(self, name, 1)
        for name in ("patience", "save_every"):
            need_integer(self, name, 1, optional=True)
        object.__setattr__(self, "seed", checked_seed(self.seed))
        for name in ("beta1", "beta2", "weight_decay", "label_smoothing", "average_decay"):
            need_share(self, name)
        for name in ("epsilon", "clip_norm"):
            need_positive(self, name)
        for name in ("peak_rate", "max_minutes", "save_minutes"):
            need_positive(self, name, optional=True)
        need_bool(self, "shard_optimizer")
        check("decay", self.decay, f"one of {get_args(Decay)}", self.decay in get_args(Decay))
        if self.decay == "linear":
            check("peak_rate", self.peak_rate, "a number, as decay is linear", bool(self.peak_rate))
        kinds = get_args(Precision)
        check("precision", self.precision, f"one of {kinds}", self.precision in kinds)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TrainingConfig":
        """The configuration of `to_dict`; a ValueError names fields that are unknown or missing."""
        return _from_dict(cls, values)


def _from_dict(cls: type, values: dict[str, Any]) -> Any:
    kind = type(values).__name__
    check(f"description of a {cls.__name__}", f"a {kind}", "a dict", isinstance(values, dict))
    known = {f.name for f in fields(cls)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(f"{cls.__name__} has no field {', '.join(unknown)}")
    try:
        return cls(**values)
    except TypeError as error:
        raise ValueError(f"{cls.__name__} cannot be made from {sorted(values)}: {error}") from error
