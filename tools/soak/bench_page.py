"""Edit the bench in a headless Chromium for a long time.

    python -m tools.soak.bench_page COUNT MINUTES

An edit is a sentence that is written into the field and asked for by Enter; before every third a head
is muted or speaks again, and after every twentieth all heads are tested, which the page does in slices
when nobody asks anything.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.browser import TWO_FRAMES, Visit, chromium, visit
from benchmarks.memory import status_of
from tools.soak.sizes import soak, tell
from transformer_lab.data.world.grammar import FAMOUS, world
from transformer_lab.translator import Translator
from transformer_lab.viz.bench import bench

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
SPEAK = "document.querySelector(\"[data-control='mute'][aria-pressed='true']\")?.click()"
ALL_TESTED = """(async () => {
    const isKnown = (dot) => dot.title.includes('effect if muted');
    while (![...document.querySelectorAll('.dot')].every(isKnown))
        await new Promise((done) => setTimeout(done, 100));
})()"""


class Reader:
    """Who edits the open page."""

    def __init__(self, page: Visit):
        self.page = page
        self.sentences = [pair.source for pair in world(train=2_003, seed=7).train]

    def act(self, number: int) -> None:
        """One edit."""
        if number % 3 == 2:
            self.page.ask(MUTE)
        self.edit(self.sentences[number % len(self.sentences)])
        if number % 20 == 19:
            self.page.ask(ALL_TESTED)

    def edit(self, sentence: str) -> None:
        """Write a sentence and wait until it is drawn."""
        self.page.ask(EDIT.replace("SENTENCE", json.dumps(sentence)).replace("FRAMES", TWO_FRAMES))

    def read(self) -> dict[str, float]:
        """Of the page after garbage collection: its process, the script's heap, its elements.

        It is read at one sentence and with no head muted: a long sentence has more elements.
        """
        self.page.ask(SPEAK)
        self.edit(FAMOUS[0].source)
        self.page.ask(ALL_TESTED)
        self.page.devtools.send("HeapProfiler.collectGarbage")
        listed = self.page.browser.new_browser_cdp_session()
        processes = listed.send("SystemInfo.getProcessInfo")["processInfo"]
        listed.detach()
        pages = [p["id"] for p in processes if p["type"] == "renderer"]
        largest = max(status_of(process, "VmRSS") for process in pages)  # a spare one is smaller
        return {
            "bench, RSS of the page's process in MB": largest / 1024,
            "bench, heap of its script in MB": self.page.metric("JSHeapUsedSize") / 1e6,
            "bench, nodes of its document": self.page.metric("Nodes"),
            "bench, listeners": self.page.metric("JSEventListeners"),
        }


def main() -> None:
    """Print the sizes of the page; an error if an edit was not shown."""
    count, minutes = int(sys.argv[1]), float(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page_of = bench(Translator.load(device="cpu"), [pair.source for pair in FAMOUS])
        path = page_of.to_html(Path(folder) / "bench.html")
        with visit(browser, path, {}) as page:
            reader = Reader(page)
            tell(soak(reader.act, reader.read, count, minutes))


if __name__ == "__main__":
    main()
