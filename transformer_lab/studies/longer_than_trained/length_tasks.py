"""The four tasks of lesson 13's study: examples of any length, and where each word comes from."""

from collections.abc import Callable, Sequence
from itertools import islice
from random import Random
from typing import NamedTuple

from transformer_lab.data.batching import BOS_ID, EOS_ID, Example
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import WorldPair, is_held_out, sentences

FIRST_ID = 4  # below it stand pad, bos, eos, unk
LETTERS = 20
KEYS = 64
LONGEST = {"copy": 12, "reverse": 12, "sort": 8, "world": 2}
"""L, the longest of training: letters, letters, numbers, sentences."""
BATCH = {"copy": 32, "reverse": 32, "sort": 64, "world": 32}
WORLD_PAIRS = 20_000


class TaskExample(NamedTuple):
    """One example without bos and eos, and what is known about each word of its target.

    `origin` is the source place that the word is read from, -1 where there is none. `part` says
    to which part of the target it belongs: its place, or the number of its sentence.
    """

    source: list[int]
    target: list[int]
    origin: list[int]
    part: list[int]

    def example(self) -> Example:
        """The ids as a batch wants them."""
        return Example([*self.source, EOS_ID], [BOS_ID, *self.target, EOS_ID])


class Task:
    """Examples of any length, from a random generator, and the sizes of the two vocabularies."""

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
        """Examples of lengths from 1 to the longest of training."""
        lengths = [random.randint(1, self.longest) for _ in range(self.batch_size)]
        return [self.draw(length, random).example() for length in lengths]


def make_task(name: str, seed: int) -> Task:
    """One of the four tasks; the world's sentences for training are drawn with the seed."""
    longest = LONGEST[name]
    if name == "world":
        return world_task(longest, seed)
    draw = {"copy": draw_copy, "reverse": draw_reverse, "sort": draw_sort}[name]
    size = FIRST_ID + (KEYS if name == "sort" else LETTERS)
    return Task(longest, BATCH[name], (size, size), draw)


def make_permutation(source: list[int], origin: Sequence[int]) -> TaskExample:
    """An example whose target is the source's words at these places, in this order."""
    target = [source[place] for place in origin]
    return TaskExample(source, target, list(origin), list(range(len(target))))


def draw_letters(length: int, random: Random) -> list[int]:
    """Random letters."""
    return [random.randrange(FIRST_ID, FIRST_ID + LETTERS) for _ in range(length)]


def draw_copy(length: int, random: Random) -> TaskExample:
    """Letters, and the same again."""
    return make_permutation(draw_letters(length, random), range(length))


def draw_reverse(length: int, random: Random) -> TaskExample:
    """Letters, and the same from the last to the first."""
    return make_permutation(draw_letters(length, random), range(length - 1, -1, -1))


def draw_sort(length: int, random: Random) -> TaskExample:
    """Different numbers, each a word whose id is its key.

    And the same in the order of their keys.
    """
    keys = random.sample(range(FIRST_ID, FIRST_ID + KEYS), length)
    return make_permutation(keys, sorted(range(length), key=keys.__getitem__))


def world_task(longest: int, seed: int) -> Task:
    """Sentences of the bilingual world, chained by and / et; no held-out combination among them."""
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
    """One sentence pair as ids.

    A target word with several gold links has the first as its origin.
    """
    source, target = english.encode(pair.source), french.encode(pair.target)
    first = {step: place for place, step in reversed(pair.alignment)}
    origin = [first.get(step, -1) for step in range(len(target))]
    return TaskExample(source, target, origin, [0] * len(target))


def chain_sentences(sentences: Sequence[TaskExample], and_id: int, et_id: int) -> TaskExample:
    """Join sentences by and / et; the joining word belongs to the sentence behind it."""
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
