"""The lab for stored records: no model runs, but you can look at everything."""

from collections.abc import Mapping, Sequence

from transformer_lab.attention.head_names import find_telling_head
from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.attention.words import by_words
from transformer_lab.config import check
from transformer_lab.lab.address import add_head, read_address
from transformer_lab.lab.lab_page import LabPage
from transformer_lab.lab.record_data import drawn_kinds, page_data
from transformer_lab.lab.translator_page import names_by_code

PLACES = {"head", "row", "key", "view", "step", "also"}
"""The fields allowed in the address of a record's page; they say what the page shows."""


def record_page(
    record: AttentionRecord,
    *,
    start: str = "",
    snapshots: Sequence[AttentionRecord] = (),
    languages: tuple[str, str] | None = None,
    names: Mapping[Head, str] | None = None,
) -> LabPage:
    """Build a page with all heads of a record; for arguments and errors, see `lab`."""
    address, head = place_of(record, start, PLACES, names)
    data = page_data([*snapshots, record]) | {
        "start": address,
        "languages": list(languages or ("source", "target")),
        "names": names_by_code(names, record.heads()),
    }
    words = by_words(record)
    title = " ".join(words.source_tokens or words.target_tokens)
    return LabPage(title, "record", data, record, head.kind)


def place_of(
    record: AttentionRecord, start: str, fields: set[str], names: Mapping[Head, str] | None = None
) -> tuple[str, Head]:
    """Return an address that names a head, and that head.

    If `start` names no head, the sharpest head of the last kind is added. If any heads of this kind
    have a telling name, the sharpest of those is added instead.

    Raises:
        ValueError: If the address has fields other than `fields`, or names a head or cell that the
            record lacks.
    """
    kinds = drawn_kinds(record)
    read = read_address("start", start, record.heads(), fields)
    if "head" not in read:
        head = find_telling_head(record, kinds[-1], names or {})
        start = add_head(start, head)
    else:
        head = Head.from_code(read["head"])
    sizes = dict(zip(("row", "key"), record.weights(head).shape, strict=True))
    for field, size in sizes.items():
        place = read.get(field, "0")
        holds = place.isdecimal() and int(place) < size
        check(f"the {field} in start", place, f"an integer from 0 to {size - 1}", holds)
    return start, head
