"""The address of the lab, checked before a page is written."""

from collections.abc import Collection

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
    read = dict(field.partition("=")[::2] for field in address.split("&") if field)
    expected = "none but " + ", ".join(sorted(fields))
    strange = sorted(read.keys() - set(fields))
    check(f"fields of {name}", strange, expected, not strange)
    codes = {code.partition(":")[0] for field in HEADS for code in split(read.get(field, ""))}
    missing = sorted(code for code in codes if not has_head(heads, code))
    last = [max(h for h in heads if h.kind == kind).code for kind in KINDS if kinds_of(heads, kind)]
    expected = f"none that the model has not; its last heads are {' and '.join(last)}"
    check(f"heads of {name}", missing, expected, not missing)
    return read


def split(field: str) -> list[str]:
    """Return the parts of a field's value, between which there are commas."""
    return [part for part in field.split(",") if part]


def has_head(heads: Collection[Head], code: str) -> bool:
    """Return whether there is a head of this short name, such as "e1.2"."""
    return bool(CODE.fullmatch(code)) and Head.from_code(code) in heads


def kinds_of(heads: Collection[Head], kind: str) -> bool:
    """Return whether there are heads of this kind."""
    return any(head.kind == kind for head in heads)
