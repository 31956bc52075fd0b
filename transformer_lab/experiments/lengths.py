"""Lesson 13's study: what becomes of a model on inputs longer than any it was trained on?

    python -m transformer_lab.experiments.lengths

Encoder-decoders with each kind of positions learn four tasks on lengths up to L and are asked up
to 4 L: copy, reverse, sort by key, and the bilingual world with sentences chained by "and".
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from random import Random
from typing import Any

import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import BOS_ID, EOS_ID, Example, collate, pad
from transformer_lab.data.grammar import WorldPair, held_out, sentences
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.decoding import greedy
from transformer_lab.experiments.study import Setting, command
from transformer_lab.model import Transformer
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.step import BatchLoss, training_step

NAME = "lengths"
KINDS = ("sinusoidal", "learned", "rotary", "alibi", "none")
FIRST_ID = 4  # below it stand pad, bos, eos, unk
LETTERS = 20
KEYS = 64
LONGEST = {"copy": 12, "reverse": 12, "sort": 8, "world": 2}
"""L of each task: letters, letters, numbers, sentences."""
TIMES = 4  # asked up to so many times L
ASKED = 100  # examples of each length
BATCH = {"copy": 64, "reverse": 64, "sort": 64, "world": 32}
WORLD_PAIRS = 20_000

GRID: list[Setting] = [
    {"task": task, "positions": positions, "steps": steps, "seed": seed}
    for seed in (0, 1, 2)
    for task, steps in (("copy", 1_500), ("reverse", 1_500), ("sort", 1_500), ("world", 2_500))
    for positions in KINDS
]
SMALL: list[Setting] = [
    {"task": "copy", "positions": "rotary", "steps": 60, "seed": seed} for seed in range(5)
]
"""Runs of a few seconds, of which one is repeated by the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one model and ask it at every length; see `failures` for what is counted."""
    task = make_task(setting["task"], setting["seed"])
    model = trained(setting, task)
    longest = LONGEST[setting["task"]]
    step = 1 if setting["task"] == "world" else 2
    lengths = [*range(step, TIMES * longest + 1, step)]
    ask = Random(1_000 + setting["seed"])
    return {"lengths": lengths, "found": [asked(model, task, n, ask) for n in lengths]}


class Task:
    """Examples of any length, from a random generator, and the sizes of the two vocabularies."""

    def __init__(
        self,
        longest: int,
        batch_size: int,
        vocabularies: tuple[int, int],
        draw: Callable[[int, Random], tuple[list[int], list[int]]],
    ):
        self.longest = longest
        self.batch_size = batch_size
        self.vocabularies = vocabularies
        self.draw = draw

    def example(self, length: int, random: Random) -> Example:
        """One example, as ids with bos and eos where a batch wants them."""
        source, target = self.draw(length, random)
        return Example([*source, EOS_ID], [BOS_ID, *target, EOS_ID])

    def batch(self, random: Random) -> list[Example]:
        """Examples of lengths from 1 to the longest of training."""
        return [
            self.example(random.randint(1, self.longest), random) for _ in range(self.batch_size)
        ]


def make_task(name: str, seed: int) -> Task:
    """One of the four tasks; the world's sentences for training are drawn with the seed."""
    longest = LONGEST[name]
    if name == "world":
        return world_task(longest, seed)
    draw = {"copy": draw_copy, "reverse": draw_reverse, "sort": draw_sort}[name]
    size = FIRST_ID + (KEYS if name == "sort" else LETTERS)
    return Task(longest, BATCH[name], (size, size), draw)


def draw_letters(length: int, random: Random) -> list[int]:
    """Random letters."""
    return [random.randrange(FIRST_ID, FIRST_ID + LETTERS) for _ in range(length)]


def draw_copy(length: int, random: Random) -> tuple[list[int], list[int]]:
    """Letters, and the same again."""
    letters = draw_letters(length, random)
    return letters, letters


def draw_reverse(length: int, random: Random) -> tuple[list[int], list[int]]:
    """Letters, and the same from the last to the first."""
    letters = draw_letters(length, random)
    return letters, letters[::-1]


