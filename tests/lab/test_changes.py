"""What a reader changes in a model, as Python reads it and makes weights of it."""

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.changes import Changes, Point, apply_shares
from transformer_lab.translator import Translator

HEAD = Head("cross", 1, 2)
TIRED = FAMOUS[0].source
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


def test_a_patch_leaves_the_other_rows_and_what_it_was_given():
    record = make_record()
    own = record.weights(HEAD)[None].astype(float)
    before = own.copy()
    points = (Point(HEAD, 3, 4, 0.5), Point(HEAD, 3, 1, 0.25), Point(Head("decoder", 0, 0), 2, 1))
    patch = Changes(points=points).patch(record)
    assert set(patch) == {HEAD, Head("decoder", 0, 0)}
    expected = before.copy()
    expected[0, 3] = by_hand(list(before[0, 3]), {4: 0.5, 1: 0.25}, 7)
    np.testing.assert_allclose(patch[HEAD](own, 0), expected, atol=1e-12)
    by_steps = [patch[HEAD](own[:, [query]], query) for query in range(own.shape[1])]
    np.testing.assert_allclose(np.concatenate(by_steps, axis=1), expected, atol=1e-12)
    np.testing.assert_array_equal(own, before)
    assert Changes(mute=(HEAD,)).patch(record) == {}


def test_a_decoder_shares_among_the_words_that_it_has_read():
    record = make_record()
    head = Head("decoder", 1, 0)
    patch = Changes(points=(Point(head, 2, 2, 0.0),)).patch(record)[head]
    weights = patch(record.weights(head)[None], 0)[0]
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
    expected = r"point in start is .*; expected head:query:key:share with .*, such as 'e2.3:10:4"
    with pytest.raises(ValueError, match=expected):
        Changes.from_address({"point": text})


# With them, the famous sentence gets "elle" in place of "il".
SEVERAL = Changes(
    mute=(Head("encoder", 0, 1),),
    points=(
        Point(Head("encoder", 0, 3), 9, 1, 0.6),
        Point(Head("encoder", 1, 2), 10, 5, 0.9),
        Point(Head("encoder", 1, 2), 10, 1, 0.05),
        Point(Head("decoder", 0, 0), 5, 2, 0.7),
        Point(Head("cross", 0, 2), 3, 2, 0.3),
        Point(Head("cross", 1, 1), 8, 6, 0.8),
    ),
)


def test_of_several_changes_each_acts_on_what_those_before_it_have_left():
    """The oracle changes one head after the other, in the order in which the model computes them.

    A head's own weights are recorded with all earlier changes made. Its row is changed by hand, and
    the whole map is then a plain array in the place of the head's own.
    """
    shipped = Translator.load(device="cpu")
    found = shipped.attend(TIRED, mute=SEVERAL.mute, patch=SEVERAL.patch(shipped.attend(TIRED)))
    translation = shipped.target_tokenizer.decode(
        [shipped.target_tokenizer.ids[token] for token in found.written_tokens[:-1]]
    )
    rows: dict[tuple[Head, int], dict[int, float]] = {}
    for head, query, key, share in SEVERAL.points:
        rows.setdefault((head, query), {})[key] = share
    arrays = {}
    for (head, query), shares in rows.items():
        now = shipped.attend(TIRED, translation, mute=SEVERAL.mute, patch=arrays)
        weights = now.weights(head).copy()
        seen = query + 1 if head.kind == "decoder" else weights.shape[1]
        weights[query] = by_hand(list(weights[query]), shares, seen)
        arrays[head] = weights
    expected = shipped.attend(TIRED, translation, mute=SEVERAL.mute, patch=arrays)
    for head in found.heads():
        np.testing.assert_allclose(found.weights(head), expected.weights(head), atol=1e-5)
    assert [best for (best, _), *_ in expected.next_tokens] == list(found.written_tokens)
    # In the unchanged model these rows have other weights, so they cannot have been kept from it.
    plain = shipped.attend(TIRED, translation)
    moved = abs(found.weights(Head("cross", 1, 1)) - plain.weights(Head("cross", 1, 1)))
    assert np.delete(moved, 8, axis=0).max() > 0.05


def test_what_goes_to_the_page_comes_back_the_same():
    changes = Changes((HEAD, Head("encoder", 0, 1)), (Point(HEAD, 3, 4, 0.25), Point(HEAD, 0, 1)))
    assert Changes.from_page(changes.to_page()) == changes
    assert Changes.from_page({"mute": [], "points": []}) == Changes()
