"""The configuration of a model: its sizes, under the paper's names, with checks of their values.

Models, checkpoints and presets use it.
"""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, get_args

from transformer_lab.config.checks import (
    check,
    check_choice,
    config_from_dict,
    convert_to_boolean,
    convert_to_integer,
    convert_to_share,
)

Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "silu"]
Positions = Literal["sinusoidal", "learned", "rotary", "alibi", "none"]

MOST_LAYERS = 10_000
MOST_PARAMETERS = 10**12
"""The maximum number of entries in a model or a matrix, checked before memory is allocated."""


EXTRA_TOKENS = 50
"""The number of tokens by which a translation may exceed its source by default (§6.1)."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """The architecture and sizes of a Transformer (Vaswani et al. 2017, §3 and Table 3).

    The defaults are those of the paper's base model. If `d_k` or `d_v` is None, it is d_model /
    num_heads. If `num_key_value_heads` is None, it is `num_heads`; with fewer key and value heads,
    neighbouring query heads share them (grouped-query attention). With `recurrent_decoder`, the
    decoder has a recurrence instead of self-attention; `model.build.build_model` builds either
    kind.

    Raises:
        ValueError: If a field's value is not allowed; the message names the first such field.
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
            convert_to_integer(self, name, 1)
        for name in ("d_k", "d_v", "num_key_value_heads"):
            convert_to_integer(self, name, 1, optional=True)
        for name in ("num_encoder_layers", "num_decoder_layers"):
            convert_to_integer(self, name, 0)
        for name in ("pad_id", "bos_id", "eos_id", "unk_id"):
            convert_to_integer(self, name, 0)
        for name in ("dropout", "attention_dropout", "feed_forward_dropout"):
            convert_to_share(self, name)
        for name in ("tie_source_target", "tie_target_output", "recurrent_decoder"):
            convert_to_boolean(self, name)
        check_choice("norm", self.norm, get_args(Norm))
        check_choice("activation", self.activation, get_args(Activation))
        check_choice("positions", self.positions, get_args(Positions))
        if self.d_k is None or self.d_v is None:
            divides = self.d_model % self.num_heads == 0
            expected = f"a divisor of d_model={self.d_model}, unless d_k and d_v are given"
            check("num_heads", self.num_heads, expected, divides)
        shared = self.num_key_value_heads
        if shared is not None:
            expected = f"None or a divisor of num_heads={self.num_heads}"
            check("num_key_value_heads", shared, expected, self.num_heads % shared == 0)
        if self.positions == "rotary":
            check(
                "d_k", self.key_size, "an even number for rotary positions", self.key_size % 2 == 0
            )
        if self.tie_source_target and self.source_vocab_size != self.target_vocab_size:
            raise ValueError(
                f"source_vocab_size is {self.source_vocab_size}, but target_vocab_size is "
                f"{self.target_vocab_size}; expected equal sizes, because tie_source_target is True"
            )
        smallest = min(self.source_vocab_size, self.target_vocab_size)
        special = ("pad_id", "bos_id", "eos_id", "unk_id")
        expected = f"0 to {smallest - 1}, because both vocabularies must contain this id"
        for name in special:
            check(name, getattr(self, name), expected, 0 <= getattr(self, name) < smallest)
        # Only padding may double as bos, as in Marian's models, because it is never written.
        for one, other in combinations(special, 2):
            value = getattr(self, one)
            if value == getattr(self, other) and (one, other) != ("pad_id", "bos_id"):
                raise ValueError(
                    f"{one} and {other} are both {value}; only pad_id and bos_id may be equal"
                )
        for name in ("num_encoder_layers", "num_decoder_layers"):
            layers = getattr(self, name)
            check(name, layers, f"at most {MOST_LAYERS:,}", layers <= MOST_LAYERS)
        matrices = {
            "source_vocab_size": self.source_vocab_size,
            "target_vocab_size": self.target_vocab_size,
            "d_ff": self.d_ff,
            "num_heads × d_k": self.num_heads * self.key_size,
            "num_heads × d_v": self.num_heads * self.value_size,
            "d_model": self.d_model * self.recurrent_decoder,
            "max_length": self.max_length * (self.positions == "learned"),
        }
        for name, rows in matrices.items():
            count = self.d_model * rows
            if count > MOST_PARAMETERS:
                raise ValueError(
                    f"d_model × {name} is {count:,}; "
                    f"expected at most {MOST_PARAMETERS:,}, because no matrix may contain more numbers"
                )

    @property
    def key_size(self) -> int:
        """The width d_k of one head's queries and keys."""
        return self.d_k or self.d_model // self.num_heads

    @property
    def value_size(self) -> int:
        """The width d_v of one head's values."""
        return self.d_v or self.d_model // self.num_heads

    @classmethod
    def tiny(
        cls, source_vocab_size: int, target_vocab_size: int, **changes: Any
    ) -> "TransformerConfig":
        """Return the configuration of a model that learns the bilingual world quickly.

        Training takes 90 seconds on two CPU cores.
        """
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
        """Return the configuration of a model for about ten thousand real sentences.

        Training takes 20 minutes on two CPU cores. Unlike in the paper, layer normalisation comes
        before each sub-layer. In such a short run, this decides whether the model learns to
        translate at all.
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
        """Return the paper's base configuration (Table 3, first row; vocabulary of §5.1)."""
        return cls._preset(source_vocab_size, target_vocab_size, {}, changes)

    @classmethod
    def big(
        cls, source_vocab_size: int = 37_000, target_vocab_size: int = 37_000, **changes: Any
    ) -> "TransformerConfig":
        """Return the paper's big configuration (Table 3, last row)."""
        sizes = {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3}
        return cls._preset(source_vocab_size, target_vocab_size, sizes, changes)

    @classmethod
    def _preset(
        cls, source: int, target: int, sizes: dict[str, Any], changes: dict
    ) -> "TransformerConfig":
        # With one vocabulary for both languages, all embeddings are tied, as in the paper. Two
        # vocabularies of different sizes cannot share a matrix, so only the output is tied.
        fitting = {"tie_source_target": source == target}
        values = {**fitting, **sizes, **changes}
        return cls(source_vocab_size=source, target_vocab_size=target, **values)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "TransformerConfig":
        """Build a configuration from the result of `to_dict`.

        Raises:
            ValueError: If a field is unknown or missing, or its value is not allowed.
        """
        return config_from_dict(cls, values)
