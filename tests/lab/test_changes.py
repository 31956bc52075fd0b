"""What a reader changes in a model, as Python reads it and makes weights of it."""

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.lab.changes import Changes, Point, apply_shares

HEAD = Head("cross", 1, 2)
RNG = np.random.default_rng(7)


def row_of(count: int, seen: int) -> np.ndarray:
    """A row of weights of which the first `seen` sum to 1, and the others are 0."""
    row = np.zeros(count)
    row[:seen] = RNG.dirichlet(np.ones(seen))
    return row


def by_hand(own: list[float], shares: dict[int, float], seen: int) -> list[float]:
    """One word after the other, as one would do it on paper."""
    whole = sum(shares.values())
    free = [key for key in range(seen) if key not in shares]
    if whole > 1 or not free:
        shares = {key: share / whole for key, share in shares.items()}
    left = 1 - sum(shares.values())
    theirs = sum(own[key] for key in free)
    row = [0.0] * len(own)
    for key in free:
        row[key] = left * own[key] / theirs if theirs else left / len(free)
    for key, share in shares.items():
        row[key] = share
    return row


@pytest.mark.parametrize("seed", range(40))
def test_the_words_that_were_given_nothing_divide_the_rest_as_before(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    seen = int(rng.integers(2, count + 1))
    own = row_of(count, seen)
    keys = rng.choice(seen, size=int(rng.integers(1, seen + 1)), replace=False)
    shares = {int(key): float(rng.integers(1, 101)) / 100 for key in keys}
    row = apply_shares(own, shares, seen)
    np.testing.assert_allclose(row, by_hand(list(own), shares, seen), atol=1e-12)
    assert row.sum() == pytest.approx(1)
    assert row.min() >= 0
    assert not row[seen:].any()


@pytest.mark.parametrize(
    ("own", "shares", "seen", "expected"),
    [
        ([0.5, 0.25, 0.25], {0: 0.0}, 3, [0, 0.5, 0.5]),
        ([0.5, 0.25, 0.25], {0: 1.0}, 3, [1, 0, 0]),
        ([1, 0, 0], {0: 0.5}, 3, [0.5, 0.25, 0.25]),  # the others had nothing: evenly
        ([1, 0, 0], {0: 0.5}, 2, [0.5, 0.5, 0]),  # of those that can be seen
        ([0.5, 0.25, 0.25], {0: 0.9, 1: 0.6}, 3, [0.6, 0.4, 0]),  # more than the whole
        ([0.5, 0.5], {0: 0.2, 1: 0.2}, 2, [0.5, 0.5]),  # less, and nobody else is there
        ([0.7, 0.3], {0: 0.0, 1: 0.0}, 2, [0.7, 0.3]),  # nothing for anybody
        ([1, 0, 0], {0: 0.25}, 1, [1, 0, 0]),  # alone in its row
    ],
)
def test_shares_at_the_edges(own, shares, seen, expected):
    row = apply_shares(np.array(own, dtype=float), shares, seen)
    np.testing.assert_allclose(row, expected, atol=1e-12)


def test_a_patch_has_the_other_rows_as_they_are_and_leaves_the_record_alone():
    record = make_record()
    before = record.weights(HEAD).copy()
    points = (Point(HEAD, 3, 4, 0.5), Point(HEAD, 3, 1, 0.25), Point(Head("decoder", 0, 0), 2, 1))
    patch = Changes(points=points).patch(record)
    assert set(patch) == {HEAD, Head("decoder", 0, 0)}
    expected = before.copy()
    expected[3] = by_hand(list(before[3]), {4: 0.5, 1: 0.25}, 7)
    np.testing.assert_allclose(patch[HEAD], expected, atol=1e-6)
    np.testing.assert_array_equal(patch[Head("decoder", 0, 0)][2], np.eye(5)[1])
    np.testing.assert_array_equal(record.weights(HEAD), before)
    assert Changes(mute=(HEAD,)).patch(record) == {}


def test_a_decoder_shares_among_the_words_that_it_has_read():
    record = make_record()
    head = Head("decoder", 1, 0)
    weights = Changes(points=(Point(head, 2, 2, 0.0),)).patch(record)[head]
    assert weights[2].sum() == pytest.approx(1)
    assert not weights[2, 3:].any()


@pytest.mark.parametrize(
    ("address", "points"),
    [
        ("c2.3:3:4", [Point(HEAD, 3, 4, 1.0)]),
        ("c2.3:3:4:0.50", [Point(HEAD, 3, 4, 0.5)]),
        ("c2.3:3:4:0,c2.3:3:5:1.00", [Point(HEAD, 3, 5, 1.0)]),
        ("c2.3:3:4,c2.3:3:5:0.50", [Point(HEAD, 3, 5, 0.5)]),
        ("c2.3:3:4:0.25,c2.3:3:5:0.50", [Point(HEAD, 3, 4, 0.25), Point(HEAD, 3, 5, 0.5)]),
        ("c2.3:3:4:0.25,c2.3:3:4:0.50", [Point(HEAD, 3, 4, 0.5)]),
        ("c2.3:3:4,c2.3:2:5", [Point(HEAD, 3, 4), Point(HEAD, 2, 5)]),
        ("", []),
    ],
)
def test_of_an_address_the_later_points_override_the_earlier_ones(address, points):
    changes = Changes.from_address({"point": address, "mute": "c2.3,e1.1,c2.3"})
    assert list(changes.points) == points
    assert changes.mute == (HEAD, Head("encoder", 0, 0))


@pytest.mark.parametrize(
    "text", ["c2.3", "c2.3:1", "c2.3:-1:2", "c2.3:1:2:1.5", "c2.3:1:2:.5", "x1.1:1:2"]
)
def test_a_point_that_is_none_is_an_error_that_says_how_one_looks(text, as_users_run_it):
    expected = r"point of start is .*; expected head:query:key:share, such as \"e2.3:10:4:0.50\""
    with pytest.raises(ValueError, match=expected):
        Changes.from_address({"point": text})


def test_what_goes_to_the_page_comes_back_the_same():
    changes = Changes((HEAD, Head("encoder", 0, 1)), (Point(HEAD, 3, 4, 0.25), Point(HEAD, 0, 1)))
    assert Changes.from_page(changes.to_page()) == changes
    assert Changes.from_page({"mute": [], "points": []}) == Changes()
