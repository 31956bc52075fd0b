"""From the name of a corpus to a trained translator: what `train` and `evaluate` run."""

import hashlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import TrainingConfig, TransformerConfig, check
from transformer_lab.data import corpora, grammar
from transformer_lab.data.batching import Example, buckets, collate, encode_pairs
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.tokenizer import BPETokenizer, Tokenizer, WordTokenizer
from transformer_lab.device import pick_dtype
from transformer_lab.evaluation.bleu import exact_match, exact_match_by, score
from transformer_lab.model import Transformer
from transformer_lab.training.trainer import StepReport, Trainer, token_loss
from transformer_lab.translator import Translator

STATE = "training_state.safetensors"

WORLD_PAIRS = 60_000
"""Training pairs of the bilingual world. More different ones beat the same ones again: they cost
nothing but the seconds to write them, and rules are learnt instead of sentences."""


@dataclass(frozen=True)
class Preset:
    """A size of model and how to train it; `vocab_size` is for corpora with word pieces."""

    model: Callable[..., TransformerConfig]
    training: TrainingConfig
    vocab_size: int = 8_000


PRESETS = {
    "tiny": Preset(
        TransformerConfig.tiny,
        TrainingConfig(
            max_steps=4_000,
            batch_tokens=320,
            peak_rate=2e-3,
            warmup_steps=200,
            decay="linear",
            validate_every=1_000,
            save_every=1_000,
            average_decay=0.995,
            precision="fp32",  # its matrices are too small to gain from bfloat16
        ),
        vocab_size=4_000,
    ),
    "small": Preset(
        TransformerConfig.small,
        TrainingConfig(
            max_steps=20_000,
            batch_tokens=1_024,
            peak_rate=2e-3,
            warmup_steps=400,
            validate_every=1_000,
            save_every=1_000,
            average_decay=0.998,
        ),
    ),
    "base": Preset(
        TransformerConfig.base,
        TrainingConfig(
            max_steps=100_000,
            batch_tokens=25_000,
            peak_rate=None,
            warmup_steps=4_000,
            validate_every=1_000,
            save_every=1_000,
        ),
        vocab_size=37_000,
    ),
}


def open_corpus(name: str, seed: int = 0, skip_bad: bool = False) -> Splits[Any]:
    """The splits of "world", "debian:LANGUAGE" or a TSV file.

    With `skip_bad` the bad lines of a file are left out and their number is
    said on standard error.

    Raises:
        ValueError: For a name that is none of these, or a file with bad lines.
        CorpusUnavailable: Where apt or the network is missing.
    """
    kind, _, language = name.partition(":")
    if name == "world":
        return grammar.world(train=WORLD_PAIRS, seed=seed)
    if kind == "debian" and language:
        return corpora.debian(language, seed=seed)
    exists = Path(name).is_file()
    check("corpus", name, "'world', 'debian:LANGUAGE' or a TSV file that exists", exists)
    read = corpora.read_tsv(name, skip_bad=skip_bad)
    if read.left_out:
        print(f"{name}: {read.left_out} bad lines left out", file=sys.stderr)
    return split_pairs(read.pairs, seed=seed)


def data_fingerprint(pairs: Sequence[SentencePair]) -> str:
    """A short name for exactly these pairs, so that a run is not resumed on others."""
    texts = (f"{pair.source}\t{pair.target}\n".encode() for pair in pairs)
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def make_tokenizers(
    pairs: Sequence[SentencePair], corpus: str, vocab_size: int
) -> tuple[Tokenizer, Tokenizer]:
    """Tokenizers learnt from the training pairs alone.

    The bilingual world has few words: each language gets its own. Real text
    gets one vocabulary of pieces for both, as in the paper (§5.1).
    """
    sources, targets = [p.source for p in pairs], [p.target for p in pairs]
    if corpus == "world":
        return WordTokenizer.train(sources), WordTokenizer.train(targets)
    shared = BPETokenizer.train([*sources, *targets], vocab_size)
    return shared, shared


def new_translator(
    splits: Splits[Any], corpus: str, preset: Preset, seed: int = 0, **changes: Any
) -> Translator:
    """An untrained translator for a corpus; `changes` are fields of the model's configuration."""
    tokenizers = make_tokenizers(splits.train, corpus, preset.vocab_size)
    if corpus == "world":
        # Nearly every sentence of a run is new: there is no learning by heart to prevent.
        changes = {"dropout": 0.0} | changes
    config = preset.model(*(t.vocab_size for t in tokenizers), **changes)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Transformer(config)
    return Translator(model, *tokenizers, about={"corpus": corpus, "seed": seed})


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
    """A trainer for a translator; exact match is measured on so many validation sentences."""
    watched = splits.validation[:watch_exact_match]

    def measure(model: Transformer) -> dict[str, float]:
        hypotheses = translator.translate([p.source for p in watched], beam_size=1)
        texts = [h.translation for h in hypotheses]
        return {"exact_match": exact_match(texts, [p.target for p in watched])}

    return Trainer(
        translator.model,
        encode_fitting(translator, splits.train),
        encode_fitting(translator, splits.validation),
        training,
        measure=measure if watched else None,
        on_step=on_step,
        state_path=state_path,
        show_progress=show_progress,
    )


def encode_fitting(translator: Translator, pairs: Sequence[SentencePair]) -> list[Example]:
    """The pairs as ids, without those that are longer than the model reads."""
    tokenizers = translator.source_tokenizer, translator.target_tokenizer
    limit = translator.model.config.max_length
    return [e for e in encode_pairs(pairs, *tokenizers) if e.length <= limit]


def validation_loss(translator: Translator, pairs: Sequence[SentencePair]) -> float:
    """The mean cross-entropy of a saved translator on these pairs, in nats per token."""
    groups = buckets(encode_fitting(translator, pairs), TrainingConfig().batch_tokens)
    dtype = pick_dtype("auto", translator.device)
    return token_loss(translator.model, [collate(group) for group in groups], dtype)


@dataclass(frozen=True)
class Evaluation:
    """What a translator scores on pairs it has never seen; shares from 0 to 1, BLEU and chrF to 100."""

    sentences: int
    exact_match: float
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    by_construction: dict[str, float] = field(default_factory=dict)


def evaluate(
    translator: Translator, pairs: Sequence[SentencePair], *, beam_size: int = 4
) -> Evaluation:
    """Translate the sources and compare with the targets."""
    hypotheses = translator.translate([p.source for p in pairs], beam_size=beam_size)
    texts, references = [h.translation for h in hypotheses], [p.target for p in pairs]
    scores = score(texts, references)
    groups = [getattr(p, "construction", "") for p in pairs]
    by = exact_match_by(groups, texts, references) if all(groups) else {}
    share = exact_match(texts, references)
    return Evaluation(len(pairs), share, **asdict(scores), by_construction=by)
