"""Debian's short English–French sentence pairs, and a small translator trained on them.

The training takes a few minutes on one core. The studies for lessons 09, 10 and 16 use this module.
"""

from collections.abc import Sequence

import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.tokenizer import Tokenizer
from transformer_lab.model import Transformer
from transformer_lab.runs.building import make_trainer
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.grid import make_study_config
from transformer_lab.translator import Translator

LONGEST = 100
"""The maximum number of characters on either side of a short pair."""
PIECES, BATCH = 2_000, 512
"""The number of subwords in the vocabulary, and the number of tokens in a batch."""


def is_short(pair: Pair) -> bool:
    """Return whether both sides of a pair have at most `LONGEST` characters."""
    return max(len(pair.source), len(pair.target)) <= LONGEST


def train_short_french(
    pairs: Sequence[Pair], tokenizer: Tokenizer, steps: int, seed: int
) -> Translator:
    """Train a small pre-norm translator on these pairs for `steps` steps, and return it.

    It has the sizes of `TransformerConfig.tiny`.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        sizes = tokenizer.vocab_size, tokenizer.vocab_size
        model = Transformer(TransformerConfig.tiny(*sizes, norm="pre"))
    translator = Translator(model, tokenizer, tokenizer)
    recipe = make_study_config(
        PRESETS["small"].training,
        steps,
        seed,
        batch_tokens=BATCH,
        peak_rate=3e-3,
        warmup_steps=min(400, steps // 3),
        decay="linear",
        weight_decay=0.0,
        average_decay=0.99,
        precision="fp32",
    )
    make_trainer(translator, Splits(pairs, [], []), recipe, show_progress=False).train()
    return translator
