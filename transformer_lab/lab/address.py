"""The address of the lab, checked before the page is written."""

import re
from typing import Any

from transformer_lab.attention.record import KINDS, Head
from transformer_lab.config import check

FIELDS = {
    "s",
    "head",
    "row",
    "key",
    "view",
    "step",
    "mute",
    "point",
    "also",
    "beside",
    "a-mute",
    "a-point",
    "tested",
}
HEADS = {"head", "mute", "point", "also", "a-mute", "a-point", "tested"}
"""The fields that name heads, with commas between them; behind a ":" stands what is done to one."""
HEAD = re.compile(r"([edc])([1-9]\d*)\.([1-9]\d*)")


def check_address(name: str, address: str, model: dict[str, Any]) -> None:
    """Raise a ValueError that names the fields an address cannot have, and heads the model lacks.

    `model` is the model's configuration as config.json has it.
    """
    pairs = [field.partition("=")[::2] for field in address.split("&") if field]
    fields = {field for field, _ in pairs}
    expected = "none but " + ", ".join(sorted(FIELDS))
    check(f"fields of {name}", sorted(fields - FIELDS), expected, fields <= FIELDS)
    named = {
        head.partition(":")[0]
        for field, value in pairs
        if field in HEADS
        for head in value.split(",")
        if head
    }
    strange = sorted(head for head in named if not has_head(model, head))
    last = f"{model['num_decoder_layers']}.{model['num_heads']}"
    expected = f"none that the model has not; its last heads are d{last} and c{last}"
    check(f"heads of {name}", strange, expected, not strange)


def has_head(model: dict[str, Any], name: str) -> bool:
    """Return whether the model has a head of this short name, such as "e1.2"."""
    found = parse_head(name)
    if found is None:
        return False
    layers = model["num_encoder_layers" if found.kind == "encoder" else "num_decoder_layers"]
    return found.layer < layers and found.head < model["num_heads"]


def parse_head(name: str) -> Head | None:
    """Return the head of a short name, such as "e1.2"; None if it names none."""
    found = HEAD.fullmatch(name)
    if not found:
        return None
    (kind,) = (kind for kind in KINDS if kind[0] == found[1])
    return Head(kind, int(found[2]) - 1, int(found[3]) - 1)
