"""Intervals over a few seeds, by hand."""

import pytest

from transformer_lab.studies.common.intervals import T, mean_difference, t_interval, wilson_interval


def test_the_interval_over_seeds_is_that_of_t():
    low, high = t_interval([1.0, 2.0, 3.0])
    assert (low, high) == pytest.approx((2 - 2.484, 2 + 2.484), abs=1e-3)
    low, high = t_interval([4.0] * 5)
    assert low == high == 4
    with pytest.raises(ValueError, match="the sample has 2 values; expected 3 to 30"):
        t_interval([1.0, 2.0])


def test_ts_quantiles_fall_towards_the_normal_ones():
    assert [T[n] for n in (3, 10, 11, 30)] == [4.303, 2.262, 2.228, 2.045]
    assert list(T.values()) == sorted(T.values(), reverse=True)
    assert len(T) == 28


def test_the_interval_of_a_share_is_wilsons():
    # For half of ten: (0.5 + 0.19207 ± 1.96 · √(0.025 + 0.0096036)) / 1.38416.
    assert wilson_interval(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    # With no hit the lower end is 0, and the upper one is z² / (n + z²).
    assert wilson_interval(0, 13) == pytest.approx((0, 3.8416 / 16.8416), abs=1e-9)
    low, high = wilson_interval(13, 13)
    assert (low, high) == pytest.approx((13 / 16.8416, 1), abs=1e-9)
    for hits in (3, -1):
        with pytest.raises(
            ValueError, match=f"hits is {hits}; expected an integer from 0 to runs=2"
        ):
            wilson_interval(hits, 2)
    with pytest.raises(ValueError, match="runs is 0; expected an integer of at least 1"):
        wilson_interval(0, 0)


def test_a_difference_by_hand():
    # Differences 1 to 5: mean 3, standard deviation √2.5, 2.776 · √2.5 / √5 = 1.963.
    mean, (low, high) = mean_difference([2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0, 4.0, 5.0])
    assert (mean, low, high) == pytest.approx((3, 1.0370, 4.9630), abs=1e-4)
