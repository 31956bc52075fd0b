"""The lessons as cards on the site's first page, each with a picture of its own."""

import base64
import html
import io
import json
import re
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from transformer_lab.course.keys import KEY

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "_static/cards"
SIZE, MARGIN = (480, 300), 8
"""Pixels of a picture: twice what a card shows, for fine screens."""
PREVIEW, PREVIEW_SIZE = "_static/preview.png", (1200, 630)
"""The picture that stands beside a link to the site, and its pixels."""
PREVIEW_SHOWS = (
    "A translator in a page: its heads as a map, one of them open, and what becomes of “il”."
)
LINE = re.compile(
    rf"^\| (?P<number>{KEY}) \| \[(?P<title>.+?)\]\(notebooks/(?P<page>\S+?)\.ipynb\).* "
    r"\| (?P<what>[^|]+) \| (?P<minutes>\d+) \|$"
)


def lessons() -> list[tuple[str, str, str, str, str]]:
    """Number, title, page, what it is about and minutes of each, from README's table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = (LINE.match(line) for line in readme.splitlines())
    return [(line[1], line["title"], line["page"], line["what"], line[5]) for line in found if line]


def cards() -> str:
    """The HTML of all cards; links and pictures lie beside docs/index.html."""
    return "\n".join(
        f'<a class="card" href="../notebooks/{page}.html">'
        f'<img src="../{FOLDER}/{number}.webp" alt="from lesson {number}" width="240" height="150"'
        ' loading="lazy">'
        f"<b>{number} · {html.escape(title)}</b>"
        f"<span>{in_html(what)}</span><small>{minutes} minutes</small></a>"
        for number, title, page, what, minutes in lessons()
    )


def opening(page: str) -> str:
    """The HTML of a lesson's picture, for the top of its page; "" for a page that is no lesson."""
    number = next((row[0] for row in lessons() if row[2] == page), None)
    if number is None:
        return ""
    shown = ALT.search(card_of(ROOT / "notebooks" / f"{page}.ipynb"))
    assert shown, f"the card of {page} has no words"
    alt = shown[1].partition(". ")[0]  # the figure itself says the rest
    width, height = SIZE
    return (
        f'<img class="opening" src="../{FOLDER}/{number}.webp" alt="{alt}" '
        f'width="{width}" height="{height}">'
    )


def in_html(text: str) -> str:
    """A line of Markdown whose only marks are those of code."""
    return re.sub(r"`(.+?)`", r"<code>\1</code>", html.escape(text))


def write_pictures(site: Path) -> None:
    """One picture a lesson, of the cell that is tagged `card`, small."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for number, _, page, _, _ in lessons():
        picture = picture_of(ROOT / "notebooks" / f"{page}.ipynb")
        small = fit_on_card(without_title(picture.convert("RGB")))
        small.save(folder / f"{number}.webp", quality=80)


def fit_on_card(picture: Image.Image) -> Image.Image:
    """The whole picture within a narrow margin; of one that's higher than wide, the upper part."""
    picture = picture.crop(ImageOps.invert(picture.convert("L")).getbbox())
    inside = (SIZE[0] - 2 * MARGIN, SIZE[1] - 2 * MARGIN)
    if picture.height > picture.width:
        shown = ImageOps.fit(picture, inside, centering=(0.5, 0.0))
    else:
        shown = ImageOps.pad(picture, inside, color="white")
    return ImageOps.expand(shown, MARGIN, fill="white")


def write_preview(site: Path) -> None:
    """The upper part of the lab's picture, as PNG: not everything that shows a link reads WebP."""
    picture = Image.open(ROOT / "docs/_static/lab-still-light.webp")
    ImageOps.fit(picture, PREVIEW_SIZE, centering=(0.5, 0.0)).save(site / PREVIEW, optimize=True)


def without_title(picture: Image.Image) -> Image.Image:
    """What stands below the first line of ink, which would be too small to be read."""
    ink = (np.asarray(picture) < 250).any(axis=(1, 2))  # by row
    first = int(ink.argmax())
    line = int((~ink[first:]).argmax())
    is_title = 0 < line < picture.height / 10
    return picture.crop((0, first + line, *picture.size)) if is_title else picture


PICTURE = re.compile(r"data:image/webp;base64,([A-Za-z0-9+/=]+)")
"""A picture in the HTML of an output."""
ALT = re.compile(r'<img [^>]*?alt="([^"]*)"')
"""What its picture shows, in words."""


def stored_picture(output: str) -> Image.Image:
    """The first picture of an output's HTML."""
    found = PICTURE.search(output)
    if not found:
        raise ValueError("the output has no picture; expected an image of type WebP")
    return Image.open(io.BytesIO(base64.b64decode(found[1])))


def picture_of(notebook: Path) -> Image.Image:
    """The picture of the cell that is tagged `card`; a ValueError unless there is one such cell."""
    return stored_picture(card_of(notebook))


def card_of(notebook: Path) -> str:
    """The HTML of the first output with a picture, of the cell that is tagged `card`."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    tagged = [cell for cell in cells if "card" in cell["metadata"].get("tags", ())]
    pictures = [
        shown
        for cell in tagged
        for output in cell["outputs"]
        if PICTURE.search(shown := "".join(output.get("data", {}).get("text/html", "")))
    ]
    if len(tagged) != 1 or not pictures:
        raise ValueError(f"{notebook.name} has no picture in a cell tagged card; expected one cell")
    return pictures[0]
