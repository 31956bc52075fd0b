"""The changes that a reader of the lab can make: mute heads, and make rows look at chosen words.

In JavaScript, `page/lab/changes.js` has the same fields, and `applyShares` in
`page/engine/hooks.js` follows the same rule as `apply_shares`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Head, Kind, PatchFunction
from transformer_lab.config import check
from transformer_lab.lab.address import split

POINT = re.compile(r"([edc]\d+\.\d+):(\d+):(\d+)(?::(0(?:\.\d+)?|1(?:\.0+)?))?")
"""The pattern of a point in an address, the same as in `page/lab/address.js`."""


class Point(NamedTuple):
    """An instruction to a head: give a key this share, from 0 to 1, of a query's attention."""

    head: Head
    query: int
    key: int
    share: float = 1.0


@dataclass(frozen=True)
class Changes:
    """The changes made to a model: its muted heads, and the weights set by hand (`points`)."""

    mute: tuple[Head, ...] = ()
    points: tuple[Point, ...] = ()

    @classmethod
    def from_page(cls, data: Mapping[str, Any]) -> "Changes":
        """Parse the changes sent by a page."""
        return cls(
            tuple(read_head(head) for head in data["mute"]),
            tuple(read_point(point) for point in data["points"]),
        )

    @classmethod
    def from_address(cls, fields: Mapping[str, str]) -> "Changes":
        """Return the changes listed in the "mute" and "point" fields of a page's address."""
        mute = dict.fromkeys(Head.from_code(code) for code in split(fields.get("mute", "")))
        points = [read_address_point(text) for text in split(fields.get("point", ""))]
        return cls(tuple(mute), drop_overridden_points(points))

    def to_page(self) -> dict[str, Any]:
        """Return the changes in the form that the page uses."""
        points = [
            point.head._asdict() | {"query": point.query, "key": point.key, "share": point.share}
            for point in self.points
        ]
        return {"mute": [head._asdict() for head in self.mute], "points": points}

    def patch(self, record: AttentionRecord) -> dict[Head, PatchFunction]:
        """Return, for each head that has a point, a function that changes its weights.

        The function takes the weights that the head computes in the changed model, so later layers
        react to the changes in earlier ones. It sets the shares in the chosen rows, and leaves all
        other rows unchanged.

        Args:
            record: The record of the unchanged model, which says which heads and words exist. In
                the decoder, a row may lie beyond the record's last one, because a changed model may
                write more words.

        Raises:
            ValueError: If a point lies outside the head's map, or on a word that the mask hides.
        """
        shares: dict[Head, dict[int, dict[int, float]]] = {}
        for head, query, key, share in self.points:
            check_place(head, query, key, record.weights(head).shape)
            shares.setdefault(head, {}).setdefault(query, {})[key] = share
        return {head: partial(patch_rows, head.kind, rows) for head, rows in shares.items()}


def patch_rows(
    kind: Kind, shares: Mapping[int, Mapping[int, float]], own: np.ndarray, first: int
) -> np.ndarray:
    """Return a head's weights with the given shares set in some of its rows.

    Args:
        kind: The kind of attention.
        shares: For each query, the keys and their shares; see `apply_shares`.
        own: The weights that the head has computed, (batch, query, key).
        first: The position, in the whole sequence, of the first row of `own`.
    """
    weights = own.copy()
    for query, of_row in shares.items():
        if first <= query < first + weights.shape[1]:
            for row in weights[:, query - first]:
                seen = query + 1 if kind == "decoder" else len(row)
                row[:] = apply_shares(row, of_row, seen)
    return weights


def apply_shares(own: np.ndarray, shares: Mapping[int, float], seen: int) -> np.ndarray:
    """Return a row of weights with the given shares for some keys.

    The row may see only the first `seen` words. The words without a share divide the remaining
    weight in the same proportions as before, or evenly if they had no weight. If the shares sum to
    more than 1, or if no other word is left, they are scaled to sum to 1.
    """
    total = sum(shares.values())
    others = seen - len(shares)
    if seen == 1 or (others == 0 and total == 0):
        return own  # a single word keeps everything; if all shares are 0, nothing changes
    scale = 1 / total if total > 1 or others == 0 else 1.0
    row = np.where(np.arange(len(own)) < seen, own, 0).astype(float)
    row[list(shares)] = 0
    if not row.sum():
        row[:seen] = 1
        row[list(shares)] = 0
    row *= (1 - scale * total) / row.sum() if others else 0
    for key, share in shares.items():
        row[key] = scale * share
    return row


def check_place(head: Head, query: int, key: int, shape: Sequence[int]) -> None:
    """Raise a ValueError if a cell lies outside a map of this shape or is hidden by the mask.

    Only encoder queries are checked against the number of rows, because a changed decoder may write
    more words.
    """
    rows, columns = shape
    if head.kind == "decoder":
        allowed = 0 <= key <= query
        check(
            "point",
            (query, key),
            "(query, key) with 0 ≤ key ≤ query, because the decoder cannot see later words",
            allowed,
        )
    elif head.kind == "cross":
        expected = f"(query, key) with query ≥ 0 and 0 ≤ key ≤ {columns - 1}"
        check("point", (query, key), expected, query >= 0 and 0 <= key < columns)
    else:
        expected = f"(query, key) with 0 ≤ query ≤ {rows - 1} and 0 ≤ key ≤ {columns - 1}"
        check("point", (query, key), expected, 0 <= query < rows and 0 <= key < columns)


def read_head(data: Mapping[str, Any]) -> Head:
    """Parse a head sent by a page."""
    return Head(data["kind"], data["layer"], data["head"])


def read_point(data: Mapping[str, Any]) -> Point:
    """Parse a point sent by a page.

    Raises:
        ValueError: If the share is not a number from 0 to 1.
    """
    share = data["share"]
    fits = isinstance(share, int | float) and 0 <= share <= 1
    check("share", share, "a number from 0 to 1", fits)
    return Point(read_head(data), data["query"], data["key"], float(share))


def read_address_point(text: str) -> Point:
    """Parse a point from an address, such as "e2.3:10:4:0.50"; a missing share means 1."""
    found = POINT.fullmatch(text)
    expected = "head:query:key:share with a share from 0 to 1, such as 'e2.3:10:4:0.50'"
    check("point in start", text, expected, found is not None)
    assert found is not None
    code, query, key, share = found.groups(default="1")
    return Point(Head.from_code(code), int(query), int(key), float(share))


def drop_overridden_points(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return the points that no later point overrides.

    A point overrides an earlier one in the same row if both have the same key, or if either has a
    share of 1.
    """
    kept: list[Point] = []
    for one in points:
        kept = [
            other
            for other in kept
            if other[:2] != one[:2] or (other.key != one.key and other.share < 1 and one.share < 1)
        ]
        kept.append(one)
    return tuple(kept)
