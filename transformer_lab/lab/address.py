"""The address of the lab, checked before a page is written."""

from collections.abc import Collection
from urllib.parse import parse_qsl

from transformer_lab.attention.record import CODE, KINDS, Head
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


def read_address(
    name: str, address: str, heads: Collection[Head], fields: Collection[str] = FIELDS
) -> dict[str, str]:
    """Return an address as a dict of its fields, which may be empty.

    Args:
        name: What the address is called in an error.
        address: What stands behind "#" in the page's own address, such as "head=e2.3&row=10".
        heads: Those that there are.
        fields: Those that it may have.

    Raises:
        ValueError: If it has another field, or names a head that is not there.
    """
    read = dict(parse_qsl(address, keep_blank_values=True))
    expected = "none but " + ", ".join(sorted(fields))
    strange = sorted(read.keys() - set(fields))
    check(f"fields of {name}", strange, expected, not strange)
    codes = {code.partition(":")[0] for field in HEADS for code in split(read.get(field, ""))}
    missing = sorted(code for code in codes if not has_head(heads, code))
    last = ", ".join(max(of_kind).code for of_kind in group_by_kind(heads))
    expected = f"only heads that the model has; the last of each kind are {last}"
    check(f"heads of {name}", missing, expected, not missing)
    return read


def split(field: str) -> list[str]:
    """Return the parts of a field's value, between which there are commas."""
    return [part for part in field.split(",") if part]


def has_head(heads: Collection[Head], code: str) -> bool:
    """Return whether there is a head of this short name, such as "e1.2"."""
    return bool(CODE.fullmatch(code)) and Head.from_code(code) in heads


def group_by_kind(heads: Collection[Head]) -> list[list[Head]]:
    """Return the heads of each kind that there is."""
    groups = ([head for head in heads if head.kind == kind] for kind in KINDS)
    return [group for group in groups if group]
