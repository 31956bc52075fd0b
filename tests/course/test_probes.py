"""What a probe says is true of the data, and it is silent where it is not."""

import numpy as np
import pytest

from transformer_lab.course.judge import probes
from transformer_lab.course.judge.cases import random_array, random_weights
from transformer_lab.course.judge.formatting import format_table
from transformer_lab.course.judge.probes.weights import contradicts_order

X = random_array(3, 5, 7, seed=1)
SQUARE = random_array(5, 5, seed=2)
ROWS = random_weights(5, 7, seed=3)
WHOLE = np.arange(15).reshape(3, 5) * 7 % 11
TRUTH = np.tril(np.ones((5, 5), dtype=bool))
WORDS = np.array(["lo", "w", "e", "r"])

SAID = [
    (probes.find_transposed_axes, X.transpose(0, 2, 1), X, "axes 1 and 2 are swapped"),
    (probes.find_transposed_axes, SQUARE.T, SQUARE, "axes 0 and 1 are swapped"),
    (probes.find_transposed_axes, random_array(5, 3, 7), X, "The axes are transposed, and some"),
    (probes.find_lost_axis, X.mean(axis=1), X, "Only the mean along axis 1 is left"),
    (
        probes.find_lost_axis,
        X[:, :, -1],
        X,
        "Only the last entry along axis 2 (the last) is left",
    ),
    (probes.find_lost_axis, random_array(3, 7), X, "Axis 1, which has length 5, is missing"),
    (
        probes.find_extra_axis,
        X[:, None],
        X,
        "Axis 1, which has length 1, should not be there. Without it, everything is right",
    ),
    (
        probes.find_extra_axis,
        X,
        X.sum(axis=-1),
        "The last step is missing: take the sum along axis 2 (the last)",
    ),
    (
        probes.find_missing_entries,
        X[:, 1:],
        X,
        "The first entry along axis 1 is missing; the rest is right",
    ),
    (
        probes.find_missing_entries,
        np.array([1, 5, 7]),
        np.array([5, 7]),
        "The first entry should not be there",
    ),
    (probes.find_missing_entries, X.repeat(2, 1), X, "along axis 1 occurs 2 times in a row"),
    (
        probes.find_left_out_entries,
        WHOLE[0, [0, 1, 3, 4]],
        WHOLE[0],
        "1 entry is missing; the others are right",
    ),
    (
        probes.find_wrong_length,
        WHOLE[:, :3],
        WHOLE,
        "Axis 1 (the last) has length 3, which is too short by 2",
    ),
    (probes.find_wrong_length, WORDS, WORDS[:2], "There are 2 extra entries"),
    (probes.find_reshape, X.reshape(15, 7), X, "are right, but the shape is not"),
    (probes.find_nan_or_infinity, np.where(X > 1, np.nan, X), X, "NaN"),
    (
        probes.find_nan_or_infinity,
        np.where(X > 1, -1e9, X),
        np.where(X > 1, -np.inf, X),
        "should be infinite, but are not",
    ),
    (probes.find_constant_factor, X * np.sqrt(5), X, "√5 times what they should be"),
    (probes.find_constant_factor, X / 3, X, "1/3 times what they should be"),
    (probes.find_constant_factor, -X, X, "Every number has the wrong sign"),
    (probes.find_constant_factor, 0 * X, X, "All numbers are 0"),
    (probes.find_constant_offset, WHOLE - 2, WHOLE, "too small by 2"),
    (probes.find_elementwise_change, X**2, X, "Each number is the square of the right one"),
    (probes.find_elementwise_change, 1 - ROWS, ROWS, "Each number is 1 minus the right one"),
    (probes.find_elementwise_change, np.log(ROWS), ROWS, "the natural logarithm"),
    (probes.find_wrong_signs, np.where(X > 1, -X, X), X, "signs are wrong"),
    (
        probes.find_shift,
        np.roll(X, 1, 1),
        X,
        "along axis 1 are shifted forward by 1, so the last one is at the front",
    ),
    (
        probes.find_shift,
        X[:, :, ::-1],
        X,
        "The entries along axis 2 (the last) are in reverse order",
    ),
    (
        probes.find_shift,
        np.concatenate([X[:, 1:], X[:, :1] * 0], 1),
        X,
        "The entries along axis 1 come 1 place too early",
    ),
    (
        probes.find_reordering,
        X[[1, 0, 2]],
        X,
        "The entries along axis 0 are right, but in the wrong order",
    ),
    (
        probes.find_reordering,
        WORDS[[2, 0, 1, 3]],
        WORDS,
        "The entries are right, but in the wrong order",
    ),
    (
        probes.find_wrong_sums,
        ROWS / ROWS.sum(0),
        ROWS,
        "The sums along axis 1 (the last) should be 1, but instead, those along axis 0 are 1",
    ),
    (probes.find_wrong_sums, 3 * ROWS, ROWS, "If you divide by them, the result is right"),
    (
        probes.find_wrong_sums,
        np.log(ROWS) + 2,
        ROWS,
        "The softmax is missing: apply it to these numbers along axis 1",
    ),
    (probes.find_wrong_sums, ROWS / 5, ROWS, "should be 1, but only the sum of all numbers is"),
    (
        probes.find_row_factors,
        X * random_array(3, 5, 1),
        X,
        "is multiplied by a different wrong factor",
    ),
    (
        probes.find_equal_lines,
        np.repeat(X[:1], 3, 0),
        X,
        "All entries along axis 0 are equal to the first one, which is right",
    ),
    (probes.find_wrong_booleans, ~TRUTH, TRUTH, "True and False are swapped"),
    (
        probes.find_wrong_booleans,
        TRUTH | np.eye(5, k=1, dtype=bool),
        TRUTH,
        "but 4 other entries should be False as well",
    ),
    (
        probes.find_wrong_booleans,
        TRUTH & ~np.eye(5, dtype=bool),
        TRUTH,
        "but 5 other entries should be True as well",
    ),
    (probes.find_running_sums, X.cumsum(1), X, "running sums of the right ones along axis 1"),
    (
        probes.find_wrong_part,
        np.where(np.arange(3)[:, None, None] == 0, X, 9),
        X,
        "Only the first entry along axis 0",
    ),
    (probes.find_wrong_part, SQUARE + np.eye(5), SQUARE, "Only numbers on the diagonal are wrong"),
    (probes.find_wrong_part, np.triu(SQUARE), SQUARE, "Only numbers below the diagonal are wrong"),
    (
        probes.find_word_differences,
        np.array(["low", "e", "r"]),
        WORDS,
        "The list lacks 'lo' and 'w', and should not contain 'low'",
    ),
    (probes.find_one_sided_errors, X + 1 + X**2, X, "All numbers are too large"),
]


