"""Intervals over a few seeds, by hand."""

import pytest

from transformer_lab.studies.common.intervals import mean_difference, t_interval


def test_the_interval_over_seeds_is_that_of_t():
    low, high = t_interval([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    low, high = t_interval([4.0] * 5)
    assert low == high == 4
    with pytest.raises(ValueError, match="number of values is 2; expected one of"):
        t_interval([1.0, 2.0])


def test_a_difference_by_hand():
    # Differences 1 to 5: mean 3, standard deviation √2.5, 2.776 · √2.5 / √5 = 1.963.
    mean, (low, high) = mean_difference([2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert (mean, low, high) == pytest.approx((3, 1.0370, 4.9630), abs=1e-4)
