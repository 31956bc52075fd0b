"""What the study of gender has stored, as lesson 18 reads it; the functions that made it say how.

An interval is [mean, low, high], of 95 %. A part that is not stored is a ValueError.
"""

from pathlib import Path
from typing import Any, NamedTuple

from transformer_lab.config import check
from transformer_lab.studies.common import store
from transformer_lab.studies.production_translators.gender import NAME, PARTS
from transformer_lab.studies.production_translators.models import MODELS


class PointedHead(NamedTuple):
    """One encoder head in the pairs."""

    layer: int
    head: int
    on_right: float
    """The weight of the row of "it" on the noun that is meant."""
    on_other: float
    pointed: list[float]
    """Nats towards the right gender when the row goes to the right noun instead of the other one."""
    referent_muted: list[float]


def load_part(name: str, model: str, folder: Path | None = None) -> dict[str, Any]:
    """One part of the stored study of gender, for one model."""
    check("name", name, f"one of {PARTS}", name in PARTS)
    check("model", model, f"one of {MODELS}", model in MODELS)
    runs = store.load(NAME, folder)["runs"]
    found = {(r["setting"]["part"], r["setting"]["model"]): r["result"] for r in runs}
    check("part and model", (name, model), f"one of {sorted(found)}", (name, model) in found)
    result: dict[str, Any] = found[name, model]
    return result


def load_pointed_heads(model: str, folder: Path | None = None) -> list[PointedHead]:
    """The encoder heads, sorted by the weight of their row of "it" on both nouns, largest first."""
    heads = [
        PointedHead(layer, head, right, other, moves[:3], moves[3:])
        for layer, head, right, other, *moves in load_part("pointing", model, folder)["heads"]
    ]
    return sorted(heads, key=lambda head: -head.on_right - head.on_other)


def exceeds_limit(interval: list[float], limit: float) -> bool:
    """Whether a whole interval [mean, low, high] lies beyond ± `limit`."""
    _, low, high = interval
    return low > limit or high < -limit
