"""Debian's French: the BLEU that an ordinary `nn.Transformer` loop reaches in some minutes."""

import random
import time
from collections.abc import Sequence

import torch

from benchmarks.corpus import fixed_batches, real_tokens
from benchmarks.machine import describe_run
from benchmarks.peers import Size, TutorialTransformer
from benchmarks.report import table
from benchmarks.training import SENTENCES, Ordinary
from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import EOS_ID, buckets, collate, encode_pairs
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import SentencePair
from transformer_lab.data.tokenizer import Tokenizer
from transformer_lab.evaluation.bleu import Scores, score
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common import store
from transformer_lab.training.schedule import inverse_sqrt_rate

SMALL = PRESETS["small"]
LONGEST = 128
"""The most new tokens; a longer translation is cut there."""


def train_ordinary_loop(minutes: float) -> tuple[int, int, Scores]:
    """Train `nn.Transformer` as tutorials do; return steps, real tokens, and test scores.

    It trains with plain Adam in float32 on shuffled, padded batches of `SENTENCES` sentences. The
    sizes, the highest rate and the warm-up are those of the preset small; then the rate falls as
    1/√step. The norm comes after the sub-layer, the module's default. Decoding is greedy.
    """
    corpus = find_corpus("debian:fr")
    splits = corpus.splits()
    tokenizer, _ = corpus.tokenizers(splits.train, SMALL.vocab_size)
    config: TransformerConfig = SMALL.model(tokenizer.vocab_size, tokenizer.vocab_size)
    size = Size(
        config.d_model,
        config.num_encoder_layers,
        config.num_heads,
        config.d_ff,
        tokenizer.vocab_size,
        dropout=config.dropout,
    )
    torch.manual_seed(0)
    model = TutorialTransformer(size)
    loop = Ordinary(model, TutorialTransformer.__call__, "fp32", fused=False)
    examples = encode_pairs(splits.train, tokenizer, tokenizer)
    examples = [e for e in examples if e.length <= config.max_length]
    shuffler = random.Random(0)
    steps, tokens, start = 0, 0, time.perf_counter()
    while True:
        shuffler.shuffle(examples)
        for group in fixed_batches(examples, SENTENCES):
            if time.perf_counter() - start >= 60 * minutes:
                return steps, tokens, score_greedy(model, splits.test, tokenizer)
            steps += 1
            tokens += real_tokens(group)
            peak = SMALL.training.peak_rate or 2e-3
            rate = inverse_sqrt_rate(steps, peak, SMALL.training.warmup_steps)
            loop.step(collate(group), rate)


def score_greedy(
    model: TutorialTransformer, pairs: Sequence[SentencePair], tokenizer: Tokenizer
) -> Scores:
    """Return the scores of the model's greedy translations."""
    model.eval()
    examples = encode_pairs(pairs, tokenizer, tokenizer)
    texts = {}
    number = {id(example): n for n, example in enumerate(examples)}
    for group in buckets(examples, 4_096):
        found = model.greedy(collate(group).source, LONGEST).tolist()
        for example, ids in zip(group, found, strict=True):
            words = ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids
            texts[number[id(example)]] = tokenizer.decode(words)
    return score([texts[n] for n in range(len(pairs))], [pair.target for pair in pairs])


def section(minutes: float = 20.0) -> str:
    """Run the ordinary loop, and return its scores beside those of our stored run."""
    steps, tokens, scores = train_ordinary_loop(minutes)
    ours = store.load("debian_french")
    rows = [
        (
            "`nn.Transformer`, ordinary loop, greedy",
            f"{minutes:.0f}",
            f"{steps:,}",
            f"{scores.bleu:.1f}",
            f"{scores.chrf:.1f}",
        ),
        (
            "ours (stored, see lesson 09), beam 4",
            f"{ours['minutes']:.0f}",
            f"{ours['steps']:,}",
            f"{ours['bleu']:.1f}",
            f"{ours['chrf']:.1f}",
        ),
    ]
    about = (
        f"Sizes of the preset small, one vocabulary of {SMALL.vocab_size:,} pieces. The ordinary "
        f"loop saw {tokens:,} real tokens; its rate falls as 1/√step, ours straight to 0. The "
        f"scores are of {ours['sentences']} sentences of package families that training lacks: "
        f"{scores.bleu_signature}. {describe_run(1)}\n"
    )
    return "\n".join([about, table(["", "minutes", "steps", "BLEU", "chrF"], rows)])
