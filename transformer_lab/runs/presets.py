"""Presets: model sizes from tiny to big, each with a training configuration.

Runs, studies and benchmarks start from them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from transformer_lab.config import TrainingConfig, TransformerConfig


@dataclass(frozen=True)
class Preset:
    """A model size and its training configuration.

    `vocab_size` is used only for corpora with subword tokenizers.
    """

    model: Callable[..., TransformerConfig]
    training: TrainingConfig
    vocab_size: int = 8_000


PAPER = TrainingConfig(
    max_steps=100_000,
    batch_tokens=25_000,
    peak_rate=None,
    warmup_steps=4_000,
    validate_every=1_000,
    save_every=1_000,
)
"""The training configuration of the paper's base model (§5).

The intervals for validating and saving are our choice.
"""
PRESETS = {
    "tiny": Preset(
        TransformerConfig.tiny,
        TrainingConfig(
            max_steps=2_500,
            batch_tokens=640,
            peak_rate=3e-3,
            warmup_steps=100,
            decay="linear",
            # Lesson 09's evidence shows the runs: without decay a rule may be half learnt, and with
            # smoothing the pronoun is learnt late, or not at all.
            weight_decay=0.3,
            beta2=0.95,
            label_smoothing=0.0,
            validate_every=500,
            save_every=500,
            average_decay=0.99,
            precision="fp32",  # its matrices are too small to gain from bfloat16
        ),
        vocab_size=4_000,
    ),
    "small": Preset(
        TransformerConfig.small,
        TrainingConfig(
            max_steps=6_000,  # about twenty minutes on two cores
            batch_tokens=1_024,
            peak_rate=3e-3,
            warmup_steps=400,
            decay="linear",
            weight_decay=0.1,
            validate_every=1_000,
            save_every=1_000,
            average_decay=0.998,
        ),
    ),
    "base": Preset(TransformerConfig.base, PAPER, vocab_size=37_000),
    "big": Preset(
        TransformerConfig.big,
        replace(PAPER, max_steps=300_000, shard_optimizer=True),
        vocab_size=37_000,
    ),
}
