"""Python makes the same weights of a reader's changes as the engine in the page."""

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.lab.changes import Changes, Point

PATCHED = """(changes, { rows, kind, points }) => {
    const { mute, patch } = changes.makeHookOptions({ mute: [], points });
    return import('/engine/hooks.js').then(({ Hooks }) => new Hooks({ mute, patch })
        .of(kind, 1, 0).weights(2, rows).map((row) => [...row]));
}"""
READ = """(address, [text, heads]) => {
    const shape = { weights: Array.from({ length: 5 }, () => new Array(7).fill(0)) };
    const found = address.readAddress(`#point=${text}`, { heads: { cross: [[], [0, 0, shape]] } });
    return found.points;
}"""


@pytest.mark.parametrize("kind", ["encoder", "cross", "decoder"])
def test_python_and_the_page_make_the_same_weights_of_shares(kind, ask):
    """A hundred rows of shares; among them some that sum to more than 1, and rows without words left."""
    rng = np.random.default_rng(3)
    record = make_record(encoder=(2, 3), seed=5)
    head = Head(kind, 1, 2)
    own = record.weights(head)
    rows, columns = own.shape
    for _ in range(20):
        points = []
        for query in range(rows):
            seen = query + 1 if kind == "decoder" else columns
            for key in rng.choice(seen, size=int(rng.integers(0, seen + 1)), replace=False):
                points.append(Point(head, query, int(key), int(rng.integers(0, 101)) / 100))
        changes = Changes(points=tuple(points))
        given = {"rows": own.tolist(), "kind": kind, "points": changes.to_page()["points"]}
        in_page = np.array(ask("lab/changes.js", PATCHED, given))
        patch = changes.patch(record)
        in_python = patch[head](own[None], 0)[0] if head in patch else own
        np.testing.assert_allclose(in_python, in_page, atol=2e-7)
        np.testing.assert_allclose(in_python.sum(axis=1), 1, atol=1e-6)


def test_python_and_the_page_read_the_same_points_of_an_address(ask):
    rng = np.random.default_rng(4)
    for _ in range(50):
        texts = [
            f"c2.3:{rng.integers(3)}:{rng.integers(3)}" + rng.choice(["", ":0.50", ":1.00", ":0"])
            for _ in range(5)
        ]
        text = ",".join(texts)
        in_page = ask("lab/address.js", READ, [text, None])
        assert Changes.from_address({"point": text}).to_page()["points"] == in_page
