"""The slides that a notebook marks: `slides` in the metadata of a cell that is tagged `slide`.

A cell gives one slide or several. Each has a `title`, a `text` of a few words, and `show`, which says
what part of the cell fills it:

    output    the picture or the interactive piece (what a code cell shows unless told otherwise)
    printed   what the cell prints, or the lines of it that `lines` names, as in "1-5"
    code      the source of the cell
    formula   the display formula of a Markdown cell, or the one that `number` names
    table     its table, or the one that `number` names
    question  one question of the quiz, the one that `number` names
    words     nothing but title and text (what a Markdown cell shows unless told otherwise)

Without a `title`, a picture's own title is used.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from docs.first_page import PICTURE
from tools.build_notebooks import read
from transformer_lab.course.keys import lesson_key

SHOWS = ("output", "printed", "code", "formula", "table", "question", "words")
FIELDS = {"title", "text", "show", "number", "lines"}


@dataclass(frozen=True)
class Slide:
    """One slide: its words, and the cell that fills it."""

    title: str
    text: str
    show: str
    number: int
    lines: str
    cell: NotebookNode


@dataclass(frozen=True)
class Deck:
    """The slides of a lesson."""

    name: str
    """The notebook's file name, without its ending."""
    title: str
    slides: list[Slide]

    @property
    def lesson(self) -> str:
        """The lesson's key."""
        return lesson_key(Path(self.name))


def deck(path: Path) -> Deck:
    """Return the deck of a notebook as it is on disk.

    Raises:
        ValueError: If a cell's slides are not valid; the message names the cell.
    """
    cells = read(path).cells
    first = next(cell for cell in cells if cell.cell_type == "markdown")
    return Deck(path.stem, first.source.partition("\n")[0].lstrip("# "), list(slides(cells)))


def slides(cells: list[NotebookNode]) -> Iterator[Slide]:
    """Yield the slides of all cells, in order."""
    for cell in cells:
        marked, wanted = "slide" in cell.metadata.get("tags", ()), cell.metadata.get("slides", [])
        if marked != bool(wanted):
            raise ValueError(f"cell {cell.id}: expected the tag `slide` and `slides`, or neither")
        for fields in wanted:
            yield slide(cell, fields)


def slide(cell: NotebookNode, fields: dict[str, object]) -> Slide:
    """Make one slide from one entry of a cell's `slides`."""
    show = fields.get("show", "output" if cell.cell_type == "code" else "words")
    if show not in SHOWS or not set(fields) <= FIELDS:
        raise ValueError(
            f"cell {cell.id}: {dict(fields)}; expected {sorted(FIELDS)}, show: {SHOWS}"
        )
    title = str(fields.get("title") or title_of_picture(cell))
    if not title:
        raise ValueError(f"cell {cell.id}: a slide has no title; only a picture may have its own")
    return Slide(
        title=title,
        text=str(fields.get("text", "")),
        show=str(show),
        number=int(str(fields.get("number", 1))),
        lines=str(fields.get("lines", "")),
        cell=cell,
    )


def title_of_picture(cell: NotebookNode) -> str:
    """Return the title with which a cell's picture was drawn; its alt text begins with it."""
    for output in cell.get("outputs", ()):
        if PICTURE.search(output.get("data", {}).get("text/html", "")):
            return str(output.data.get("text/plain", "")).partition(". ")[0]
    return ""
