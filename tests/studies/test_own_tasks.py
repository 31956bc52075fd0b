"""The study of own tasks: what the page and the lesson say of it is what is stored."""

from pathlib import Path

from transformer_lab.studies.common.grid import load_runs
from transformer_lab.studies.own_task import own_tasks
from transformer_lab.studies.own_task.own_tasks import (
    ENOUGH,
    GRID,
    NAME,
    SEEDS,
    find_task,
    looks_at_month,
    markdown_table,
    summarize,
)
from transformer_lab.translator import Translator

ROOT = Path(__file__).parents[2]


def test_each_stored_task_has_all_its_seeds_and_stands_in_the_table_of_the_page():
    stored = [run["setting"] for run in load_runs(NAME)]
    assert all(setting in GRID for setting in stored)
    assert summarize()
    assert all(len(shares) == SEEDS for shares in summarize().values())
    page = (ROOT / "docs" / "own_task.md").read_text(encoding="utf-8")
    assert markdown_table() in page


def test_the_page_offers_what_was_learnt_with_every_seed():
    page = (ROOT / "docs" / "own_task.md").read_text(encoding="utf-8")
    offered = {name for name, shares in summarize().items() if min(shares) >= ENOUGH}
    assert "dates" in offered
    for name in summarize():
        assert callable(find_task(name))
        assert f"`{name}`" in page


def test_a_head_looks_at_the_month_where_its_largest_weight_is():
    class Record:
        source_tokens = (" 14", " Feb", " 2021", "<eos>")
        written_tokens = (" 2021", "-", "02", "-", "14", "<eos>")
        cross = (own_tasks.np.eye(4)[[[2, 0, 1, 0, 0, 3], [2, 0, 3, 0, 0, 3]]],)

    class Stub(Translator):
        def __init__(self):
            pass

        def attend(self, source):
            return Record()

    assert looks_at_month(Stub(), ["14 Feb 2021"]) == [[1.0, 0.0]]