def draw_sort(length: int, random: Random) -> tuple[list[int], list[int]]:
    """Different numbers, each a word whose id is its key; and the same in the order of their keys."""
    keys = random.sample(range(FIRST_ID, FIRST_ID + KEYS), length)
    return keys, sorted(keys)


def world_task(longest: int, seed: int) -> Task:
    """Sentences of the bilingual world, chained by and / et; no held-out combination among them."""
    shown = (pair for pair in sentences(seed) if not held_out(pair))
    pairs: list[WorldPair] = list(islice(shown, WORLD_PAIRS))
    english = WordTokenizer.train(["and", *(pair.source for pair in pairs)])
    french = WordTokenizer.train(["et", *(pair.target for pair in pairs)])
    (and_id,), (et_id,) = english.encode("and"), french.encode("et")
    encoded = [(english.encode(p.source), french.encode(p.target)) for p in pairs]

    def draw(length: int, random: Random) -> tuple[list[int], list[int]]:
        chosen = [random.choice(encoded) for _ in range(length)]
        return chain([s for s, _ in chosen], and_id), chain([t for _, t in chosen], et_id)

    return Task(longest, BATCH["world"], (english.vocab_size, french.vocab_size), draw)


def chain(parts: Sequence[Sequence[int]], between: int) -> list[int]:
    """The parts one after the other, with a word between them."""
    ids = list(parts[0])
    for part in parts[1:]:
        ids += [between, *part]
    return ids


def trained(setting: Setting, task: Task) -> Transformer:
    """Two layers on each side, post-norm, no dropout, Adam of the paper; new examples at each step."""
    torch.manual_seed(setting["seed"])
    source, target = task.vocabularies
    model = Transformer(
        TransformerConfig(
            source_vocab_size=source,
            target_vocab_size=target,
            d_model=64,
            d_ff=128,
            num_heads=4,
            num_encoder_layers=2,
            num_decoder_layers=2,
            dropout=0.0,
            positions=setting["positions"],
            tie_source_target=False,
        )
    )
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    loss_of = BatchLoss(model, label_smoothing=0.0)
    random, steps = Random(setting["seed"]), setting["steps"]
    for step in range(1, steps + 1):
        rate = linear_rate(step, 2e-3, min(100, steps // 2), steps)
        training_step(loss_of, optimizer, collate(task.batch(random)), rate)
    return model.eval()


def asked(model: Transformer, task: Task, length: int, random: Random) -> dict[str, float]:
    """What becomes of `ASKED` new examples of one length, written greedily."""
    examples = [task.example(length, random) for _ in range(ASKED)]
    source = pad([e.source for e in examples])
    limit = 2 * max(len(e.target) for e in examples)
    written = [list(h.ids) for h in greedy(model, source, max_length=limit)]
    return failures(written, [e.target[1:] for e in examples])


def failures(written: Sequence[list[int]], right: Sequence[list[int]]) -> dict[str, float]:
    """Shares of the examples by how they end, and how far they come.

    `exact`: right to the end. Else, at the first wrong word: `stopped`, if eos was written there;
    `went on`, if another word stands where eos should; `word`, if one word stands for another.
    `reached`: the share of the target before the first wrong word, on average.
    """
    kinds: Counter[str] = Counter()
    reached = 0.0
    for got, want in zip(written, right, strict=True):
        same = next(
            (i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b),
            min(len(got), len(want)),
        )
        reached += same / len(want)
        if got == want:
            kinds["exact"] += 1
        elif same < len(got) and got[same] == EOS_ID:
            kinds["stopped"] += 1
        elif same >= len(want) or want[same] == EOS_ID:
            kinds["went on"] += 1
        else:
            kinds["word"] += 1
    shares = {k: kinds[k] / len(right) for k in ("exact", "stopped", "went on", "word")}
    return shares | {"reached": round(reached / len(right), 4)}


if __name__ == "__main__":
    command(NAME, run, [*SMALL, *GRID])
