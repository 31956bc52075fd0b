"""The study of own tasks: what the page and the lesson say of it is what is stored."""

import re
from pathlib import Path

from transformer_lab.data import own_task
from transformer_lab.data.world.lexicon import NOUNS
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


def test_the_table_of_the_page_is_that_of_the_stored_runs():
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
    assert all(callable(find_task(name)) for name in offered)
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert (len(rows), set(rows)) == (len(offered), offered)


def test_a_task_that_one_seed_has_not_learnt_is_not_in_the_table(monkeypatch):
    shares = {"dates": [1.0, ENOUGH, 1.0], "sums": [1.0, 0.949, 1.0]}
    monkeypatch.setattr(own_tasks, "summarize", lambda: shares)
    assert "`dates`" in markdown_table()
    assert "`sums`" not in markdown_table()


def wrong_answers(task):
    """What the stored runs of a task kept of their wrong answers: per run, triples of texts."""
    return [run["result"]["wrong"] for run in load_runs(NAME) if run["setting"]["task"] == task]


def test_the_numbers_that_come_out_wrong_are_short_as_the_page_says():
    tasks = ("numbers_in_english", "numbers_in_german", "numbers_in_french")
    sources = [one[0] for task in tasks for run in wrong_answers(task) for one in run]
    assert "61" in sources
    assert sum(len(source) > 2 for source in sources) <= 1


def test_what_is_not_learnt_fails_as_the_page_says():
    shares = summarize()
    assert max(shares["sums"]) <= 0.002
    assert ["1038"] * 3 in [[written for _, written, _ in run] for run in wrong_answers("sums")]
    assert ["89 ft 4.5 in", "2700 cm", "2724 cm"] in wrong_answers("heights")[0]
    assert max(shares["heights"]) < 0.03
    assert [round(x, 3) for x in shares["from_roman"]] == [0.98, 1.0, 0.945]
    assert min(shares["numbers_without_comma"]) == 0.939
    assert all(0.69 < share < 0.75 for share in shares["phrasebook"])
    assert len(own_task.PHRASES) * len(NOUNS) == 736
    phrases = [re.escape(english).replace(r"\{\}", "[a-z]+") for english, _ in own_task.PHRASES]
    sources = [pair.source for pair in own_task.draw_pairs(own_task.phrasebook, 20_000)]
    found = sum(any(re.fullmatch(phrase, source) for phrase in phrases) for source in sources)
    assert 0 < found < 0.1 * len(sources)


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
