"""Parse and check the lab's addresses. An address is the part of a page's URL after "#"."""

from collections.abc import Collection
from urllib.parse import parse_qsl

from transformer_lab.attention.record import CODE, KINDS, Head
from transformer_lab.config import join_with_and

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
"""The fields that hold a comma-separated list, with items such as HEAD or HEAD:CHANGE."""


def read_address(
    name: str, address: str, heads: Collection[Head], fields: Collection[str] = FIELDS
) -> dict[str, str]:
    """Parse an address into a dict of its fields, which may be empty.

    Args:
        name: What to call the address in an error message.
        address: The part after "#" in the page's URL, such as "head=e2.3&row=10".
        heads: The model's heads.
        fields: The allowed fields.

    Raises:
        ValueError: If the address has a field that is not allowed, or names a head that does not
            exist.
    """
    read = dict(parse_qsl(address, keep_blank_values=True))
    if strange := sorted(read.keys() - set(fields)):
        found, known = (join_with_and(map(repr, names)) for names in (strange, sorted(fields)))
        noun = "field" if len(strange) == 1 else "fields"
        raise ValueError(f"{name} has the {noun} {found}; expected only {known}")
    codes = {code.partition(":")[0] for field in HEADS for code in split(read.get(field, ""))}
    if missing := sorted(code for code in codes if not has_head(heads, code)):
        last = join_with_and([max(of_kind).code for of_kind in group_by_kind(heads)])
        raise ValueError(
            f"{name} refers to {join_with_and(missing)}, but the model has no such head; "
            f"its last heads are {last}"
        )
    return read


def add_head(address: str, head: Head) -> str:
    """Add a head at the front of an address that does not name one, and return the address."""
    return f"head={head.code}" + (f"&{address}" if address else "")


def split(field: str) -> list[str]:
    """Split a field's value at the commas and return the parts that are not empty."""
    return [part for part in field.split(",") if part]


def has_head(heads: Collection[Head], code: str) -> bool:
    """Return whether `heads` contains the head with this code, such as "e1.2"."""
    return bool(CODE.fullmatch(code)) and Head.from_code(code) in heads


def group_by_kind(heads: Collection[Head]) -> list[list[Head]]:
    """Group the heads by kind, and leave out kinds that have no heads."""
    groups = ([head for head in heads if head.kind == kind] for kind in KINDS)
    return [group for group in groups if group]
