"""What every corpus is made of: pairs of sentences, in three splits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable


@runtime_checkable
class SentencePair(Protocol):
    """Anything with a source and a target text: a `Pair`, or a `WorldPair` with its gold facts."""

    @property
    def source(self) -> str:
        """The sentence to translate, as text."""

    @property
    def target(self) -> str:
        """Its translation, as text."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and its translation, as text."""

    source: str
    target: str


P = TypeVar("P", bound=SentencePair, covariant=True)


@dataclass(frozen=True, slots=True)
class Splits(Generic[P]):
    """Training, validation and test pairs; no source sentence of the others is trained on.

    `said` has how many pairs were read for them, and how many left out for which reason, where that
    is known; `form` how they were read: from which columns of what.
    """

    train: Sequence[P]
    validation: Sequence[P]
    test: Sequence[P]
    said: str = ""
    form: str = ""
