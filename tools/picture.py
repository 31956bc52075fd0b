"""Photograph the explorer and the bench for README.md and the site, light and dark.

python tools/picture.py          (needs Chromium)
"""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from transformer_lab.command.doctor import find_browser
from transformer_lab.lab import explore
from transformer_lab.lab.bench import bench
from transformer_lab.translator import Translator

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
SENTENCE = "the animal didn't cross the street because it was too tired"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]


def main() -> None:
    """Write explorer and bench, each as `-light.webp` and `-dark.webp`.

    The explorer shows the head that aligns words, at the row of "il"; the bench what becomes of "il"
    without the head that finds the noun.
    """
    browser = find_browser()
    if browser is None:
        sys.exit("no browser: apt-get install chromium, or set CHROMIUM to the path of one")
    translator = Translator.load(device="cpu")
    record = translator.attend(SENTENCE)
    pinned = record.written_tokens.index("il"), record.source_tokens.index("it")
    start = f"head=e2.3&row={record.source_tokens.index('tired')}&step={pinned[0]}&mute=e2.3"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = {
            "explorer": explore(record, kind="cross", layer=1, head=3, pinned=pinned).to_html(
                Path(folder) / "explorer.html"
            ),
            "bench": bench(translator, SENTENCE, start=start).to_html(Path(folder) / "bench.html"),
        }
        chromium = playwright.chromium.launch(executable_path=browser, args=ARGUMENTS)
        for name, path in pages.items():
            for theme in ("light", "dark"):
                tab = chromium.new_page(
                    viewport={"width": 1180, "height": 760},
                    color_scheme=theme,
                    device_scale_factor=1,
                )
                tab.goto(path.as_uri())
                tab.locator("[data-ready=true]").wait_for()
                if name == "bench":  # its heads are coloured when each has been muted once
                    tab.locator("[data-control='head c2.3'][title*='effect if muted']").wait_for()
                picture = Image.open(io.BytesIO(tab.screenshot(full_page=name == "explorer")))
                picture.convert("RGB").save(FOLDER / f"{name}-{theme}.webp", quality=50, method=6)
        chromium.close()


if __name__ == "__main__":
    main()
