"""The four tasks of lesson 13's study: examples of any length, with the origin of each target word.

The study `lengths` trains and tests on them.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from transformer_lab.data.batching import BOS_ID, EOS_ID, Example
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import WorldPair, is_held_out, sentences

FIRST_ID = 4  # the ids below it are pad, bos, eos and unk
LETTERS = 20
KEYS = 64
LONGEST = {"copy": 12, "reverse": 12, "sort": 8, "world": 2}
"""The maximum length L in training: in letters, in numbers (sort) or in sentences (world)."""
BATCH = {"copy": 32, "reverse": 32, "sort": 64, "world": 32}
WORLD_PAIRS = 20_000


class TaskExample(NamedTuple):
    """One example without bos and eos, with the origin and part of each target word.

    Attributes:
        source: The source ids.
        target: The target ids.
        origin: For each target word, the source position it is copied or translated from, or −1 if
            there is none.
        part: For each target word, the part of the target it belongs to. In the bilingual world,
            this is the number of the word's sentence; in the other tasks, the word's position.
    """

    source: list[int]
    target: list[int]
    origin: list[int]
    part: list[int]

    def example(self) -> Example:
        """Return the ids with bos and eos, as `collate` expects them."""
        return Example([*self.source, EOS_ID], [BOS_ID, *self.target, EOS_ID])


class Task:
    """A task that generates examples of any length, with the sizes of its two vocabularies."""

    def __init__(
        self,
        longest: int,
        batch_size: int,
        vocabularies: tuple[int, int],
        draw: Callable[[int, Random], TaskExample],
    ):
        self.longest = longest
        self.batch_size = batch_size
        self.vocabularies = vocabularies
        self.draw = draw

    def batch(self, random: Random) -> list[Example]:
        """Generate a batch of examples with lengths from 1 to the maximum in training."""
        lengths = [random.randint(1, self.longest) for _ in range(self.batch_size)]
        return [self.draw(length, random).example() for length in lengths]


def make_task(name: str, seed: int) -> Task:
    """Return the task with this name, a key of `LONGEST`.

    The seed determines the sentences of "world"; the other tasks do not use it.
    """
    longest = LONGEST[name]
    if name == "world":
        return world_task(longest, seed)
    draw = {"copy": draw_copy, "reverse": draw_reverse, "sort": draw_sort}[name]
    size = FIRST_ID + (KEYS if name == "sort" else LETTERS)
    return Task(longest, BATCH[name], (size, size), draw)


def make_permutation(source: list[int], origin: Sequence[int]) -> TaskExample:
    """Return an example whose target is the source reordered by the positions in `origin`."""
    target = [source[place] for place in origin]
    return TaskExample(source, target, list(origin), list(range(len(target))))


def draw_letters(length: int, random: Random) -> list[int]:
    """Sample the ids of `length` letters."""
    return [random.randrange(FIRST_ID, FIRST_ID + LETTERS) for _ in range(length)]


def draw_copy(length: int, random: Random) -> TaskExample:
    """Generate a random example whose target is a copy of the source."""
    return make_permutation(draw_letters(length, random), range(length))


def draw_reverse(length: int, random: Random) -> TaskExample:
    """Generate a random example whose target is the source in reverse order."""
    return make_permutation(draw_letters(length, random), range(length - 1, -1, -1))


def draw_sort(length: int, random: Random) -> TaskExample:
    """Generate a random example with distinct numbers, whose target has them in ascending order.

    Each number is a word, and its id is its sorting key.
    """
    keys = random.sample(range(FIRST_ID, FIRST_ID + KEYS), length)
    return make_permutation(keys, sorted(range(length), key=keys.__getitem__))


def world_task(longest: int, seed: int) -> Task:
    """Return the task of translating sentences of the bilingual world joined by "and" / "et".

    None of its sentences has a held-out combination.
    """
    shown = (pair for pair in sentences(seed) if not is_held_out(pair))
    pairs = list(islice(shown, WORLD_PAIRS))
    english = WordTokenizer.train(["and", *(pair.source for pair in pairs)])
    french = WordTokenizer.train(["et", *(pair.target for pair in pairs)])
    (and_id,), (et_id,) = english.encode("and"), french.encode("et")
    encoded = [encode_pair(pair, english, french) for pair in pairs]

    def draw(length: int, random: Random) -> TaskExample:
        chosen = [random.choice(encoded) for _ in range(length)]
        return chain_sentences(chosen, and_id, et_id)

    return Task(longest, BATCH["world"], (english.vocab_size, french.vocab_size), draw)


def encode_pair(pair: WorldPair, english: WordTokenizer, french: WordTokenizer) -> TaskExample:
    """Encode one sentence pair as a task example.

    If a target word has several gold links, the first one is its origin.
    """
    source, target = english.encode(pair.source), french.encode(pair.target)
    first = {step: place for place, step in reversed(pair.alignment)}
    origin = [first.get(step, -1) for step in range(len(target))]
    return TaskExample(source, target, origin, [0] * len(target))


def chain_sentences(sentences: Sequence[TaskExample], and_id: int, et_id: int) -> TaskExample:
    """Join sentences with "and" / "et"; each conjunction belongs to the sentence after it."""
    whole = TaskExample([], [], [], [])
    for number, one in enumerate(sentences):
        if number:
            whole.origin.append(len(whole.source))
            whole.part.append(number)
            whole.source.append(and_id)
            whole.target.append(et_id)
        start = len(whole.source)
        whole.origin.extend(-1 if place < 0 else start + place for place in one.origin)
        whole.part.extend([number] * len(one.target))
        whole.source.extend(one.source)
        whole.target.extend(one.target)
    return whole
