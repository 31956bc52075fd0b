"""Edit the lab in a headless Chromium for a long time.

    python -m tools.stress.soak.lab_page COUNT MINUTES

`python -m tools.stress soak` starts it. An edit writes a sentence into the field and presses Enter.
Before every third edit, a head is muted or unmuted, and after every twentieth, all heads are tested,
which the page does in slices while it is idle.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.browser import TWO_FRAMES, OpenPage, open_page
from benchmarks.memory import read_status
from tools.browser import launch_chromium
from tools.stress.soak.sizes import print_sizes, soak
from transformer_lab.data.world.grammar import FAMOUS, world
from transformer_lab.lab.open_lab import lab
from transformer_lab.translator import Translator

EDIT = """(async () => {
    const field = document.querySelector('textarea');
    field.value = SENTENCE;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    await FRAMES;
    const text = transformerLab.state.text;
    if (text !== SENTENCE) throw new Error(`the page shows ${text}`);
})()"""
MUTE = "document.querySelector(\"[data-control='mute']\").click()"
SPEAK = "transformerLab.state.isChanged && transformerLab.state.undo()"
SETTLED = "new Promise((done) => setTimeout(done, 500))"
"""Waits until what an act postpones is written, such as the address."""


class Reader:
    """A reader who edits the open page."""

    def __init__(self, page: OpenPage):
        self.page = page
        self.sentences = [pair.source for pair in world(train=2_003, seed=7).train]

    def act(self, number: int) -> None:
        """Make one edit."""
        if number % 3 == 2:
            self.page.ask(MUTE)
        self.edit(self.sentences[number % len(self.sentences)])
        if number % 20 == 19:
            self.page.ask(SETTLED)

    def edit(self, sentence: str) -> None:
        """Write a sentence and wait until it is drawn."""
        self.page.ask(EDIT.replace("SENTENCE", json.dumps(sentence)).replace("FRAMES", TWO_FRAMES))

    def read(self) -> dict[str, float]:
        """Return the sizes of the page's process, script heap and elements after garbage collection.

        They are read at one sentence with no head muted, because a long sentence has more elements.
        """
        self.page.ask(SPEAK)
        self.edit(FAMOUS[0].source)
        self.page.ask(SETTLED)
        self.page.devtools.send("HeapProfiler.collectGarbage")
        listed = self.page.browser.new_browser_cdp_session()
        processes = listed.send("SystemInfo.getProcessInfo")["processInfo"]
        listed.detach()
        pages = [p["id"] for p in processes if p["type"] == "renderer"]
        largest = max(read_status(process, "VmRSS") for process in pages)  # a spare one is smaller
        return {
            "lab, RSS of the page's process in MB": largest / 1024,
            "lab, heap of its script in MB": self.page.metric("JSHeapUsedSize") / 1e6,
            "lab, nodes of its document": self.page.metric("Nodes"),
            "lab, listeners": self.page.metric("JSEventListeners"),
        }


def main() -> None:
    """Edit the page and print its sizes; raise an error if an edit was not shown."""
    count, minutes = int(sys.argv[1]), float(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, launch_chromium() as browser:
        page_of = lab(Translator.load(device="cpu"), [pair.source for pair in FAMOUS])
        path = page_of.to_html(Path(folder) / "lab.html")
        with open_page(browser, path, {}) as page:
            reader = Reader(page)
            print_sizes(soak(reader.act, reader.read, count, minutes))


if __name__ == "__main__":
    main()
