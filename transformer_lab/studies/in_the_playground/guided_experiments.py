"""The playground's guided experiments with ten seeds: does each show what it claims, and how often?

    python -m transformer_lab.studies.in_the_playground.guided_experiments

The models are trained on the playground's page, as a reader trains them, so a run needs Chromium.
Each run stores the share of 512 unseen examples that the model writes correctly (`written`), and
the share that it gets right with teacher forcing (`exact`). It also stores the last batch's `loss`,
and `learned_at`, the first step at which 98% of 64 unseen examples are correct (None if never).
WebAssembly gives the same results on every processor, so the runs can be repeated on another
machine.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median
from typing import Any

from transformer_lab.config.browser import find_browser
from transformer_lab.lab.playground_page import playground
from transformer_lab.studies.common.grid import (
    Setting,
    hash_setting,
    load_runs,
    run_study_command,
)

NAME = "guided_experiments"
ENOUGH = 0.98
SEEDS = range(10)
EXPERIMENTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "answer": ("reverse", {}, {"mask": False}),
    "order": ("reverse", {}, {"positions": "none"}),
    "sorting": ("sort", {}, {"positions": "none"}),
    "root": ("reverse", {"heads": 1, "width": 64}, {"root": False}),
    "memory": ("reverse", {}, {"data": 100}),
    "bigger": ("reverse", {}, {"width": 128}),
    "heads": ("reverse", {}, {"heads": 1}),
    "norm": ("reverse", {"layers": 4}, {"norm": "none"}),
    "warmup": ("reverse", {"layers": 4, "rate": 0.01}, {"warmup": False}),
    "rate": ("reverse", {}, {"rate": 0.03}),
    "residual": ("reverse", {"layers": 4}, {"residual": False}),
    "french": ("world", {}, {}),
}
"""The experiments of `page/playground/experiments.js`.

Each has a task, the settings of both models, and the changes made only to the second model.
"""
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("reverse", {"norm": "none"}),
    ("reverse", {"residual": False}),
    ("reverse", {"warmup": False}),
    ("reverse", {"smoothing": 0.1}),
    ("reverse", {"curve": "root"}),
    ("partner", {}),
    ("partner", {"heads": 1}),
    ("brackets", {}),
    ("brackets", {"heads": 1}),
    ("reverse", {"heads": 1, "width": 64, "root": False, "rate": 0.001, "steps": 3000}),
]
"""Further models that the experiments suggest trying next, as (task, changed settings)."""


def list_models() -> list[tuple[str, dict[str, Any]]]:
    """List the models to train, without duplicates, as (task, changed settings)."""
    models: list[tuple[str, dict[str, Any]]] = []
    for task, settings, change in EXPERIMENTS.values():
        for model in ((task, settings), (task, {**settings, **change})):
            if model not in models:
                models.append(model)
    return models + OTHERS


GRID: list[Setting] = [
    {"task": task, "changes": changes, "seed": seed}
    for seed in SEEDS
    for task, changes in list_models()
]
CHANGES = {
    "answer": "no mask",
    "order": "no positions",
    "sorting": "no positions, and the task is to sort",
    "root": "no division by √d_k (both models have one head, 64 wide)",
    "memory": "100 examples again and again",
    "bigger": "128 wide and not 32",
    "heads": "one head and not four",
    "norm": "no LayerNorm (both models have four layers on each side)",
    "warmup": "no warm-up (both models have four layers on each side and a rate of 0.01)",
    "rate": "ten times the learning rate",
    "residual": "no residual connections (both models have four layers on each side)",
    "french": "one model, on the world's sentences",
}
"""A short description of the change in each experiment's second model."""
SMALL: list[Setting] = [
    {"task": "reverse", "changes": {"width": 16, "steps": 30}, "seed": seed} for seed in range(2)
]
"""Very short runs; the tests repeat one of them."""
LEARN = """async ({ task, changes, seed }) => {
    const moments = [];
    const watch = ({ step, written }) => moments.push([step, written]);
    return { ...(await transformerLab.learn({ task, seed, ...changes, watch })), moments };
}"""


@contextmanager
def open_playground() -> Iterator[Any]:
    """Open the playground in Chromium and yield it as a Playwright page.

    Raises:
        RuntimeError: If no browser is found.
    """
    # Imported here, because it is needed only to repeat the study.
    from playwright.sync_api import sync_playwright

    path = find_browser()
    if path is None:
        raise RuntimeError(
            "no browser found; run apt-get install chromium, or set CHROMIUM to a browser's path"
        )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(0)
        page.goto(playground().to_html(Path(folder) / "play.html").as_uri())
        page.wait_for_selector("[data-ready=true]")
        yield page
        browser.close()


def run(setting: Setting) -> dict[str, Any]:
    """Train one model in the playground's page, and return its scores, step count and `learned_at`."""
    with open_playground() as page:
        found = page.evaluate(LEARN, setting)
    learned_at = next((step for step, share in found["moments"] if share >= ENOUGH), None)
    kept = {name: round(found[name], 4) for name in ("written", "exact", "loss")}
    return {"steps": found["steps"], **kept, "learned_at": learned_at}


def find_results(task: str, changes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stored results of one model, one for each seed."""
    wanted = [{"task": task, "changes": changes, "seed": seed} for seed in SEEDS]
    stored = {run["hash"]: run["result"] for run in load_runs(NAME)}
    return [stored[name] for name in map(hash_setting, wanted) if name in stored]


def describe_results(results: list[dict[str, Any]]) -> list[str]:
    """Return two table cells for a model: its accuracy, and the step at which it reached 98%."""
    shares = [result["written"] for result in results]
    learned = sorted(result["learned_at"] for result in results if result["learned_at"] is not None)
    spread = f"{mean(shares):.1%} ({min(shares):.1%} to {max(shares):.1%})"
    when = f"step {median(learned):,.0f}" if learned else "never"
    few = f", in {len(learned)} of {len(results)}" if 0 < len(learned) < len(results) else ""
    return [spread, when + few]


def markdown_table() -> str:
    """Return a Markdown table of the results of all experiments and of `OTHERS`."""
    lines = [
        "| what's different | without the change | 98% at | with the change | 98% at |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, (task, settings, change) in EXPERIMENTS.items():
        cells = describe_results(find_results(task, settings))
        cells += (
            describe_results(find_results(task, {**settings, **change})) if change else ["", ""]
        )
        lines.append(f"| {CHANGES[name]} | {' | '.join(cells)} |")
    for task, changes in OTHERS:
        text = ", ".join(f"`{key}: {json.dumps(value)}`" for key, value in changes.items())
        cells = describe_results(find_results(task, changes))
        model = f"{task} with {text}" if text else f"{task} as usual"
        lines.append(f"| {model} | {' | '.join(cells)} | | |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
