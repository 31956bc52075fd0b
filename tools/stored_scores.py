"""Whether stored records show the current head scores; if not, the builder runs their notebook."""

import json

from nbformat import NotebookNode

from tools.stored_pages import STORED
from transformer_lab.attention.scores import SCORES

FIELDS = ("name", "label", "best", "means")


def shows_old_scores(cell: NotebookNode) -> bool:
    """Return whether this cell has a record whose scores differ from what `SCORES` gives now."""
    pages = [output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ())]
    return any(
        stored_scores(record, kind) != todays_scores(record, kind)
        for page in pages
        for kind_of_page, _, data in STORED.findall(page)
        if kind_of_page == "record"
        for record in json.loads(data)["records"]
        for kind in record["scores"]
    )


def stored_scores(record: dict, kind: str) -> list[tuple[str, ...]]:
    """Return the scores that a stored record shows for a kind of attention, without their values."""
    return [tuple(score[field] for field in FIELDS) for score in record["scores"][kind]]


def todays_scores(record: dict, kind: str) -> list[tuple[str, ...]]:
    """Return the scores that the record would show now, without their values."""
    given = [s for s in SCORES if kind in s.kinds and (not s.needs or record[s.needs])]
    return [tuple(getattr(score, field) for field in FIELDS) for score in given]
