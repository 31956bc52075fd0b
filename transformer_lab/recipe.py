"""Sizes of models and how each is trained; a translator to train, its trainer, and its scores."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TrainingConfig, TransformerConfig, check
from transformer_lab.data.batching import (
    BOS_ID,
    EOS_ID,
    LONGEST_WORD,
    PAD_ID,
    Example,
    buckets,
    encode_pairs,
    is_too_long,
    longest_word,
)
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.data.stored import StoredPairs, store_examples
from transformer_lab.data.world import grammar
from transformer_lab.decoding import log_probabilities
from transformer_lab.evaluation.bleu import exact_match, exact_match_by, score
from transformer_lab.evaluation.pronouns import pronoun_accuracy
from transformer_lab.model import Transformer
from transformer_lab.training.trainer import StepReport, Trainer
from transformer_lab.translator import Translator


@dataclass(frozen=True)
class Preset:
    """A size of model and how to train it; `vocab_size` is for corpora with word pieces."""

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
"""How the paper trains its base model (§5), but for when it looks and saves."""
PRESETS = {
    "tiny": Preset(
        TransformerConfig.tiny,
        TrainingConfig(
            max_steps=2_500,
            batch_tokens=640,
            peak_rate=3e-3,
            warmup_steps=100,
            decay="linear",
            # Lesson 09 has the runs: without decay a rule may be half learnt, and with smoothing
            # the pronoun is learnt late, or not at all.
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
            max_steps=6_000,  # about twenty minutes of two cores
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


def new_translator(
    splits: Splits[Any], corpus: str, preset: Preset, seed: int = 0, **changes: Any
) -> Translator:
    """An untrained translator for a corpus; `changes` are fields of the model's configuration.

    Pairs that training leaves out for their length are not asked for their words either.
    """
    known = find_corpus(corpus)
    changes = {**known.changes, **changes}
    longest = preset.model(preset.vocab_size, preset.vocab_size, **changes).max_length
    fitting = splits.train
    if not isinstance(fitting, StoredPairs):
        fitting = [pair for pair in fitting if not is_too_long(pair, longest)]
        expected = (
            f"one without a word of more than {LONGEST_WORD} letters, and of at most {longest}"
        )
        check("training pairs", "all too long", f"{expected} tokens", bool(fitting))
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
    """A trainer for a translator; exact match is measured on so many validation sentences.

    Pairs too long for the model or for a batch are left out; how many is said on standard error.
    A ValueError for a model whose special ids are not the package's own: in its tokenizers the others
    are words, which would be left out as padding.
    """
    config = translator.model.config
    special, own = (config.pad_id, config.bos_id, config.eos_id), (PAD_ID, BOS_ID, EOS_ID)
    check("(pad_id, bos_id, eos_id)", special, f"{own} to be trained", special == own)
    watched = splits.validation[:watch_exact_match]
    longest = min(config.max_length, training.batch_tokens)

    def measure(model: Transformer) -> dict[str, float]:
        hypotheses = translator.translate([p.source for p in watched], beam_size=1)
        texts = [h.translation for h in hypotheses]
        return {"exact_match": exact_match(texts, [p.target for p in watched])}

    return Trainer(
        translator.model,
        encode_fitting(translator, splits.train, longest),
        encode_fitting(translator, splits.validation, longest),
        training,
        measure=measure if watched else None,
        on_step=on_step,
        state_path=state_path,
        show_progress=show_progress,
    )


def encode_fitting(
    translator: Translator, pairs: Sequence[SentencePair], longest: int
) -> Sequence[Example]:
    """The pairs as the model's ids, without those of more than `longest` tokens on a side."""
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
            most += f", or of a word of more than {LONGEST_WORD} letters,"
    if left_out := len(pairs) - len(fitting):
        print(f"{left_out} pairs of more than {most} are left out", file=sys.stderr)
    return fitting


def validation_loss(translator: Translator, pairs: Sequence[SentencePair]) -> float:
    """The mean cross-entropy of a translator on these pairs, in nats per token; NaN of none."""
    examples = encode_fitting(translator, pairs, translator.model.config.max_length)
    groups = buckets(examples, TrainingConfig().batch_tokens)
    model = translator.model.eval()
    total = sum(sum(log_probabilities(model, group)) for group in groups)
    tokens = sum(len(example.target) - 1 for example in examples)
    return (0.0 - total) / tokens if tokens else math.nan  # 0.0 of a perfect model, never −0.0


@dataclass(frozen=True)
class Evaluation:
    """What a translator scores on pairs it has never seen; shares from 0 to 1, BLEU and chrF to 100.

    `pronouns` is the share of right pronouns, where the corpus knows what they stand for.
    """

    sentences: int
    exact_match: float
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    pronouns: float | None = None
    by_construction: dict[str, float] = field(default_factory=dict)


def evaluate(
    translator: Translator, pairs: Sequence[SentencePair], *, beam_size: int = 4
) -> Evaluation:
    """Translate the sources and compare with the targets.

    A source that the translator refuses, as it is too long, counts as translated by nothing; how
    many there are is said on standard error.
    """
    references = [p.target for p in pairs]
    texts = [""] * len(pairs)
    refused = translator.refused([pair.source for pair in pairs])
    readable = [i for i in range(len(pairs)) if i not in refused]
    if refused:
        print(f"{len(refused)} test sentences cannot be read and count as wrong", file=sys.stderr)
    hypotheses = translator.translate([pairs[i].source for i in readable], beam_size=beam_size)
    for i, hypothesis in zip(readable, hypotheses, strict=True):
        texts[i] = hypothesis.translation
    scores = score(texts, references)
    share = exact_match(texts, references)
    evaluation = Evaluation(len(pairs), share, **asdict(scores))
    world = [p for p in pairs if isinstance(p, grammar.WorldPair)]
    if len(world) < len(pairs):
        return evaluation
    tokenizer = translator.target_tokenizer
    tokens = [tokenizer.tokens(tokenizer.encode(text)) for text in texts]
    asked = any(pair.coreference for pair in world)
    return replace(
        evaluation,
        pronouns=pronoun_accuracy(tokens, world) if asked else None,
        by_construction=exact_match_by([p.construction for p in world], texts, references),
    )
