"""The playground in a browser: its training step against PyTorch's, and how soon it learns each task."""

import time
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from playwright.sync_api import Page

from benchmarks.machine import describe_run
from benchmarks.page_tasks import TRACED, find_longest_task
from benchmarks.report import Target, table, target_table
from benchmarks.timing import Times, median_ratio
from transformer_lab.config import TransformerConfig
from transformer_lab.model import Transformer
from transformer_lab.studies.in_the_playground.guided_experiments import ENOUGH, open_playground

STEPS = 120
BATCH, LENGTH, VOCABULARY = 32, 10, 30
"""Nine letters and eos, from an alphabet with four special tokens."""
NINE = {"task": "reverse", "options": {"shortest": 9, "longest": 9}}
SIZES = {
    "32 wide, 1 + 1 layers": (32, 1),
    "64 wide, 1 + 1 layers": (64, 1),
    "64 wide, 2 + 2 layers": (64, 2),
    "128 wide, 1 + 1 layers": (128, 1),
}
SEEDS = (0, 1, 2)
TASKS: dict[str, dict[str, Any]] = {
    "reverse, nine letters": {**NINE, "steps": 1_000},
    "reverse": {"task": "reverse"},
    "copy": {"task": "copy"},
    "sort": {"task": "sort"},
    "find the partner": {"task": "partner"},
    "count": {"task": "count"},
    "brackets": {"task": "brackets"},
    "dates": {"task": "dates"},
    "numbers in English": {"task": "numbers_en"},
    "numbers in French": {"task": "numbers_fr"},
    "numbers in German": {"task": "numbers_de"},
    "the world, 3,600 steps": {"task": "world", "data": 60_000, "steps": 3_600},
    "the world, 9,000 steps": {"task": "world", "data": 60_000, "steps": 9_000},
}
LEARN = """async (given) => {
    const moments = [];
    const watch = ({ step, seconds, written }) => moments.push([step, seconds, written]);
    return { ...(await transformerLab.learn({ ...given, watch })), moments };
}"""
FIRST_STEP = """(given) => new Promise((done) => {
    const start = performance.now();
    const watch = ({ step }) => step === 1 && done((performance.now() - start) / 1000);
    transformerLab.learn({ ...given, steps: 30, watch });
})"""
"""Seconds until the page has shown the first step; a run of 30 steps shows each of them."""
WATCHED = {
    "one model": "#task=reverse",
    "two models": "#task=reverse&but=mask:false",
    "two models of 4 + 4 layers": "#task=reverse&layers=4&but=mask:false&steps=300",
}
"""Addresses of runs that are drawn while they train."""


def measure_torch_step(width: int, layers: int) -> float:
    """Return the seconds per step of the same model in eager PyTorch on one thread."""
    config = TransformerConfig(
        source_vocab_size=VOCABULARY,
        target_vocab_size=VOCABULARY,
        d_model=width,
        d_ff=4 * width,
        num_heads=4,
        num_encoder_layers=layers,
        num_decoder_layers=layers,
        dropout=0.0,
        tie_source_target=False,
    )
    model = Transformer(config)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    source, given, wanted = (torch.randint(4, VOCABULARY, (BATCH, LENGTH)) for _ in range(3))
    start = 0.0
    for step in range(STEPS + 20):
        if step == 20:
            start = time.perf_counter()
        loss = F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
    return (time.perf_counter() - start) / STEPS


def measure_steps(page: Page, rounds: int) -> dict[str, tuple[Times, Times]]:
    """Return the seconds per step in the page and in PyTorch, in turn, for each of `SIZES`."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in SIZES}
    for _ in range(rounds):
        for name, (width, layers) in SIZES.items():
            given = {**NINE, "width": width, "layers": layers, "steps": STEPS}
            found[name][0].append(page.evaluate(LEARN, given)["seconds"] / STEPS)
            found[name][1].append(measure_torch_step(width, layers))
    torch.set_num_threads(threads)
    return {name: (Times(ours), Times(theirs)) for name, (ours, theirs) in found.items()}


def measure_tasks(page: Page) -> dict[str, list[dict[str, Any]]]:
    """Return what `learn` reports for each task, seed by seed."""
    return {
        name: [page.evaluate(LEARN, {**given, "seed": seed}) for seed in SEEDS]
        for name, given in TASKS.items()
    }


def measure_first_step(page: Page, rounds: int) -> dict[str, float]:
    """Return the seconds from the start of a run until the page shows its first step, by task."""
    return {
        task: median(page.evaluate(FIRST_STEP, {"task": task}) for _ in range(rounds))
        for task in ("reverse", "world")
    }


def measure_longest_tasks(page: Page) -> dict[str, tuple[float, float]]:
    """Return the page's longest task while it trains and draws, as `find_longest_task` does."""
    browser = page.context.browser
    assert browser
    found = {}
    for name, address in WATCHED.items():
        page.evaluate("(hash) => { location.hash = hash; }", address)
        browser.start_tracing(page=page, categories=TRACED)
        page.locator("[data-control=train]").click()
        page.locator(".status").last.filter(has_text="Done").wait_for()
        found[name] = find_longest_task(browser.stop_tracing())
    return found


