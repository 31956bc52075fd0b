"""Photograph the explorer and the bench for README.md and the site, light and dark.

python tools/picture.py          (needs Chromium)
"""

import io
import tempfile
from pathlib import Path

from PIL import Image

from tools.browser import launch_chromium
from transformer_lab.lab import explore
from transformer_lab.lab.bench import bench
from transformer_lab.translator import Translator

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "_static"
SENTENCE = "the animal didn't cross the street because it was too tired"


def main() -> None:
    """Write explorer and bench, each as `-light.webp` and `-dark.webp`.

    The explorer shows the head that aligns words, at the row of "il"; the bench what becomes of "il"
    without the head that finds the noun.
    """
    translator = Translator.load(device="cpu")
    record = translator.attend(SENTENCE)
    pinned = record.written_tokens.index("il"), record.source_tokens.index("it")
    start = f"head=e2.3&row={record.source_tokens.index('tired')}&step={pinned[0]}&mute=e2.3"
    with tempfile.TemporaryDirectory() as folder, launch_chromium() as chromium:
        pages = {
            "explorer": explore(record, kind="cross", layer=1, head=3, pinned=pinned).to_html(
                Path(folder) / "explorer.html"
            ),
            "bench": bench(translator, SENTENCE, start=start).to_html(Path(folder) / "bench.html"),
        }
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


if __name__ == "__main__":
    main()
