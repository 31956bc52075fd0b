"""Build training batches: encode sentence pairs, group them by length, and pad them (§5.1).

The trainer, the evaluation and the lessons use this module. A batch has a token budget instead of a
fixed number of sentences. Its sentences have similar lengths, so it contains little padding.
"""

import random
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lab.data.pair import SentencePair
from transformer_lab.data.tokenizer import BPETokenizer, Tokenizer

PAD_ID, BOS_ID, EOS_ID = 0, 1, 2
LONGEST_WORD = 1_000
"""The maximum length of a word, in characters.

The time to split a word into subwords grows with the square of its length, and the tokenizer cannot
be interrupted.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence pair as token ids.

    The source ends with eos; the target starts with bos and ends with eos.
    """

    source: list[int]
    target: list[int]

    @property
    def length(self) -> int:
        """The number of tokens on the longer side, which counts towards the batch's budget."""
        return max(len(self.source), len(self.target))


@runtime_checkable
class HasLengths(Protocol):
    """The interface that `buckets` expects from an example: the lengths of its two sides."""

    @property
    def source(self) -> Sized:
        """An object whose `len` is the number of source tokens."""

    @property
    def target(self) -> Sized:
        """An object whose `len` is the number of target tokens."""

    @property
    def length(self) -> int:
        """The number of tokens on the longer side."""


AnyExample = TypeVar("AnyExample", bound=HasLengths)


@dataclass(frozen=True, slots=True)
class Batch:
    """Several sentence pairs as token ids of shape (batch, length), padded on the right."""

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]

    @property
    def target_input(self) -> Int[Tensor, "batch steps"]:
        """The decoder's input (batch, steps): the target without its last token."""
        return self.target[:, :-1]

    @property
    def target_output(self) -> Int[Tensor, "batch steps"]:
        """The tokens to predict (batch, steps): the target without bos.

        They are one step ahead of the input.
        """
        return self.target[:, 1:]

    def to(self, device: torch.device) -> "Batch":
        """Return a copy of the batch on another device, without waiting for the copy to finish."""
        return Batch(
            self.source.to(device, non_blocking=True), self.target.to(device, non_blocking=True)
        )


def longest_word(text: str) -> int:
    """Return the length of the longest word in characters; words are separated by whitespace."""
    return max(map(len, text.split()), default=0)


def is_too_long(pair: SentencePair, most_tokens: int) -> bool:
    """Return whether a side is bound to exceed `most_tokens` tokens, or has an overlong word.

    Words are counted instead of tokens, because each word becomes at least one token. A word is
    overlong if it has more than `LONGEST_WORD` characters.
    """
    sides = (pair.source, pair.target)
    return any(len(s.split()) > most_tokens or longest_word(s) > LONGEST_WORD for s in sides)


def encode_source(text: str, tokenizer: Tokenizer, eos_id: int = EOS_ID) -> list[int]:
    """Return the token ids of a source sentence, with eos at the end."""
    return [*tokenizer.encode(text), eos_id]


def encode_pairs(
    pairs: Sequence[SentencePair],
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    bos_id: int = BOS_ID,
    eos_id: int = EOS_ID,
) -> list[Example]:
    """Encode sentence pairs as token ids, in order.

    By default, bos and eos have this package's ids; models from elsewhere may use different ids.
    """
    sources = encode_texts([pair.source for pair in pairs], source_tokenizer)
    targets = encode_texts([pair.target for pair in pairs], target_tokenizer)
    return [
        Example([*source, eos_id], [bos_id, *target, eos_id])
        for source, target in zip(sources, targets, strict=True)
    ]


def encode_texts(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
    """Return the token ids of each string; a BPE tokenizer uses all cores."""
    if isinstance(tokenizer, BPETokenizer):
        return tokenizer.encode_batch(texts)
    return [tokenizer.encode(text) for text in texts]


def pad(sequences: Sequence[Sequence[int]], pad_id: int = PAD_ID) -> Int[Tensor, "batch length"]:
    """Return sequences of ids as one tensor (batch, length), padded with `pad_id` on the right."""
    length = max(map(len, sequences), default=0)
    rows = [[*sequence, *[pad_id] * (length - len(sequence))] for sequence in sequences]
    return torch.tensor(rows, dtype=torch.int64).reshape(len(rows), length)


def collate(examples: Sequence[Example], pad_id: int = PAD_ID) -> Batch:
    """Combine examples into one batch, padded with the `pad_id` of the model that will read it."""
    return Batch(
        pad([e.source for e in examples], pad_id), pad([e.target for e in examples], pad_id)
    )


def buckets(
    examples: Sequence[AnyExample], batch_tokens: int, seed: int | None = None
) -> list[list[AnyExample]]:
    """Group examples of similar lengths so that no group exceeds `batch_tokens` after padding.

    With a seed, examples of equal length are shuffled before they are grouped, and then the groups
    are shuffled. Without a seed, examples and groups are sorted by length.

    Raises:
        ValueError: If a single example is longer than the whole budget.
    """
    longest = max((e.length for e in examples), default=0)
    if longest > batch_tokens:
        raise ValueError(
            f"batch_tokens is {batch_tokens}; expected at least {longest}, for the longest sentence"
        )
    order = list(examples)
    shuffler = random.Random(seed)
    if seed is not None:
        shuffler.shuffle(order)
    order.sort(key=lambda e: (e.length, len(e.target), len(e.source)))
    groups: list[list[AnyExample]] = []
    for example in order:
        # Sorted by length: this example is the longest of its group so far.
        if not groups or (len(groups[-1]) + 1) * example.length > batch_tokens:
            groups.append([])
        groups[-1].append(example)
    if seed is not None:
        shuffler.shuffle(groups)
    return groups


class Batches:
    """Training batches that are reshuffled for each epoch; the same seed gives the same batches.

    Raises:
        ValueError: If there are no examples.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        batch_tokens: int,
        seed: int = 0,
        pad_id: int = PAD_ID,
    ):
        if not examples:
            raise ValueError("`examples` is empty; expected at least one sentence pair")
        self.examples = examples
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.pad_id = pad_id

    def epoch(self, number: int) -> list[list[Example]]:
        """Return the groups of examples for one epoch; every epoch is shuffled differently."""
        return buckets(self.examples, self.batch_tokens, seed=1_000_003 * self.seed + number)

    def iterate_from(self, epoch: int, index: int) -> Iterator[tuple[int, int, Batch]]:
        """Yield (epoch, index, batch) forever, starting with batch `index` of `epoch`."""
        while True:
            groups = self.epoch(epoch)
            for i in range(index, len(groups)):
                yield epoch, i, collate(groups[i], self.pad_id)
            epoch, index = epoch + 1, 0


def padding_share(groups: Sequence[Sequence[Example]]) -> float:
    """Return the fraction of source and target positions that are padding, from 0 to 1."""
    real = sum(len(e.source) + len(e.target) for group in groups for e in group)
    padded = sum(
        len(group) * (max(len(e.source) for e in group) + max(len(e.target) for e in group))
        for group in groups
    )
    return 1 - real / padded
