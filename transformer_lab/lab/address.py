"""The address of the lab, checked before a page is written."""

from collections.abc import Collection
from urllib.parse import parse_qsl

from transformer_lab.attention.record import CODE, KINDS, Head

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
"""The fields that list heads, separated by commas; after a ":" comes what is done to a head."""


def read_address(
    name: str, address: str, heads: Collection[Head], fields: Collection[str] = FIELDS
) -> dict[str, str]:
    """Return the fields of an address as a dict, which may be empty.

    Args:
        name: What to call the address in an error message.
        address: What comes after "#" in the page's own address, such as "head=e2.3&row=10".
        heads: The heads that exist.
        fields: The fields that are allowed.

    Raises:
        ValueError: If it has another field, or names a head that does not exist.
    """
    read = dict(parse_qsl(address, keep_blank_values=True))
    if strange := sorted(read.keys() - set(fields)):
        raise ValueError(
            f"{name} has the fields {strange}; expected only {', '.join(sorted(fields))}"
        )
    codes = {code.partition(":")[0] for field in HEADS for code in split(read.get(field, ""))}
    if missing := sorted(code for code in codes if not has_head(heads, code)):
        last = ", ".join(max(of_kind).code for of_kind in group_by_kind(heads))
        expected = f"heads of the model; the last of each kind are {last}"
        raise ValueError(f"{name} has the heads {missing}; expected {expected}")
    return read


def add_head(address: str, head: Head) -> str:
    """Return the address with a head in front; it must not name one yet."""
    return f"head={head.code}" + (f"&{address}" if address else "")


def split(field: str) -> list[str]:
    """Return the parts of a field's value, which are separated by commas."""
    return [part for part in field.split(",") if part]


def has_head(heads: Collection[Head], code: str) -> bool:
    """Return whether a head with this short name, such as "e1.2", exists."""
    return bool(CODE.fullmatch(code)) and Head.from_code(code) in heads


def group_by_kind(heads: Collection[Head]) -> list[list[Head]]:
    """Return the heads of each kind that exists."""
    groups = ([head for head in heads if head.kind == kind] for kind in KINDS)
    return [group for group in groups if group]
