"""Sentence pairs, and their training, validation and test splits.

Every corpus returns a `Splits`, and all code that trains or evaluates takes one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable


@runtime_checkable
class SentencePair(Protocol):
    """Anything with a source and a target text, such as a `Pair` or a `WorldPair`."""

    @property
    def source(self) -> str:
        """The sentence to translate."""

    @property
    def target(self) -> str:
        """The translation of the source."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, as text."""

    source: str
    target: str


P = TypeVar("P", bound=SentencePair, covariant=True)


@dataclass(frozen=True, slots=True)
class Splits(Generic[P]):
    """Training, validation and test pairs; the training pairs share no source with the others.

    Attributes:
        train: The pairs to train on.
        validation: The pairs to monitor training with.
        test: The pairs to report scores on.
        said: How many pairs were read, and how many were left out and why; "" if unknown.
        form: How the pairs were read: the kind of file and the columns; "" if unknown.
    """

    train: Sequence[P]
    validation: Sequence[P]
    test: Sequence[P]
    said: str = ""
    form: str = ""
