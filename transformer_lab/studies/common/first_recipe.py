"""The training settings of the first stored studies.

`train` now uses better ones (see `runs.presets.PRESETS`). A study that was measured with these
settings keeps them, so each stored number can be reproduced.
"""

from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.runs.presets import Preset

FIRST = Preset(
    TransformerConfig.tiny,
    TrainingConfig(
        max_steps=3_200,
        batch_tokens=320,
        peak_rate=2e-3,
        warmup_steps=200,
        decay="linear",
        label_smoothing=0.1,
        validate_every=1_000,
        save_every=1_000,
        average_decay=0.995,
        precision="fp32",
    ),
    vocab_size=4_000,
)