def find_when_learned(run: dict[str, Any]) -> float | None:
    """Return the seconds of training until 98% of unseen examples were right; None stands for never."""
    return next((seconds for _, seconds, written in run["moments"] if written >= ENOUGH), None)


def section(rounds: int) -> str:
    """Return the section of RESULTS.md on the playground."""
    with open_playground() as page:
        longest = measure_longest_tasks(page)
        first = measure_first_step(page, rounds)
        steps = measure_steps(page, rounds)
        tasks = measure_tasks(page)
    rows = [
        (
            name,
            *(f"{1e3 * t.median:.1f} ({1e3 * t.best:.1f}) ms" for t in (ours, theirs)),
            f"{median_ratio(theirs, ours):.2f}",
        )
        for name, (ours, theirs) in steps.items()
    ]
    text = (
        f"Batches of {BATCH} pairs of nine letters, in a worker of Chromium without a GPU and in eager "
        f"PyTorch on one thread. {describe_run(rounds)} Median and, in brackets, the fastest.\n\n"
    )
    text += table(["a training step", "playground", "PyTorch", "ratio"], rows)
    learned = []
    for name, runs in tasks.items():
        soon = [find_when_learned(run) for run in runs]
        learned.append(
            (
                name,
                f"{runs[0]['steps']:,}",
                " · ".join(f"{run['written']:.1%}" for run in runs),
                f"{median(run['seconds'] for run in runs):.1f} s",
                " · ".join("–" if at is None else f"{at:.1f} s" for at in soon),
            )
        )
    text += (
        f"\nEach task with seeds {', '.join(map(str, SEEDS))}, as the playground sets it up: the share "
        "of 512 unseen examples that are right as the model writes them, the seconds of training, and "
        f"after how many of them {ENOUGH:.0%} of 64 unseen examples were right for the first time.\n\n"
    )
    text += table(["task", "steps", "right, by seed", "all steps", "98% after"], learned)
    text += "\nThe page's longest task while it trains and draws what its models do.\n\n"
    text += table(
        ["in the page", "processor time", "by the clock"],
        [(name, f"{work:.0f} ms", f"{clock:.0f} ms") for name, (work, clock) in longest.items()],
    )
    return text + "\n" + target_table(make_targets(steps, tasks, first, longest), "limit")


def make_targets(
    steps: dict[str, tuple[Times, Times]],
    tasks: dict[str, list[dict[str, Any]]],
    first: dict[str, float],
    longest: dict[str, tuple[float, float]],
) -> list[Target]:
    """Return the targets, with what was measured."""
    ours, theirs = steps["64 wide, 1 + 1 layers"]
    soon = [find_when_learned(run) or float("inf") for run in tasks["reverse, nine letters"]]
    targets = [
        Target("64 wide: PyTorch's time for a step over ours", median_ratio(theirs, ours), 1.0),
        Target("reverse nine letters to 98%, in s", median(soon), 5.0, at_most=True),
        Target("first step of reversing, in s", first["reverse"], 0.5, at_most=True),
        Target(
            "first step in the world, in s",
            first["world"],
            0.5,
            at_most=True,
            reason="Its 20,000 sentences are written first, because the vocabulary is built from them.",
        ),
        *(
            Target(f"{name}: longest task, processor time, in ms", work, 50, at_most=True)
            for name, (work, _) in longest.items()
        ),
    ]
    for name, seconds, share in (
        ("the world, 3,600 steps", 60.0, 0.95),
        ("the world, 9,000 steps", 180.0, 0.98),
    ):
        runs = tasks[name]
        targets += [
            Target(f"{name}, in s", median(r["seconds"] for r in runs), seconds, at_most=True),
            Target(f"{name}, right", median(r["written"] for r in runs), share),
        ]
    return targets
