"""The models and corpora of lesson 16's study: one or two stacks, the world or Debian's pairs.

The study `one_stack` and its measures of cost and quality use them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_lab.data.batching import Batches, Example, encode_pairs
from transformer_lab.data.corpora import debian
from transformer_lab.data.corpus import Tokenizers, find_corpus, train_shared_bpe
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.model.later.family import GPT
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.short_french import PIECES, is_short
from transformer_lab.studies.one_stack_or_two.one_stack_translator import (
    OneStack,
    PrefixGPT,
    StackTranslator,
    TwoStacks,
)

LAYERS = 5
"""The number of layers that gives one stack as many parameters as two layers per side.

It is more than four, because a decoder layer is larger than an encoder layer.
"""
KINDS: dict[str, Callable[..., StackTranslator]] = {
    "two stacks": TwoStacks,
    "one stack": partial(OneStack, GPT, LAYERS),
    "one stack, source both ways": partial(OneStack, PrefixGPT, LAYERS),
}
RECIPE = PRESETS["tiny"].training
WORLD, DEBIAN = "world", "debian:fr, short"


@lru_cache(maxsize=1)
def load_corpus(corpus: str, seed: int) -> tuple[Splits[Any], Tokenizers]:
    """Return a corpus's splits and its tokenizers.

    Debian's splits do not depend on the seed, and each package is in only one of them. The last
    result is cached, because successive runs often have the same corpus and seed.
    """
    if corpus == WORLD:
        known = find_corpus(corpus)
        splits = known.splits(seed)
        return splits, known.tokenizers(splits.train, PRESETS["tiny"].vocab_size)
    whole = debian("fr")
    train, validation, test = (
        [pair for pair in part if is_short(pair)]
        for part in (whole.train, whole.validation, whole.test)
    )
    splits = Splits(train, validation, test)
    return splits, train_shared_bpe(splits.train, PIECES)


def make_translator(kind: str, tokenizers: Tokenizers, seed: int) -> StackTranslator:
    """Return an untrained translator of one of `KINDS`."""
    torch.manual_seed(seed)
    return KINDS[kind](*(t.vocab_size for t in tokenizers), norm="pre", dropout=0.0)


def iterate_batches(
    pairs: Sequence[SentencePair], tokenizers: Tokenizers, seed: int
) -> Iterator[list[Example]]:
    """Yield batches of examples endlessly, epoch after epoch."""
    source = Batches(encode_pairs(pairs, *tokenizers), RECIPE.batch_tokens, seed)
    for number in count():
        yield from source.epoch(number)


def translation_loss(translator: StackTranslator, examples: Sequence[Example]) -> Tensor:
    """Return the mean cross-entropy over these examples' target words, in nats."""
    return F.cross_entropy(*translator.logits(examples))