@pytest.mark.parametrize(("probe", "got", "want", "words"), SAID)
def test_a_probe_says_what_is_true(probe, got, want, words):
    assert words in probe(got, want)


EVERY = [*probes.SHAPE_PROBES, *probes.NUMBER_PROBES, *probes.PLACE_PROBES]
ARRAYS = [X, SQUARE, ROWS, WHOLE, TRUTH, WORDS, np.array(2.5), np.zeros(3), np.zeros((0, 3))]


@pytest.mark.parametrize("want", ARRAYS)
def test_every_probe_is_silent_about_what_is_right(want):
    assert [probe.__name__ for probe in EVERY if probe(want.copy(), want)] == []


UNLIKE = (probes.find_one_sided_errors, probes.find_wrong_sums, probes.find_wrong_part)
"""These find something true of any two arrays of one shape."""


@pytest.mark.parametrize("want", [X, SQUARE, random_array(7, seed=5)])
def test_no_probe_sees_a_pattern_in_noise(want):
    for seed in range(20):
        noise = random_array(*want.shape, seed=100 + seed)
        found = [p.__name__ for p in EVERY if p not in UNLIKE and p(noise, want)]
        assert found == []


@pytest.mark.parametrize("got", ARRAYS)
@pytest.mark.parametrize("want", ARRAYS)
def test_no_probe_stops_at_any_pair(got, want):
    for probe in EVERY:
        assert probe(got, want) is None or probe(got, want)


def test_a_table_is_small_and_shows_the_place():
    lines = format_table("got", random_array(2, 11, 13), (1, 7, 9))
    assert len(lines) == 3
    assert lines[0].startswith("got[1]")
    assert f"{random_array(2, 11, 13)[1, 7, 9]:.5g}" in "\n".join(lines)


def test_equal_weights_contradict_no_order():
    right = np.array([[0.0, 1.0, 0.0], [0.2, 0.2, 0.6]])
    assert not contradicts_order(np.array([[0.1, 0.7, 0.2], [0.3, 0.1, 0.6]]), right)
    assert contradicts_order(np.array([[0.1, 0.7, 0.2], [0.7, 0.2, 0.1]]), right)
