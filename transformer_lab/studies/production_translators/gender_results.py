"""The stored results of the study of gender, as lesson 18 reads them.

An interval is [mean, low, high] at 95%. The numbers of each part are explained in the docstring of
the function that measured it.
"""

from pathlib import Path
from typing import Any, NamedTuple

from transformer_lab.config import check_choice, join_with_and
from transformer_lab.studies.common import store
from transformer_lab.studies.production_translators.gender import NAME, PARTS
from transformer_lab.studies.production_translators.models import MODELS


class PointedHead(NamedTuple):
    """One encoder head's scores on pairs of sentences.

    "The row" is the head's attention row for the word "it".
    """

    layer: int
    head: int
    on_right: float
    """The weight of the row on the right noun."""
    on_other: float
    """The weight of the row on the wrong noun."""
    pointed: list[float]
    """How far the log-odds move when the row looks at the right noun instead of the wrong one.

    This is an interval in nats; moves towards the right gender are positive.
    """
    referent_muted: list[float]
    """The `referent` effect when the head is muted, as an interval."""


def load_part(name: str, model: str, folder: Path | None = None) -> dict[str, Any]:
    """Return one part of the stored study of gender, for one model.

    Raises:
        ValueError: If there is no such part or model, or if the part is not stored for the model.
    """
    check_choice("name", name, PARTS)
    check_choice("model", model, MODELS)
    runs = store.load(NAME, folder)["runs"]
    found = {(r["setting"]["part"], r["setting"]["model"]): r["result"] for r in runs}
    if (name, model) not in found:
        stored = join_with_and(sorted(repr(part) for part, other in found if other == model))
        only = f", only {stored}" if stored else ""
        raise ValueError(f"the model {model!r} has no stored part {name!r}{only}")
    result: dict[str, Any] = found[name, model]
    return result


def load_pointed_heads(model: str, folder: Path | None = None) -> list[PointedHead]:
    """Return a model's encoder heads, sorted by how much the row of "it" attends to the nouns.

    The head with the largest total weight on both nouns comes first.
    """
    heads = [
        PointedHead(layer, head, right, other, moves[:3], moves[3:])
        for layer, head, right, other, *moves in load_part("pointing", model, folder)["heads"]
    ]
    return sorted(heads, key=lambda head: -head.on_right - head.on_other)


def exceeds_limit(interval: list[float], limit: float) -> bool:
    """Return whether an interval [mean, low, high] lies wholly above `limit` or below −`limit`."""
    _, low, high = interval
    return low > limit or high < -limit
