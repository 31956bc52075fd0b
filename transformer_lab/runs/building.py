"""Build what a run needs: an untrained translator for a corpus, and its trainer.

Runs, studies and lesson 09 use this module.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TrainingConfig, join_with_and
from transformer_lab.data.batching import (
    BOS_ID,
    EOS_ID,
    LONGEST_WORD,
    PAD_ID,
    Example,
    encode_pairs,
    is_too_long,
    longest_word,
)
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.data.stored import StoredPairs, store_examples
from transformer_lab.evaluation.bleu import exact_match
from transformer_lab.model import Transformer
from transformer_lab.runs.presets import Preset
from transformer_lab.training import distributed
from transformer_lab.training.distributed_trainer import DistributedTrainer
from transformer_lab.training.trainer import StepReport, Trainer
from transformer_lab.translator import Translator


def build_translator(
    splits: Splits[Any], corpus: str, preset: Preset, seed: int = 0, **changes: Any
) -> Translator:
    """Build an untrained translator for a corpus: its tokenizers, and a model with random weights.

    The vocabularies are learnt from the training pairs that are not too long to train on.

    Args:
        splits: The splits of the corpus.
        corpus: The name of the corpus, as in `begin_run`.
        preset: The model size.
        seed: The seed for the random weights.
        **changes: Fields of the model's configuration to override.

    Raises:
        ValueError: If all training pairs are too long, or a change is not allowed.
    """
    known = find_corpus(corpus)
    changes = {**known.changes, **changes}
    longest = preset.model(preset.vocab_size, preset.vocab_size, **changes).max_length
    fitting = splits.train
    if not isinstance(fitting, StoredPairs):
        fitting = [pair for pair in fitting if not is_too_long(pair, longest)]
        if not fitting:
            raise ValueError(
                "all training pairs are too long; expected at least one with up to "
                f"{longest:,} tokens on each side and no word over {LONGEST_WORD:,} letters"
            )
    tokenizers = known.tokenizers(fitting, preset.vocab_size)
    config = preset.model(*(t.vocab_size for t in tokenizers), **changes)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(config)
    return Translator(model, *tokenizers, about={"corpus": known.name, "seed": seed})


def make_trainer(
    translator: Translator,
    splits: Splits[Any],
    training: TrainingConfig,
    *,
    state_path: Path | None = None,
    on_step: Callable[[StepReport], None] | None = None,
    show_progress: bool = True,
    watch_exact_match: int = 0,
) -> Trainer:
    """Build a trainer for a translator's model, for one process or several in a `process_group`.

    Pairs that are too long for the model or for a batch are left out, and the number of such pairs
    is printed on standard error.

    Args:
        translator: The translator; its model is trained in place.
        splits: Training and validation pairs.
        training: The configuration of the training run.
        state_path: The file for saving and resuming the state; with None, nothing is saved.
        on_step: A function that is called after each step.
        show_progress: Whether to show a progress bar.
        watch_exact_match: The number of validation sentences to translate at each validation, to
            measure exact match.

    Raises:
        ValueError: If the model's special ids differ from the package's. In such a model, a word
            may have the package's padding id, and training would treat that word as padding.
    """
    config = translator.model.config
    special, own = (config.pad_id, config.bos_id, config.eos_id), (PAD_ID, BOS_ID, EOS_ID)
    if special != own:
        found, expected = (join_with_and(map(str, ids)) for ids in (special, own))
        raise ValueError(
            f"the model's pad_id, bos_id and eos_id are {found}; expected {expected}, which "
            "training uses"
        )
    measured = splits.validation[:watch_exact_match]
    longest = min(config.max_length, training.batch_tokens)

    def measure(model: Transformer) -> dict[str, float]:
        hypotheses = translator.translate([p.source for p in measured], beam_size=1)
        texts = [h.translation for h in hypotheses]
        return {"exact_match": exact_match(texts, [p.target for p in measured])}

    kind = DistributedTrainer if distributed.world_size() > 1 else Trainer
    return kind(
        translator.model,
        encode_fitting(translator, splits.train, longest),
        encode_fitting(translator, splits.validation, longest),
        training,
        measure=measure if measured else None,
        on_step=on_step,
        state_path=state_path,
        show_progress=show_progress,
    )


def encode_fitting(
    translator: Translator, pairs: Sequence[SentencePair], longest: int
) -> Sequence[Example]:
    """Encode the pairs as ids, leaving out those with more than `longest` tokens on a side.

    The number of pairs left out is printed on standard error.
    """
    config, tokenizers = translator.model.config, translator.tokenizers
    special = config.bos_id, config.eos_id
    most = f"{longest} tokens"
    fitting: Sequence[Example]
    if isinstance(pairs, StoredPairs):
        fitting = store_examples(pairs, tokenizers, longest, *special)
    else:
        short = [pair for pair in pairs if not is_too_long(pair, longest)]
        fitting = [e for e in encode_pairs(short, *tokenizers, *special) if e.length <= longest]
        if any(longest_word(p.source + " " + p.target) > LONGEST_WORD for p in pairs):
            most += f", or with a word of more than {LONGEST_WORD} letters,"
    if left_out := len(pairs) - len(fitting):
        one, is_left = ("pair", "is") if left_out == 1 else ("pairs", "are")
        print(f"{left_out:,} {one} with more than {most} {is_left} left out", file=sys.stderr)
    return fitting
