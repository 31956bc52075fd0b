"""Checks for the exercises of lesson 08: batches, label smoothing and the learning rate."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.data import batching
from transformer_lab.training import schedule

# ---------------------------------------------------------------- batches


def _random_sequences(chance: RandomValues) -> tuple:
    count, longest, vocabulary = chance.sizes(3)
    lengths = [longest, *(chance.between(1, longest) for _ in range(count - 1))]
    sequences = [chance.ids(n, below=vocabulary).tolist() for n in lengths]
    return sequences[::-1], chance.between(0, vocabulary)


def _work_out_padding(sequences: Sequence[list[int]], pad_id: int, at: tuple) -> Iterator[Step]:
    row, lengths = at[0], [*map(len, sequences)]
    missing = max(lengths) - lengths[row]
    yield "how many words each sentence has", lengths
    yield "the largest of these, which is the width of the batch", max(lengths)
    yield f"the words of sentence {row} (counted from 0)", sequences[row]
    yield f"how many positions are left for pad_id, which is {pad_id}", missing
    yield f"row {row} of the batch", [*sequences[row], *[pad_id] * missing]


pad = Check(
    reference=lambda sequences, pad_id: batching.pad(sequences, pad_id),
    own=(batching.pad,),
    cases=lambda: [
        ([[5, 7], [6]], 0),
        ([[5, 7, 9], [6, 8, 4, 4, 2], [3]], 0),
        ([[5, 0], [6, 8, 4]], 1),
        ([[7, 3, 2], [4, 6, 5]], 7),
        ([[3, 3, 9, 2, 1], [8], [0, 4]], 3),
    ],
    drawn=_random_sequences,
    arguments=("sequences", "pad_id"),
    results=("the batch",),
    working=_work_out_padding,
    verified="one row for each sentence, filled up on the right, and the sentences are unchanged",
    mistakes=[
        Mistake(
            lambda sequences, pad_id: batching.pad([s[::-1] for s in sequences], pad_id).flip(1),
            "the padding is on the left. Put it on the right, where the causal mask hides it at "
            "no extra cost.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sequences, 0),
            "you pad with 0, but you should pad with `pad_id`.",
        ),
        Mistake(
            lambda sequences, pad_id: torch.tensor(
                [s[: min(map(len, sequences))] for s in sequences]
            ),
            "you cut all sentences to the length of the shortest, so words are lost. Pad them to "
            "the length of the longest.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad([[*s, pad_id] for s in sequences], pad_id),
            "there is one column too many. The longest sentence needs no padding.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad([sorted(s) for s in sequences], pad_id),
            "each sentence has the right words in the wrong order. Keep their original order.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sorted(sequences, key=len), pad_id),
            "the sentences are in the wrong order: row i should be sentence i.",
        ),
        Mistake(
            lambda sequences, pad_id: batching.pad(sequences, pad_id).T,
            "each sentence is a column, but it should be a row, because the batch comes first "
            "here.",
        ),
    ],
)

# ---------------------------------------------------------------- label smoothing


def _smooth(word: int, vocab_size: int, smoothing: float) -> Tensor:
    target = torch.full((vocab_size,), smoothing / vocab_size, dtype=torch.float64)
    target[word] += 1 - smoothing
    return target


def _work_out_target(word: int, vocab_size: int, smoothing: float, at: tuple) -> Iterator[Step]:
    share, target = smoothing / vocab_size, _smooth(word, vocab_size, smoothing)
    yield f"the share of every word, smoothing divided by {vocab_size}", share
    yield "what is left for the right word, 1 − smoothing", 1 - smoothing
    yield f"the right word is {word} and gets both, added up", share + 1 - smoothing
    which = "the right one" if at == (word,) else "a wrong one and gets only the share"
    yield f"word {at[0]} is {which}", target[at]
    yield "the target", target


def _spread_probability(word: int, vocab_size: int, right: float, other: float) -> Tensor:
    target = torch.full((vocab_size,), other, dtype=torch.float64)
    target[word] = right
    return target


def _random_word(chance: RandomValues) -> tuple:
    vocabulary = chance.between(2, 40)
    return chance.between(0, vocabulary - 1), vocabulary, chance.real(0.01, 0.9)


smoothed_target = Check(
    reference=_smooth,
    cases=lambda: [(0, 4, 0.2), (2, 5, 0.1), (6, 7, 0.3), (10, 11, 0.0), (1, 3, 1.0)],
    drawn=_random_word,
    arguments=("word", "vocab_size", "smoothing"),
    results=("the target",),
    working=_work_out_target,
    verified="the target sums to 1, and the right word gets its share of ε, too",
    tolerance=1e-6,  # single precision is exact enough
    mistakes=[
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1 - e, e / (v - 1)),
            "you spread ε over the wrong words only. The result sums to 1, and some programs do "
            "it that way, but here, as in PyTorch, ε should be spread over all words, including "
            "the right one.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1 - e, e / v),
            "the target sums to less than 1, because the right word does not get its share of ε.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1.0 + e / v, e / v),
            "the target sums to 1 + ε, because the right word gets 1 plus its share of ε. It "
            "should get 1 − ε plus its share.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1.0, e / v),
            "the target sums to more than 1, because the right word keeps its full weight of 1. "
            "It should get 1 − ε plus its share of ε.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1.0, 0.0),
            "nothing is smoothed, because ε is not used.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, 1 - e, e),
            "you give every wrong word all of ε. Divide ε evenly among all words, so that the "
            "target sums to 1.",
        ),
        Mistake(
            lambda w, v, e: _spread_probability(w, v, e + (1 - e) / v, (1 - e) / v),
            "ε and 1 − ε are swapped.",
        ),
    ],
)

# ---------------------------------------------------------------- the schedule


def _steps() -> Sequence[tuple[int, int, int]]:
    sizes = [(512, 4_000), (37, 11)]
    cases = [(step, d, w) for d, w in sizes for step in (1, w // 2, w, w + 1, 3 * w)]
    return [(2, 25, 4), *cases[1:]]


def _work_out_rate(step: int, d_model: int, warmup_steps: int, at: tuple) -> Iterator[Step]:
    rising, falling = step * warmup_steps**-1.5, step**-0.5
    yield f"the line that rises, {step} · {warmup_steps}^(−1.5)", rising
    yield f"the curve that falls, 1 divided by √{step}", falling
    yield "the smaller of the two", min(rising, falling)
    yield f"1 divided by √{d_model}, because d_model is {d_model}", d_model**-0.5
    yield "the rate, the last two multiplied", d_model**-0.5 * min(rising, falling)


def _random_step(chance: RandomValues) -> tuple:
    warmup = chance.between(2, 5000)
    step = max(1, round(warmup * chance.one_of(0.5, 3.0) * chance.real(0.5, 1.5)))
    return step, chance.between(1, 1100), warmup


paper_rate = Check(
    reference=schedule.paper_rate,
    cases=_steps,
    drawn=_random_step,
    arguments=("step", "d_model", "warmup_steps"),
    results=("the rate",),
    working=_work_out_rate,
    verified="the rate rises in a straight line during the warm-up, and then falls like 1/√step",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
            "you use max, so the rate starts high and later rises without limit. Use min, as in "
            "the paper.",
        ),
        Mistake(
            lambda s, d, w: min(s**-0.5, s * w**-1.5),
            "the factor d_model^−0.5 is missing. It gives wider models smaller rates.",
        ),
        Mistake(
            lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5),
            "you multiply by √d_model, but you should divide by it.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * s**-0.5,
            "there is no warm-up, so the first step has the largest rate of all.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * s * w**-1.5,
            "the rate rises for ever, but after the warm-up it should fall in proportion to "
            "1/√step.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(s**-0.5, s / w),
            "the two branches do not meet at step = warmup_steps. Raise warmup_steps to the power "
            "−1.5.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(w**-0.5, s * w**-1.5),
            "after the warm-up the rate stays the same, but it should fall in proportion to "
            "1/√step.",
        ),
        Mistake(
            lambda s, d, w: d**-0.5 * min(s**-0.5, (s - 1) * w**-1.5),
            "the first step has a rate of 0, because you count steps from 0. Count them from 1.",
        ),
    ],
)
