"""Lesson 13's study: what happens to a model on inputs longer than any in its training?

    python -m transformer_lab.studies.longer_than_trained.lengths

Encoder-decoders with each kind of positional encoding learn four tasks: copying, reversing, sorting
by key, and translating sentences of the bilingual world joined by "and". They are trained at
lengths up to L and tested at lengths up to 4 L.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import torch

from transformer_lab.attention.capture import capture_attention
from transformer_lab.config import TransformerConfig
from transformer_lab.data.batching import EOS_ID, collate, pad
from transformer_lab.decoding import greedy
from transformer_lab.model import Transformer
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.longer_than_trained.length_tasks import Task, TaskExample, make_task
from transformer_lab.training.schedule import linear_rate
from transformer_lab.training.step import BatchLoss, training_step

NAME = "lengths"
KINDS = ("sinusoidal", "learned", "rotary", "alibi", "none")
LONGEST_FACTOR = 4  # tested up to this many times L
NUM_EXAMPLES = 100  # examples of each length

GRID: list[Setting] = [
    {"task": task, "positions": positions, "steps": steps, "seed": seed}
    for seed in (0, 1, 2)
    for task, steps in (("copy", 1_200), ("reverse", 1_500), ("sort", 1_500), ("world", 4_000))
    for positions in KINDS
]
SMALL: list[Setting] = [
    {"task": "copy", "positions": "rotary", "steps": 60, "seed": seed} for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one model and score it at every length.

    Returns:
        "lengths": the lengths that were tested.
        "found": the result of `failures` for each length.
        "parts": the result of `score_by_part` at the longest length in training and at three longer
            ones.
    """
    task = make_task(setting["task"], setting["seed"])
    model = train_model(setting, task)
    lengths = list_lengths(task.longest)
    ask = Random(1_000 + setting["seed"])
    found = [score_length(model, task, n, ask) for n in lengths]
    looked_into = [task.longest * times // 2 for times in (2, 3, 4, 8)]
    return {
        "lengths": lengths,
        "found": found,
        "parts": score_by_part(model, task, looked_into, ask),
    }


def list_lengths(longest: int) -> list[int]:
    """Return the lengths to test, up to `LONGEST_FACTOR` times the longest length in training."""
    if longest <= 4:
        return list(range(1, LONGEST_FACTOR * longest + 1))
    near = range(longest, longest + 5)
    return [*range(2, longest, 2), *near, *range(longest + 8, LONGEST_FACTOR * longest + 1, 4)]


def train_model(setting: Setting, task: Task) -> Transformer:
    """Train a post-norm model with two layers per side, without dropout.

    New examples are generated for every step.
    """
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


def score_length(model: Transformer, task: Task, length: int, random: Random) -> dict[str, float]:
    """Translate `NUM_EXAMPLES` new examples of one length greedily; return their `failures`."""
    examples = [task.draw(length, random).example() for _ in range(NUM_EXAMPLES)]
    source = pad([e.source for e in examples])
    limit = 2 * max(len(e.target) for e in examples)
    written = [list(h.ids) for h in greedy(model, source, max_length=limit)]
    return failures(written, [e.target[1:] for e in examples])


def failures(written: Sequence[list[int]], right: Sequence[list[int]]) -> dict[str, float]:
    """Return the shares of correct translations and of each kind of first mistake.

    `written` and `right` hold target ids with eos.

    Returns:
        "exact": the share of translations without a mistake.
        "stopped": the share whose first mistake is an eos that comes too early.
        "went on": the share whose first mistake is a word where eos should be.
        "word": the share whose first mistake is a wrong word where another word should be.
        "reached": the mean share of the target before the first mistake.
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


@torch.no_grad()
def read_targets(model: Transformer, drawn: Sequence[TaskExample]) -> tuple[np.ndarray, np.ndarray]:
    """Run a model with teacher forcing; return its predictions and where its heads look.

    Returns:
        The most probable word at each step, (example, step), and the source position with the
        largest weight for each cross-attention head, (layer, head, example, step).
    """
    batch = collate([one.example() for one in drawn])
    with capture_attention(model) as capture:
        written = model(batch.source, batch.target_input).argmax(dim=-1)
    looked = np.stack([weights.argmax(axis=-1) for weights in capture.cross])
    return written.numpy(), looked.swapaxes(1, 2)


def score_by_part(
    model: Transformer, task: Task, lengths: Sequence[int], random: Random
) -> list[dict]:
    """Measure which parts of the target fail at each length.

    The first length should be the longest in training. The model runs with teacher forcing, so a
    mistake does not affect later steps. One cross-attention head is followed: the one that looks at
    the origin most often at the first length.

    Returns:
        For each length:

        "length": the length that was tested.
        "end": the share of examples with eos in the right place.
        "right": the share of target words that the model ranks first at their step.
        "eos": the share of steps at which the model ranks eos first, although a word is due.
        "looked": the share of steps at which the head looks at the word's origin.
        "off": how many positions to the right of the origin the head looks, as three quartiles.

        "right", "eos", "looked" and "off" are lists with one value for each part of the target (see
        `TaskExample`).
    """
    found: list[dict] = []
    best = (0, 0)
    for length in lengths:
        drawn = [task.draw(length, random) for _ in range(NUM_EXAMPLES)]
        written, looked = read_targets(model, drawn)
        # All words of all examples in one row.
        example = np.concatenate([[n] * len(one.target) for n, one in enumerate(drawn)])
        step = np.concatenate([np.arange(len(one.target)) for one in drawn])
        target, origin, part = (
            np.concatenate([getattr(one, name) for one in drawn])
            for name in ("target", "origin", "part")
        )
        words, known = written[example, step], origin >= 0
        off = looked[:, :, example, step] - origin  # (layer, head, word)
        if not found:
            hits = (off[:, :, known] == 0).mean(axis=-1)  # (layer, head)
            best = divmod(int(hits.argmax()), hits.shape[1])
        off = off[best]
        entry: dict[str, Any] = {"length": length, "right": [], "eos": [], "looked": [], "off": []}
        for number in range(part.max() + 1):
            here = part == number
            entry["right"].append(round(float((words == target)[here].mean()), 3))
            entry["eos"].append(round(float((words == EOS_ID)[here].mean()), 3))
            entry["looked"].append(round(float((off == 0)[here & known].mean()), 3))
            entry["off"].append(np.quantile(off[here & known], (0.25, 0.5, 0.75)).tolist())
        entry["end"] = sum(written[n, len(one.target)] == EOS_ID for n, one in enumerate(drawn))
        entry["end"] = float(entry["end"] / NUM_EXAMPLES)
        found.append(entry)
    return found


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
