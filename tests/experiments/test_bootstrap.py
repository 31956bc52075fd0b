"""The bootstrap interval of a mean, beside a plain loop."""

import random

import numpy as np
import pytest

from transformer_lab.experiments.bootstrap import mean_interval


def test_it_is_that_of_a_plain_loop():
    values = np.random.default_rng(3).exponential(size=61)
    draw = random.Random(5)
    means = sorted(np.mean(draw.choices(values.tolist(), k=61)) for _ in range(4_000))
    low, high = mean_interval(values)
    assert low < values.mean() < high
    assert low == pytest.approx(means[100], abs=0.05)
    assert high == pytest.approx(means[-100], abs=0.05)


def test_another_seed_draws_others_and_equal_values_leave_no_doubt():
    values = np.random.default_rng(7).normal(size=37)
    assert mean_interval(values, seed=0) == mean_interval(values)
    assert mean_interval(values, seed=1) != mean_interval(values)
    assert mean_interval(np.full(11, 0.25)) == (0.25, 0.25)
