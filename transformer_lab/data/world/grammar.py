"""The bilingual world: seeded splits of English sentences and their French translations.

Lessons and runs call `world`. Each pair comes with the gold word alignment. If a pronoun could
refer to two nouns, the pair also identifies the correct noun and the deciding word. The words are
in `lexicon`, the rules of both languages are in `phrases` and `clauses`, and the kinds of sentence
are in `constructions`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from random import Random

from transformer_lab.data.pair import Splits
from transformer_lab.data.world.because import because_sentence, mark_role
from transformer_lab.data.world.clauses import verb_group
from transformer_lab.data.world.constructions import CONSTRUCTIONS
from transformer_lab.data.world.held_out import is_held_out_combination
from transformer_lab.data.world.lexicon import ADJECTIVES, NOUNS, VERBS
from transformer_lab.data.world.phrases import Phrase, noun_phrase, realise_surface


@dataclass(frozen=True, slots=True)
class Coreference:
    """A pronoun and the noun that it refers to, as token positions in a sentence pair.

    Attributes:
        pronoun: The English pronoun, it or they.
        referent: The English noun that it refers to.
        other: The other English noun, to which it does not refer.
        decider: The English word that decides between the two nouns.
        target_pronoun: The French pronoun: il, elle, ils or elles.
    """

    pronoun: int
    referent: int
    other: int
    decider: int
    target_pronoun: int


@dataclass(frozen=True)
class WorldPair:
    """A sentence pair of the bilingual world with its gold annotations.

    Attributes:
        source_tokens: The English words.
        target_tokens: The French words.
        alignment: Sorted (source position, target position) links.
        construction: The name of the construction, which is a key of `CONSTRUCTIONS`.
        coreference: What the pronoun refers to, or None if this is not a because-sentence.
        combinations: Pairs of a noun and an adjective or verb that describes it in the sentence, as
            English lemmas.
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    construction: str
    coreference: Coreference | None
    combinations: tuple[tuple[str, str], ...] = ()

    @cached_property
    def source(self) -> str:
        """The English sentence as text."""
        return join_tokens(self.source_tokens)

    @cached_property
    def target(self) -> str:
        """The French sentence as text."""
        return join_tokens(self.target_tokens, french=True)


def join_tokens(tokens: Sequence[str], *, french: bool = False) -> str:
    """Join tokens into text, without a space after an elision (l'animal) or before a comma.

    French puts a space before `?`, and English does not.
    """
    text = ""
    for word in tokens:
        attached = word == "," or (word == "?" and not french)
        text += word if attached or text.endswith("'") or not text else " " + word
    return text


def make_world_pair(phrase: Phrase, construction: str) -> WorldPair:
    """Build a sentence pair from a phrase, with its final words, alignment and coreference."""
    source, target, alignment = realise_surface(phrase)
    coreference = None
    if phrase.marks:
        at = dict(phrase.marks)
        target_pronoun = next(there for here, there in alignment if here == at["pronoun"])
        coreference = Coreference(**at, target_pronoun=target_pronoun)
    return WorldPair(source, target, alignment, construction, coreference, phrase.combinations)


def _famous(word: str, referent: str) -> WorldPair:
    animal, street = (
        mark_role(noun_phrase("the", NOUNS[name]), "referent" if name == referent else "other")
        for name in ("animal", "street")
    )
    group = verb_group(animal, VERBS["traverser"], "past", negated=True)
    phrase = because_sentence(animal, group, street, ADJECTIVES[word], degree="too")
    return make_world_pair(phrase, "because_last")


FAMOUS: tuple[WorldPair, WorldPair] = (_famous("tired", "animal"), _famous("wide", "street"))
"""The two sentences often quoted to explain attention, ending in "too tired" and "too wide"."""


def is_held_out(pair: WorldPair) -> bool:
    """Return whether the pair contains a combination that is reserved for the test split."""
    return any(is_held_out_combination(noun, word) for noun, word in pair.combinations)


def sentences(seed: int = 0) -> Iterator[WorldPair]:
    """Yield random sentence pairs forever, including repeats and held-out combinations."""
    rng = Random(seed)
    names = list(CONSTRUCTIONS)
    weights = [weight for weight, _ in CONSTRUCTIONS.values()]
    while True:
        for name in rng.choices(names, weights, k=1000):
            _, construct = CONSTRUCTIONS[name]
            yield make_world_pair(construct(rng), name)


_MOST = 200_000


def world(
    train: int = 20_000, validation: int = 1_000, test: int = 1_000, *, seed: int = 0
) -> Splits[WorldPair]:
    """Generate the three splits of the bilingual world, which share no source sentences.

    Half of the test pairs (rounded up) contain a held-out combination; training and validation
    pairs never do. If two worlds differ only in the size of the training set, they have the same
    validation and test sets, and the larger training set starts with the smaller one.

    Args:
        train: The number of training pairs.
        validation: The number of validation pairs.
        test: The number of test pairs.
        seed: The random seed; the same seed gives the same sentences.

    Raises:
        ValueError: If a size is negative, or the grammar has too few different sentences.
    """
    sizes = {"train": train, "validation": validation, "test": test}
    for name, size in sizes.items():
        if size < 0:
            raise ValueError(f"{name} is {size}; expected at least 0")
    total = sum(sizes.values())
    if total > _MOST:
        raise ValueError(
            f"train + validation + test is {total:,}; expected at most {_MOST:,}, because the "
            "grammar cannot produce more pairs"
        )

    seen: set[tuple[str, ...]] = set()
    # The pairs drawn, by the split they go to, in the order in which the splits are filled.
    ordinary: dict[str, list[WorldPair]] = {"test": [], "validation": [], "train": []}
    held: list[WorldPair] = []
    room = {"test": test // 2, "validation": validation, "train": train}
    open_splits = [name for name in ordinary if room[name]]
    # A bound on the draws: a grammar that has run dry should raise an error instead of hanging.
    for pair in islice(sentences(seed), 10_000 + 20 * total):
        if not open_splits and len(held) == test - test // 2:
            break
        if pair.source_tokens in seen:
            continue
        seen.add(pair.source_tokens)
        if is_held_out(pair):
            if len(held) < test - test // 2:
                held.append(pair)
        elif open_splits:
            name = open_splits[0]
            ordinary[name].append(pair)
            if len(ordinary[name]) == room[name]:
                del open_splits[0]
    else:
        raise ValueError(
            f"train + validation + test is {total:,}, but the grammar produces fewer "
            "distinct sentences than that"
        )
    tested = ordinary["test"] + held
    Random(seed).shuffle(tested)
    return Splits(ordinary["train"], ordinary["validation"], tested)
