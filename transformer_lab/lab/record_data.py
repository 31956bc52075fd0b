"""Convert a record to compact data for the lab's script, with weights accurate to within 0.0006.

When the page joins subwords into words, it adds up their weights, so the errors add up too.
"""

import base64
import gzip
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import UInt8

from transformer_lab.attention.record import KINDS, AttentionRecord, Kind
from transformer_lab.attention.scores import head_scores
from transformer_lab.attention.words import by_words
from transformer_lab.config import check_count, join_with_and
from transformer_lab.figures.style import weight_colours

FINE_FROM = 36
"""If a weight's upper byte is at least this value (a weight of 0.02), both bytes are stored."""
MOST_VALUES = 8_000_000
"""If a record has more weights than this, only the strongest in each row are kept."""
KEPT_KEYS = 32


def record_data(record: AttentionRecord, *, packed: bool = True) -> dict[str, Any]:
    """Return a record as a dict for JSON; with `packed=False`, weights are bytes, not base64."""
    maps = {kind: list(getattr(record, kind)) for kind in drawn_kinds(record)}
    left_out = None
    if sum(w.size for kind in maps for w in maps[kind]) > MOST_VALUES:
        maps, lost = strongest_of_each_row(maps)
        left_out = (
            f"In each row, only the {KEPT_KEYS} strongest of {count_keys(maps)} weights are shown. "
            f"The weights left out add up to {lost:.3f} per row on average."
        )
    weights, lower_bytes = encode([w for kind in maps for w in maps[kind]])
    return words_data(record) | {
        "heads": {kind: [len(layer) for layer in maps[kind]] for kind in maps},
        "weights": base64.b64encode(weights).decode() if packed else weights,
        "lower_bytes": lower_bytes,
        "left_out": left_out,
        "scores": all_head_scores(record),
    }


def words_data(record: AttentionRecord) -> dict[str, Any]:
    """Return everything in a record except its weights and their scores, ready for JSON.

    If the record has subwords, the result also includes head scores computed on whole words.
    """
    words = by_words(record)
    return {
        "label": record.label,
        "source": record.source_tokens,
        "target": record.target_tokens,
        "written": record.written_tokens,
        # JSON cannot hold the numbers of NumPy and torch.
        "next_tokens": record.next_tokens
        and [[(token, float(p)) for token, p in step] for step in record.next_tokens],
        "alignment": [(int(i), int(j)) for i, j in record.alignment] if record.alignment else None,
        "referent": record.referent
        and {name: int(place) for name, place in record.referent._asdict().items()},
        "muted": sorted(record.muted),
        # The script joins the maps of pieces itself, but the joined maps have different scores.
        **({"word_scores": all_head_scores(words)} if words is not record else {}),
        # Most sentences have no unknown word.
        **({"unknown": sorted(set(record.unknown))} if record.unknown else {}),
    }


def all_head_scores(record: AttentionRecord) -> dict[str, list[dict[str, Any]]]:
    """Return the result of `head_scores` for each kind of attention in the record."""
    return {kind: head_scores(record, kind) for kind in drawn_kinds(record)}


def drawn_kinds(record: AttentionRecord) -> list[Kind]:
    """Return the kinds of attention in the record.

    Raises:
        ValueError: If the record has none, or if one of them has no tokens.
    """
    kinds = [kind for kind in KINDS if len(getattr(record, kind))]
    check_count("the record", len(kinds), "layer", "at least one", bool(kinds))
    if empty := [kind for kind in kinds if 0 in getattr(record, kind)[0].shape]:
        expected = "at least one token on each side"
        raise ValueError(f"the record's {join_with_and(empty)} maps are empty; expected {expected}")
    return kinds


def page_data(records: Sequence[AttentionRecord], *, packed: bool = True) -> dict[str, Any]:
    """Return the data that the lab's script reads: "records", "fine_from" and "colours".

    "fine_from" tells the script how to unpack the weights, and "colours" how to colour them.
    """
    return {
        "records": [record_data(record, packed=packed) for record in records],
        "fine_from": FINE_FROM,
        "colours": weight_colours(),
    }


def encode(layers: Sequence[np.ndarray]) -> tuple[bytes, list[int]]:
    """Pack maps (heads, query, key) as the integers 65535 · √weight, and compress them.

    All upper bytes come first, then some lower bytes. The square root has finer steps for small
    weights, so the upper byte alone can tell 0.0001 from 0, and it is enough for a colour. But
    people read large weights as numbers, so the lower byte is stored too if the upper byte is
    `FINE_FROM` or more. It is also stored for the largest weight in each row, so that the argmax is
    right. Where the lower byte is missing, the script uses the middle value, 128. The error is
    below 0.0006 for every weight, and below 0.00002 for those with two bytes; 0 stays 0.

    The function also returns the number of lower bytes in each map, so that the script can read a
    single map.
    """
    upper, lower, counts = [], [], []
    for weights in layers:
        roots = np.rint(np.sqrt(weights.astype(np.float64).clip(0, 1)) * 65535).astype(np.uint16)
        high = (roots >> 8).astype(np.uint8)
        fine = has_lower_byte(high)
        upper.append(high.ravel())
        lower.append((roots & 255).astype(np.uint8)[fine])
        counts += [int(count) for count in fine.sum(axis=(1, 2))]
    # No time in the header, so that the same record gives the same bytes.
    packed = gzip.compress(np.concatenate([*upper, *lower]).tobytes(), compresslevel=6, mtime=0)
    return packed, counts


def has_lower_byte(high: UInt8[np.ndarray, "heads query key"]) -> np.ndarray:
    """Return a mask of the weights whose lower byte `encode` stores, given their upper bytes.

    The script computes the same mask from the upper bytes.
    """
    most = high.max(axis=-1, keepdims=True)
    return high >= np.maximum(1, np.minimum(most, FINE_FROM))


def strongest_of_each_row(
    maps: dict[Kind, list[np.ndarray]],
) -> tuple[dict[Kind, list[np.ndarray]], float]:
    """Return maps with only each row's largest weights, and the mean weight that a row loses."""
    kept: dict[Kind, list[np.ndarray]] = {}
    lost, rows = 0.0, 0
    for kind, layers in maps.items():
        kept[kind] = []
        for weights in layers:
            places = np.argsort(weights, axis=-1, kind="stable")[..., -KEPT_KEYS:]
            strong = np.zeros_like(weights)
            np.put_along_axis(strong, places, np.take_along_axis(weights, places, -1), axis=-1)
            lost += float((weights - strong).sum())
            rows += weights.shape[0] * weights.shape[1]
            kept[kind].append(strong)
    return kept, lost / rows


def count_keys(maps: dict[Kind, list[np.ndarray]]) -> int:
    """Return the largest number of keys in any row."""
    return max(w.shape[-1] for layers in maps.values() for w in layers)
