"""What a probe says is true of the data, and it is silent where it is not."""

import numpy as np
import pytest

from transformer_lab.course import probes
from transformer_lab.course.cases import draw, weights
from transformer_lab.course.words import table

X = draw(3, 5, 7, seed=1)
SQUARE = draw(5, 5, seed=2)
ROWS = weights(5, 7, seed=3)
WHOLE = np.arange(15).reshape(3, 5) * 7 % 11
TRUTH = np.tril(np.ones((5, 5), dtype=bool))
WORDS = np.array(["lo", "w", "e", "r"])

SAID = [
    (probes.other_axes, X.transpose(0, 2, 1), X, "axes 1 and 2 have changed places"),
    (probes.other_axes, SQUARE.T, SQUARE, "axes 0 and 1 have changed places"),
    (probes.other_axes, draw(5, 3, 7), X, "the axes stand in another order"),
    (probes.lost_axis, X.mean(axis=1), X, "this is the mean along axis 1"),
    (probes.lost_axis, X[:, :, -1], X, "this is the last alone of those along axis 2 (the last)"),
    (probes.lost_axis, draw(3, 7), X, "axis 1, of length 5, is gone"),
    (probes.extra_axis, X[:, None], X, "axis 1, of length 1, and without it all is right"),
    (probes.extra_axis, X, X.sum(axis=-1), "the sum along axis 2 (the last) would be right"),
    (probes.other_length, X[:, 1:], X, "axis 1 has length 4, 1 too few: the first one is missing"),
    (
        probes.other_length,
        np.array([1, 5, 7]),
        np.array([5, 7]),
        "the first one should not be there",
    ),
    (probes.reshaped, X.reshape(15, 7), X, "in another shape"),
    (probes.not_a_number, np.where(X > 1, np.nan, X), X, "NaN"),
    (probes.not_a_number, np.where(X > 1, -1e9, X), np.where(X > 1, -np.inf, X), "should be ±∞"),
    (probes.factor, X * np.sqrt(5), X, "√5 times as large"),
    (probes.factor, X / 3, X, "1/3 times as large"),
    (probes.factor, -X, X, "right but for the sign, everywhere"),
    (probes.factor, 0 * X, X, "all numbers are 0"),
    (probes.offset, WHOLE - 2, WHOLE, "too small by 2"),
    (probes.changed_alike, X**2, X, "the square of what is asked"),
    (probes.changed_alike, 1 - ROWS, ROWS, "1 minus what is asked"),
    (probes.changed_alike, np.log(ROWS), ROWS, "the natural logarithm"),
    (probes.signs, np.where(X > 1, -X, X), X, "signs are not"),
    (probes.shifted, np.roll(X, 1, 1), X, "moved on by 1 along axis 1"),
    (probes.shifted, X[:, :, ::-1], X, "in the opposite order along axis 2 (the last)"),
    (
        probes.shifted,
        np.concatenate([X[:, 1:], X[:, :1] * 0], 1),
        X,
        "1 place too early along axis 1",
    ),
    (probes.reordered, X[[1, 0, 2]], X, "the right ones along axis 0, in another order"),
    (probes.reordered, WORDS[[2, 0, 1, 3]], WORDS, "the right ones, in another order"),
    (probes.sums, ROWS / ROWS.sum(0), ROWS, "sums to 1 along axis 0; it should along axis 1"),
    (probes.sums, 3 * ROWS, ROWS, "divided by them, it would be right"),
    (probes.sums, np.log(ROWS) + 2, ROWS, "before the softmax along axis 1"),
    (probes.sums, ROWS / 5, ROWS, "all of it together sums to 1"),
    (
        probes.normalised_elsewhere,
        X * draw(3, 5, 1),
        X,
        "is right up to a factor of its own",
    ),
    (
        probes.alike,
        np.repeat(X[:1], 3, 0),
        X,
        "all along axis 0 are as the first one, which is right",
    ),
    (probes.inverted, ~TRUTH, TRUTH, "True and False have changed places"),
    (probes.inverted, TRUTH | np.eye(5, k=1, dtype=bool), TRUTH, "at 4 other places"),
    (probes.inverted, TRUTH & ~np.eye(5, dtype=bool), TRUTH, "5 are missing"),
    (probes.accumulated, X.cumsum(1), X, "running sums along axis 1"),
    (
        probes.where_wrong,
        np.where(np.arange(3)[:, None, None] == 0, X, 9),
        X,
        "only the first along axis 0",
    ),
    (probes.where_wrong, SQUARE + np.eye(5), SQUARE, "only numbers on the diagonal are wrong"),
    (probes.where_wrong, np.triu(SQUARE), SQUARE, "only numbers below the diagonal are wrong"),
    (probes.texts, np.array(["low", "e", "r"]), WORDS, "missing: lo, w; too many: low"),
    (probes.sizes, X + 1 + X**2, X, "all numbers are too large"),
]


@pytest.mark.parametrize(("probe", "got", "want", "words"), SAID)
def test_a_probe_says_what_is_true(probe, got, want, words):
    assert words in probe(got, want)


EVERY = [*probes.SHAPES, *probes.NUMBERS, *probes.PLACES]
ARRAYS = [X, SQUARE, ROWS, WHOLE, TRUTH, WORDS, np.array(2.5), np.zeros(3), np.zeros((0, 3))]


@pytest.mark.parametrize("want", ARRAYS)
def test_every_probe_is_silent_about_what_is_right(want):
    assert [probe.__name__ for probe in EVERY if probe(want.copy(), want)] == []


UNLIKE = (probes.sizes, probes.sums, probes.where_wrong)
"""These find something true of any two arrays of one shape."""


@pytest.mark.parametrize("want", [X, SQUARE, draw(7, seed=5)])
def test_no_probe_sees_a_pattern_in_noise(want):
    for seed in range(20):
        noise = draw(*want.shape, seed=100 + seed)
        found = [p.__name__ for p in EVERY if p not in UNLIKE and p(noise, want)]
        assert found == []


@pytest.mark.parametrize("got", ARRAYS)
@pytest.mark.parametrize("want", ARRAYS)
def test_no_probe_stops_at_any_pair(got, want):
    for probe in EVERY:
        assert probe(got, want) is None or probe(got, want)


def test_a_table_is_small_and_shows_the_place():
    lines = table("got", draw(2, 11, 13), (1, 7, 9))
    assert len(lines) == 3
    assert lines[0].startswith("got[1]")
    assert f"{draw(2, 11, 13)[1, 7, 9]:.5g}" in "\n".join(lines)
