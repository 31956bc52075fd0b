"""The explorer as a page of its own, or as the output of a cell. It needs no kernel and no network."""

from collections.abc import Sequence
from operator import index
from pathlib import Path
from typing import Any

from transformer_lab.attention.record import AttentionRecord, Head, Kind
from transformer_lab.attention.scores import find_sharpest_head
from transformer_lab.attention.words import by_words
from transformer_lab.config import check
from transformer_lab.figures.display import picture
from transformer_lab.lab.explorer.overview import describe_overview, overview
from transformer_lab.lab.explorer.payload import drawn_kinds, page_data
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.join import script, style

STYLES = ("page.css", "lines.css", "explorer/explorer.css")


class ExplorerPage:
    """An interactive view of a record.

    A notebook displays it, and `to_html` saves it as one page:

        explore(record).to_html("animal.html")
    """

    def __init__(self, records: Sequence[AttentionRecord], start: dict[str, Any]):
        self.records = tuple(records)
        self.start = start

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = self.picture()
        return data | {"text/html": self.fragment(data["text/html"])}

    def picture(self) -> dict[str, str]:
        """Return the still picture for places without scripts: all heads of one kind.

        It is the kind that is open at first. The result has the picture as HTML and its alt text,
        by MIME type.
        """
        kind = self.start["kind"]
        record = self.records[-1]
        return picture(overview(record, kind), describe_overview(record, kind), coarse=True)

    def fragment(self, image: str) -> str:
        """Return the explorer's HTML without the frame of a page; it shows `image` at first."""
        data = page_data(self.records) | {"start": self.start}
        return fragment(image, saved.dump_json(data))

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one file that opens in any browser, offline; returns its path.

            explore(record).to_html("animal.html")

        Raises:
            ValueError: If the file is there already and `overwrite` is not given.
        """
        title = "Attention: " + " ".join(by_words(self.records[-1]).source_tokens)
        body = self.fragment(self.picture()["text/html"])
        return saved.write_page(path, title, body, overwrite=overwrite)


def fragment(image: str, data: str) -> str:
    """Return HTML of a still picture, and of the script that replaces it by an explorer of `data`.

    The script is the current one, also for data of an older version.
    """
    program, looks = script("explorer/saved.js"), style(*STYLES)
    return saved.fragment("explorer", image, data, style=looks, script=program, mount="mountAll")


def explore(
    record: AttentionRecord,
    *,
    kind: Kind | None = None,
    layer: int | None = None,
    head: int | None = None,
    pinned: Sequence[int | None] = (),
    snapshots: Sequence[AttentionRecord] = (),
) -> ExplorerPage:
    """Return an interactive page of all heads of a record.

        explore(translator.attend("the cat sleeps"), kind="encoder")

    It needs no kernel, so it also works in a saved notebook.

    Args:
        record: What to look into.
        kind: "encoder", "decoder" or "cross"; by default the last one that the record has.
        layer: The layer of the head that is open at first, from 0; the page counts from 1.
        head: Its number in the layer, from 0. With neither, the head whose rows are sharpest (of
            least entropy) is open; with one of the two, the other is 0.
        pinned: The cell (query, key) that is pinned at first; None for a whole column or row.
        snapshots: Earlier records, for instance of a training run; a slider runs through
            them to `record`.

    Raises:
        ValueError: If there is no such head or cell.
    """
    start = start_values(record, kind, layer, head, pinned)
    return ExplorerPage([*snapshots, record], start)


def start_values(
    record: AttentionRecord,
    kind: Kind | None,
    layer: int | None,
    head: int | None,
    pinned: Sequence[int | None],
) -> dict[str, Any]:
    """Return the fields "kind", "layer", "head" and "pinned" with which the explorer opens.

    The arguments are those of `explore`. Without a kind it is the last one that the record has, and
    with neither layer nor head it is the head of least entropy.

    Raises:
        ValueError: If the record lacks the head or the pinned cell.
    """
    kinds = drawn_kinds(record)
    kind = kind or kinds[-1]
    if layer is None and head is None and kind in kinds:
        open_head = find_sharpest_head(record, kind)
    else:
        open_head = Head(kind, check_integer("layer", layer or 0), check_integer("head", head or 0))
    place = check_pinned(pinned, record.weights(open_head).shape)
    return {**open_head._asdict(), "pinned": place}


def check_integer(name: str, value: int) -> int:
    """Return a whole number, also one of NumPy's, as an int; a ValueError for anything else."""
    check(name, value, "an integer", hasattr(value, "__index__"))
    return index(value)


def check_pinned(pinned: Sequence[int | None], shape: tuple[int, ...]) -> list[int | None]:
    """Return the pinned cell as a list, with None for a whole row or column.

    Raises:
        ValueError: Unless it is empty or lies in a map of this shape.
    """
    rows, columns = shape
    expected = f"() or (query, key), below ({rows}, {columns}); None for a whole column or row"
    check("pinned", pinned, expected, isinstance(pinned, Sequence) and len(pinned) in (0, 2))
    place = [None if p is None else check_integer("pinned", p) for p in pinned]
    fits = all(p is None or 0 <= p < most for p, most in zip(place, shape, strict=False))
    check("pinned", tuple(place), expected, fits)
    return place
