"""The root √d_k and the size of the start: what is equal by algebra, and what is stored."""

import numpy as np
import pytest
import torch

from transformer_lab.studies.common import store
from transformer_lab.studies.scale_or_start import root_and_start
from transformer_lab.studies.scale_or_start.root_and_start import (
    D_K,
    GRID,
    NAME,
    WAYS,
    train_attention,
)


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == GRID
    assert stored["command"] == f"python -m {root_and_start.__name__}"


def test_plain_descent_with_the_root_is_that_without_it_from_a_small_start_at_a_smaller_rate():
    for run in store.load(NAME)["runs"]:
        if "same" in run["setting"]:
            assert run["result"]["apart"] < 1e-9


@pytest.mark.parametrize(
    ("one", "other"), [("root", "no root, small start"), ("no root", "root, large start")]
)
def test_two_ways_begin_with_the_same_loss(monkeypatch, one, other):
    monkeypatch.setattr(root_and_start, "STEPS", 1)
    first, second = (train_attention(way, "SGD", 0.1, 7)[0] for way in (one, other))
    assert first == pytest.approx(second, rel=1e-5)
    different = train_attention("root" if one == "no root" else "no root", "SGD", 0.1, 7)[0]
    assert different != pytest.approx(first, rel=1e-2)


def test_the_algebra_holds_step_by_step(monkeypatch):
    monkeypatch.setattr(root_and_start, "STEPS", 5)
    one = train_attention("no root", "SGD", 0.002, 3, torch.float64)
    other = train_attention("root, large start", "SGD", 0.002 * D_K**0.5, 3, torch.float64)
    np.testing.assert_allclose(one, other, rtol=1e-10)
    assert not np.allclose(
        one, train_attention("root, large start", "SGD", 0.002, 3, torch.float64), rtol=1e-6
    )


def test_each_way_is_another():
    assert len(set(WAYS.values())) == len(WAYS) == 4
