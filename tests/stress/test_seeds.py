"""A lesson run with other seeds: which cells get them, and what becomes of its asserts."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools.build_notebooks import written
from tools.stress.seeds import SHIFT, failures, margins, run_lesson

COMPARED = """\
import random
import numpy as np, torch

def drawn(seed):
    torch.manual_seed(seed)
    return [
        torch.rand(1).item(),
        torch.rand(1, generator=torch.Generator().manual_seed(seed)).item(),
        np.random.default_rng(seed).random(),
        random.Random(seed).random(),
    ]

first = drawn(3)"""
TRAINS = """\
second = drawn(3)
weight = torch.zeros(1, requires_grad=True)
weight.sum().backward()
torch.optim.SGD([weight], lr=0.5).step()
assert weight.detach() < 0.25
assert all(a < b for a, b in ((1, 3), (2, 7)))
assert not 5 < 2
assert second == first"""
AFTER = f"""\
third = drawn(3)
assert third == first
assert second == drawn(3 + {SHIFT})
missing"""


@pytest.mark.thorough(caught_by=["test_an_assert_that_fails_is_below_its_bound"])
@pytest.mark.slow
def test_only_uncompared_cells_get_other_seeds_and_no_assert_ends_the_run(tmp_path):
    cells = [
        new_code_cell(COMPARED, id="compared"),
        new_code_cell(TRAINS, id="trains", metadata={"tags": ["nbval-ignore-output"]}),
        new_code_cell(AFTER, id="after"),
    ]
    path = tmp_path / "01_small.ipynb"
    path.write_text(written(new_notebook(cells=cells)))

    run = run_lesson(path, 1, "native")

    assert run["trains"] == ["trains"]
    assert failures([run]) == {
        ("trains", "second == first"): 1,
        ("after", "NameError: name 'missing' is not defined"): 1,
    }
    nearest = {(cell, text): near for cell, text, near, _ in margins([run])}
    assert nearest == {
        ("trains", "weight.detach() < 0.25"): 0.75,
        ("trains", "a < b"): 2.0,
        ("trains", "5 < 2"): 3.0,
    }


def test_an_assert_that_fails_is_below_its_bound():
    apart = {"a > b": -0.5}
    one = {"cell": "c", "assert": "a > b", "holds": False, "distances": apart}
    runs = [{"asserts": [one], "errors": {}}, {"asserts": [], "errors": {}}]
    assert failures(runs) == {("c", "a > b"): 1}
    assert [row[:3] for row in margins(runs)] == [("c", "a > b", -0.5)]
