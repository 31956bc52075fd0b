"""Photograph the explorer for README.md, light and dark: `python tools/picture.py` (needs Chromium)."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from transformer_lab.doctor import find_browser
from transformer_lab.translator import Translator
from transformer_lab.viz import explore

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
SENTENCE = "the animal didn't cross the street because it was too tired"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]


def main() -> None:
    """Write explorer-light.png and explorer-dark.png: the head that aligns words, the row of "il"."""
    browser = find_browser()
    if browser is None:
        sys.exit("no browser: apt-get install chromium, or set CHROMIUM to the path of one")
    record = Translator.load(device="cpu").attend(SENTENCE)
    pinned = record.written_tokens.index("il"), record.source_tokens.index("it")
    page = explore(record, kind="cross", layer=1, head=0, pinned=pinned)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = page.to_html(Path(folder) / "explorer.html")
        chromium = playwright.chromium.launch(executable_path=browser, args=ARGUMENTS)
        for theme in ("light", "dark"):
            tab = chromium.new_page(
                viewport={"width": 1180, "height": 660}, color_scheme=theme, device_scale_factor=2
            )
            tab.goto(path.as_uri())
            tab.locator("[data-ready=true]").wait_for()
            tab.screenshot(path=FOLDER / f"explorer-{theme}.png", full_page=True)
        chromium.close()


if __name__ == "__main__":
    main()
