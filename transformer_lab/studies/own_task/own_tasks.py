"""Lesson 09: which small tasks of your own does the preset `tiny` learn in a thousand steps?

    python -m transformer_lab.studies.own_task.own_tasks

Each task of `data.own_task` is run with three seeds. The seed determines the pairs, their split and
the initial weights. A run does the same as `train FILE --preset tiny --max-steps 1000` with one
thread. Then it greedily translates up to 1,000 sources from the test split, none of which occur in
the training pairs. A task is offered to readers if, with every seed, at least 95% of these
translations are exactly right.
"""

import calendar
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_lab.data import own_task
from transformer_lab.data.own_task import Task, draw_pairs, write_pairs
from transformer_lab.evaluation.bleu import exact_match
from transformer_lab.runs.run import begin_run
from transformer_lab.studies.common.grid import Setting, load_runs, run_study_command
from transformer_lab.translator import Translator

NAME = "own_tasks"
LETTERS = 260
"""The vocabulary size at which every letter is its own token."""
NUMBER_WORDS = 340
"""The vocabulary size at which number words become tokens.

Sequences of digits repeat less often, so each digit remains its own token.
"""
PIECES = 4_000
"""The vocabulary size that `train` uses for this preset by default."""
STEPS = 1_000
SEEDS = 3
SENTENCES = 1_000
"""The maximum number of unseen inputs that a model has to translate."""
EXAMPLE = 110
"""The seed of the example pair shown for each task in the table."""
LOOKED_AT = 300
"""The number of unseen dates whose attention maps are examined."""
ENOUGH = 0.95
"""The share of unseen inputs that must be right, with every seed, for a task to be offered."""
SIZES = {
    "dates": PIECES,
    "times": PIECES,
    "pig_latin": LETTERS,
    "numbers_in_english": NUMBER_WORDS,
    "numbers_without_comma": NUMBER_WORDS,
    "numbers_in_german": NUMBER_WORDS,
    "numbers_in_french": NUMBER_WORDS,
    "backwards": LETTERS,
    "spanish_sounds": LETTERS,
    "from_roman": LETTERS,
    "amounts": NUMBER_WORDS,
    "phrasebook": PIECES,
    "to_roman": LETTERS,
    "sums": LETTERS,
    "heights": LETTERS,
}
"""The vocabulary size for each task."""
GRID: list[Setting] = [
    {"task": task, "vocab_size": size, "steps": STEPS, "seed": seed}
    for task, size in SIZES.items()
    for seed in range(SEEDS)
]


def find_task(name: str) -> Task:
    """Return the task with this name."""
    task: Task = getattr(own_task, name)
    return task


def run(setting: Setting) -> dict[str, Any]:
    """Train a translator on one task, and score it on inputs that were not in training.

    Returns:
        "pairs": the number of training pairs.
        "unseen": the number of unseen sources that are translated.
        "exact_match": the share of unseen sources translated exactly.
        "wrong": the first three errors, each as [source, translation, reference].
        "month": only for dates, the result of `looks_at_month`.
    """
    seed = setting["seed"]
    with tempfile.TemporaryDirectory() as folder:
        file = write_pairs(
            Path(folder) / "pairs.tsv", draw_pairs(find_task(setting["task"]), seed=seed)
        )
        begun = begin_run(
            Path(folder) / "run",
            str(file),
            preset="tiny",
            seed=seed,
            vocab_size=setting["vocab_size"],
            max_steps=setting["steps"],
            device="cpu",
            show_progress=False,
        )
        begun.train()
    translator, splits = begun.translator, begun.splits
    asked = splits.test[:SENTENCES]
    known = {pair.source for pair in splits.train}
    assert not any(pair.source in known for pair in asked)
    written = [
        one.translation
        for one in translator.translate([pair.source for pair in asked], beam_size=1)
    ]
    wrong = [
        [pair.source, text, pair.target]
        for pair, text in zip(asked, written, strict=True)
        if text != pair.target
    ]
    found = {
        "pairs": len(splits.train),
        "unseen": len(asked),
        "exact_match": exact_match(written, [pair.target for pair in asked]),
        "wrong": wrong[:3],
    }
    if setting["task"] == "dates":
        found["month"] = looks_at_month(translator, [pair.source for pair in asked[:LOOKED_AT]])
    return found


def looks_at_month(translator: Translator, sources: Sequence[str]) -> list[list[float]]:
    """Return how often each cross-attention head attends most to the month as the model writes it.

    A source counts only if it gives the month as a word and the model writes the date in five
    tokens: year, month and day, with separators between them. The shares are given as a nested list
    indexed by layer and head.
    """
    names = {*calendar.month_name, *calendar.month_abbr} - {""}
    hits: list[np.ndarray] = []
    for source in sources:
        record = translator.attend(source)
        tokens = [token.strip() for token in record.source_tokens]
        places = [place for place, token in enumerate(tokens) if token in names]
        if len(places) == 1 and len(record.written_tokens) == len("Y-M-D") + 1:
            rows = np.stack([layer[:, 2] for layer in record.cross])
            hits.append(rows.argmax(axis=-1) == places[0])
    shares: list[list[float]] = np.mean(hits, axis=0).round(3).tolist()
    return shares


def summarize() -> dict[str, list[float]]:
    """Return the exact match of each task with every seed.

    Tasks without a stored run for every seed are left out.
    """
    shares: dict[str, list[float]] = {}
    for stored in load_runs(NAME):
        name = stored["setting"]["task"]
        shares.setdefault(name, []).append(stored["result"]["exact_match"])
    return {name: found for name, found in shares.items() if len(found) == SEEDS}


def find_offered() -> dict[str, list[float]]:
    """Return the result of `summarize` for the tasks that reach `ENOUGH` with every seed."""
    return {name: shares for name, shares in summarize().items() if min(shares) >= ENOUGH}


def markdown_table() -> str:
    """Return the Markdown table of offered tasks for docs/own_task.md, highest accuracy first."""
    lines = [
        "| task | for example | `--vocab-size` | right, by seed |",
        "| --- | --- | --- | --- |",
    ]
    for name, shares in sorted(find_offered().items(), key=lambda row: (-min(row[1]), row[0])):
        source, target = find_task(name)(random.Random(EXAMPLE))
        size = "" if SIZES[name] == PIECES else f"{SIZES[name]}"
        right = " · ".join(f"{100 * share:.1f}%" for share in shares)
        lines.append(f"| `{name}` | {source} → {target} | {size} | {right} |")
    return "\n".join(lines)


def main() -> None:
    """Do the runs that are not stored yet, and print the table."""
    run_study_command(NAME, run, GRID)
    print(markdown_table())


if __name__ == "__main__":
    main()
