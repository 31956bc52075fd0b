"""Photograph the lab for README.md and the site, light and dark.

python tools/picture.py          (needs Chromium)
"""

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

from tools.browser import launch_chromium
from transformer_lab.lab.guide import famous_guide
from transformer_lab.lab.open_lab import lab
from transformer_lab.translator import Translator

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
TIRED = "the animal didn't cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")
POINTER = """at => {
    const dot = document.createElement("div");
    dot.id = "pointer";
    dot.style.cssText = `position: fixed; left: ${at.x - 13}px; top: ${at.y - 13}px;
        width: 26px; height: 26px; border-radius: 50%; pointer-events: none;
        background: #d9480f88; border: 2px solid #d9480f`;
    document.body.append(dot);
}"""


def main() -> None:
    """Write `lab-still-….webp` and `lab-….webp`, which moves, in a light and in a dark theme.

    The still picture shows what becomes of "il" without the head that finds the noun. The moving one
    shows how a visitor gets there, and what changes if "wide" replaces "tired".
    """
    translator = Translator.load(device="cpu")
    record = translator.attend(TIRED)
    il = record.written_tokens.index("il")
    start = f"head=e2.3&row={record.source_tokens.index('tired')}&step={il}"
    with tempfile.TemporaryDirectory() as folder, launch_chromium() as chromium:
        examples = famous_guide()["examples"]  # so that the heads get their names
        still = lab(translator, [TIRED, WIDE], start=f"{start}&mute=e2.3", examples=examples)
        moving = lab(translator, [TIRED, WIDE], start=start, examples=examples)
        still_file = still.to_html(Path(folder) / "still.html")
        moving_file = moving.to_html(Path(folder) / "moving.html")
        for theme in ("light", "dark"):
            tab = chromium.new_page(viewport={"width": 1180, "height": 600}, color_scheme=theme)
            open_page_of(tab, still_file)
            photograph(tab).save(FOLDER / f"lab-still-{theme}.webp", quality=50, method=6)

            open_page_of(tab, moving_file)
            pictures, milliseconds = zip(*visit(tab, il), strict=True)
            frames = [picture.crop((0, 0, 1180, 600)) for picture in pictures]
            frames[0].save(
                FOLDER / f"lab-{theme}.webp",
                save_all=True,
                append_images=frames[1:],
                duration=milliseconds,
                loop=0,
                quality=50,
                method=6,
            )
            tab.close()


def open_page_of(tab: Page, file: Path) -> None:
    """Open a lab and wait until its model has run."""
    tab.goto(file.as_uri())
    tab.locator("[data-ready=true]").wait_for()


def visit(tab: Page, il: int) -> Iterator[tuple[Image.Image, int]]:
    """Use the lab as a visitor would; yield each picture and how many milliseconds it is seen."""
    written = tab.locator(f"[data-control='step {il}']")
    mute = tab.locator("[data-control=mute]")
    yield photograph(tab), 2000
    yield point(tab, mute), 700
    mute.click()
    written.get_by_text("elle").wait_for()
    yield photograph(tab), 3000
    mute.click()
    written.get_by_text("il", exact=True).wait_for()
    yield photograph(tab), 1200
    sentence = tab.get_by_role("textbox").first
    yield point(tab, sentence), 500
    sentence.fill(WIDE)
    yield photograph(tab), 900
    sentence.press("Enter")
    written.get_by_text("elle").wait_for()
    written.click()
    yield photograph(tab), 3500


def point(tab: Page, target: Locator) -> Image.Image:
    """Photograph the page with a dot where the visitor is about to press."""
    box = target.bounding_box()
    assert box is not None, "what is not shown can't be pressed"
    tab.evaluate(
        POINTER, {"x": box["x"] + min(box["width"] / 2, 460), "y": box["y"] + box["height"] / 2}
    )
    picture = photograph(tab)
    tab.evaluate("document.querySelector('#pointer').remove()")
    return picture


def photograph(tab: Page) -> Image.Image:
    """Photograph what the window shows."""
    return Image.open(io.BytesIO(tab.screenshot())).convert("RGB")


if __name__ == "__main__":
    main()
