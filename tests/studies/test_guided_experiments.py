"""The playground's guided experiments: the study has those of the page, and the documents its numbers."""

import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tools.findings.finding import read_findings
from transformer_lab.lab.page.join import FOLDER
from transformer_lab.studies.common import store
from transformer_lab.studies.in_the_playground import guided_experiments
from transformer_lab.studies.in_the_playground.guided_experiments import (
    CHANGES,
    EXPERIMENTS,
    GRID,
    NAME,
    SEEDS,
    SMALL,
    describe_results,
    find_results,
    list_models,
    markdown_table,
    run,
)

ROOT = Path(__file__).parents[2]


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == [*SMALL, *GRID]
    assert stored["command"] == f"python -m {guided_experiments.__name__}"
    assert len(SEEDS) == 10


def test_the_experiments_are_those_of_the_page():
    text = (FOLDER / "playground" / "experiments.js").read_text(encoding="utf-8")
    assert list(EXPERIMENTS) == re.findall(r'^    name: "(\w+)"', text, re.MULTILINE)
    assert list(CHANGES) == list(EXPERIMENTS)


def test_a_table_says_the_spread_and_how_many_learned():
    results = [{"written": share, "learned_at": at} for share, at in ((0.5, None), (1.0, 300))]
    assert describe_results(results) == ["75.0% (50.0% to 100.0%)", "step 300, in 1 of 2"]
    assert describe_results(results[:1]) == ["50.0% (50.0% to 50.0%)", "never"]


def test_the_document_has_the_stored_table():
    assert markdown_table() in (ROOT / "docs" / "own_task.md").read_text(encoding="utf-8")


def test_the_findings_have_the_stored_values():
    """Each list has the runs of one model, or says when it had learned compared with the usual one."""
    models = {str(model): find_results(*model) for model in list_models()}
    usual = [result["learned_at"] for result in models[str(("reverse", {}))]]
    lists = []
    for results in models.values():
        lists += [[round(100 * r[name], 1) for r in results] for name in ("written", "exact")]
        if all(at := [result["learned_at"] for result in results]):
            pairs = list(zip(at, usual, strict=True))
            lists += [[round(a / b, 3) for a, b in pairs], [b - a for a, b in pairs]]
    findings = [finding for finding in read_findings() if finding.study == NAME]
    assert len(findings) == 12
    for finding in findings:
        for test in finding.measurements:
            assert list(test.values) in lists, (finding.number, test.what)


@pytest.mark.slow
def test_a_small_run_gives_what_is_stored():
    """On any processor: what trains is WebAssembly."""
    stored = {run["hash"]: run["result"] for run in store.load(NAME)["runs"]}
    # A process of its own, as the grid has: other tests have a browser in this one.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = pool.submit(run, SMALL[0]).result()
    kept = stored[guided_experiments.hash_setting(SMALL[0])]
    assert found == pytest.approx(kept, abs=2e-4)
