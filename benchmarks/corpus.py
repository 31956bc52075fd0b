"""The sentences that every candidate trains on, and how each puts them into batches."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from transformer_lab.data import corpora
from transformer_lab.data.batching import Example, buckets, encode_pairs
from transformer_lab.data.pair import SentencePair
from transformer_lab.data.tokenizer import BPETokenizer
from transformer_lab.data.world import grammar

LONGEST = 64
"""The most tokens on a side; longer sentences are left out for all candidates."""


@dataclass(frozen=True)
class Corpus:
    """Pairs of sentences, and a name for them in the report."""

    name: str
    train: list[SentencePair]
    validation: list[SentencePair]


def open_corpus() -> Corpus:
    """Return Debian's French or, if it is not available, the bilingual world."""
    try:
        splits = corpora.debian("fr")
        name = "Debian's package descriptions, English to French"
        return Corpus(name, list(splits.train), list(splits.validation))
    except (corpora.CorpusUnavailable, ValueError) as reason:
        world = grammar.world(train=40_000, seed=0)
        name = f"the bilingual world, because Debian's French is not available ({reason})"
        return Corpus(name, list(world.train), list(world.validation))


def encode_corpus(corpus: Corpus, vocab_size: int) -> tuple[list[Example], list[Example]]:
    """Return training examples in random order and validation examples, with a shared vocabulary."""
    pairs = corpus.train[:20_000]
    texts = [*(p.source for p in pairs), *(p.target for p in pairs)]
    tokenizer = BPETokenizer.train(texts, vocab_size)
    train = encode_pairs(corpus.train[:20_000], tokenizer, tokenizer)
    validation = encode_pairs(corpus.validation[:256], tokenizer, tokenizer)
    random.Random(0).shuffle(train)
    fits = [e for e in train if e.length <= LONGEST]
    return fits, [e for e in validation if e.length <= LONGEST]


def real_tokens(examples: Sequence[Example]) -> int:
    """Count the source tokens and the predicted target tokens, without padding."""
    return sum(len(e.source) + len(e.target) - 1 for e in examples)


def fixed_batches(examples: Sequence[Example], sentences: int) -> list[list[Example]]:
    """Return an ordinary loop's batches: this many sentences each, in the order they come."""
    return [list(examples[at : at + sentences]) for at in range(0, len(examples), sentences)]


def find_token_budget(examples: Sequence[Example], steps: int) -> int:
    """Return the token budget at which these examples fill about this many buckets.

    With it, both ways take equally many steps of Adam, with equally many real tokens on average.
    """
    budgets = range(LONGEST, 16_384, 64)
    return min(budgets, key=lambda b: abs(len(buckets(examples, b, seed=0)) - steps))
