"""What the study of gender has stored, as lesson 18 reads it; the functions that made it say how.

An interval is [mean, low, high], of 95 %. A part that is not stored is a ValueError.
"""

from pathlib import Path
from typing import Any, NamedTuple

from transformer_lab.config import check
from transformer_lab.experiments import store
from transformer_lab.experiments.production.gender import NAME, PARTS
from transformer_lab.experiments.production.models import MODELS


class MovedHead(NamedTuple):
    """One encoder head in the pairs."""

    layer: int
    head: int
    on_right: float
    """The weight of the row of "it" on the noun that is meant."""
    on_other: float
    pointed: list[float]
    """Nats towards the right gender when the row goes to the right noun instead of the other one."""
    referent_muted: list[float]


def part(name: str, model: str, folder: Path = store.RESULTS) -> dict[str, Any]:
    """One part of the study, as it is stored."""
    check("name", name, f"one of {PARTS}", name in PARTS)
    check("model", model, f"one of {MODELS}", model in MODELS)
    runs = store.load(NAME, folder)["runs"]
    found = {(r["setting"]["part"], r["setting"]["model"]): r["result"] for r in runs}
    check("part and model", (name, model), f"one of {sorted(found)}", (name, model) in found)
    result: dict[str, Any] = found[name, model]
    return result


def moved_curve(model: str, place: str, folder: Path = store.RESULTS) -> list[list[float]]:
    """For each depth the interval of the move towards the donor's gender, in nats."""
    result = part("patching", model, folder)["moved"]
    check("place", place, f"one of {sorted(result)}", place in result)
    curve: list[list[float]] = result[place]
    return curve


def moved_heads(model: str, folder: Path = store.RESULTS) -> list[MovedHead]:
    """The encoder heads, those first whose row of "it" lies most on the two nouns."""
    heads = [
        MovedHead(layer, head, right, other, moves[:3], moves[3:])
        for layer, head, right, other, *moves in part("pointing", model, folder)["heads"]
    ]
    return sorted(heads, key=lambda head: -head.on_right - head.on_other)


def reaches(interval: list[float], limit: float) -> bool:
    """Whether an interval lies whole beyond the limit of detection, on either side of 0."""
    _, low, high = interval
    return low > limit or high < -limit
