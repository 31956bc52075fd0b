"""In Firefox and WebKit a page says what it does in Chromium, is as high, has no error, trains alike."""

import json
import os
import threading
import time
from contextlib import contextmanager
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.browser import engines
from tests.browser.engines import HEIGHT, HERE, WIDTH, until
from transformer_lab.lab.open_lab import lab
from transformer_lab.lab.page.join import FOLDER
from transformer_lab.lab.playground_page import playground

RECORDER = b"""<style>* { scrollbar-width: none !important }
.tl-page, .tl-page * { font-family: "DejaVu Sans" !important }</style>
<script>globalThis.problems = [];
const note = (kind, told) => addEventListener(kind, (event) => problems.push(`${told(event)}`), true);
note("error", ({ message, target }) => message ?? target.outerHTML);
note("unhandledrejection", ({ reason }) => reason);
note("securitypolicyviolation", (event) => `${event.effectiveDirective} ${event.blockedURI}`);
for (const kind of ["error", "warn"]) console[kind] = (...said) => problems.push(said.join(" "));
</script>"""
"""Stands before a page's policy, which says nothing of what was before it. One font and no
scroll bars: lines end alike."""
LEAST, SHARE = 5, 0.05
"""How far heights may differ: 5 pixels, or 5 in a hundred: WebKit's lines are lower."""
SENTENCE = "the animal didn't cross the street because it was too tired"
LAB_VIEWS = ["As a map", "The numbers", "What it does", "Where it looks"]
WALKS = {
    "record.html": (
        ".tl-lab",
        ["As a map", "Make small weights visible", "voit", "Where it looks"],
    ),
    "lab.html": (
        ".tl-lab",
        ["wide", *LAB_VIEWS, "Mute it"],
    ),
    "play.html": (".tl-playground", ["Does it need four heads?"]),
    "site/notebooks/07_the_whole_transformer.html": (".tl-page", ["Next \u25b6"] * 4),
    "site/notebooks/06_masks_and_the_decoder.html": (".tl-page", ["Next \u25b6"] * 6),
    "site/notebooks/04_positions.html": (".tl-page", ["ALiBi"]),
}
"""Page → what is looked at, and the buttons that are pressed one after the other, wherever they are."""
READY = """
[...document.querySelectorAll(ROOT)].length > 0
  && [...document.querySelectorAll(ROOT)].every((root) => root.dataset.ready === "true")
  && document.readyState === "complete" && document.getAnimations().length === 0
"""
UNFOLD = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
PRESS = """
[...document.querySelectorAll(ROOT)].flatMap((root) => [...root.querySelectorAll("button")])
  .filter((button) => button.textContent === NAME && !button.disabled)
  .map((button) => button.click()).length
"""
SEEN = """
(() => {
  const all = [...document.querySelectorAll(ROOT)]
    .flatMap((root) => [root, ...root.querySelectorAll("*")])
    .filter((element) => !element.closest("svg *"));
  const lines = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom))).size;
  };
  const wrapped = all.filter((element) => [...element.childNodes]
    .some((node) => node.nodeType === Node.TEXT_NODE && lines(node) > 1));
  const taken = (element) => element.localName !== "tbody"
    && !wrapped.some((one) => element.parentElement.contains(one));
  return all.map((element) => [
    `${element.parentElement.className} > ${element.localName}.${element.getAttribute("class") ?? ""}`,
    element.textContent, taken(element) ? element.getBoundingClientRect().height : null]);
})()
"""
"""Of each element: where it stands, what it says, and how high it is. No height is taken beside text
that takes several lines, because each engine ends its lines elsewhere, nor of a table's body, to which
WebKit counts the gaps around it."""


class InChromium:
    """The browser of all other tests, asked as the two others are."""

    def __init__(self, page):
        self.page = page
        self.open, self.ask = page.goto, page.evaluate


@pytest.fixture(scope="module")
def chromium(browser):
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    yield InChromium(page)
    page.close()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    needed("Firefox", engines.FIREFOX, "apt-get install firefox-esr")
    with engines.firefox(tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


@pytest.fixture(scope="module")
def webkit():
    there = engines.WEBKIT and engines.MINI and engines.DISPLAY
    needed("WebKitGTK", there, "apt-get install webkit2gtk-driver xvfb")
    with engines.webkit() as opened:
        yield opened


def needed(name, there, how):
    """Skip where an engine is not installed; under CI this fails."""
    if not there:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"no {name}: {how}")


def settled(engine, seen):
    """What is seen, once it no longer changes."""
    last, now = None, engine.ask(seen)
    while last != now:
        time.sleep(0.3)
        last, now = now, engine.ask(seen)
    return now


def walk(engine, address, root, names):
    """What is seen at first and after each button, and the problems that the page had."""
    engine.open(address)
    asked = [text.replace("ROOT", json.dumps(root)) for text in (READY, SEEN, PRESS)]
    ready, seen, press = asked
    until(lambda: engine.ask(ready))
    engine.ask(UNFOLD)
    found = [settled(engine, seen)]
    for name in names:
        assert engine.ask(press.replace("NAME", json.dumps(name))), f"no button {name}"
        until(lambda: engine.ask(ready))
        found.append(settled(engine, seen))
    return found, engine.ask("problems")


def otherwise(mine, theirs):
    """Where one engine's page says something else than Chromium's, or is of another height."""
    assert len(mine) == len(theirs) > 9
    return [
        (where, f"{text[:60]!r} {height}", f"{other[:60]!r} {high}")
        for (where, text, height), (_, other, high) in zip(mine, theirs, strict=True)
        if text != other or not alike(height, high)
    ][:20]


def alike(height, high):
    """Whether two heights differ by little; where one of them was not taken, they do."""
    return None in (height, high) or abs(height - high) <= max(LEAST, SHARE * high)


class Recorded(SimpleHTTPRequestHandler):
    """Files, and in front of each page what notes its problems."""

    def do_GET(self):
        path = self.translate_path(self.path.partition("#")[0])
        if not path.endswith(".html"):
            super().do_GET()
            return
        with open(path, "rb") as file:
            page = file.read().replace(b"<head>", b"<head>" + RECORDER, 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(full_page, shipped, site, tmp_path_factory):
    """The pages that we write, and where they are served."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "record.html").write_bytes(full_page.read_bytes())
    lab(shipped, [SENTENCE, SENTENCE.replace("tired", "wide")]).to_html(folder / "lab.html")
    playground().to_html(folder / "play.html")
    (folder / "site").symlink_to(site)
    with serve(folder) as address:
        yield address


@contextmanager
def serve(folder):
    """Where a folder's pages are served, until the block ends."""
    server = ThreadingHTTPServer((HERE, 0), partial(Recorded, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://{HERE}:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def expected(chromium, served):
    """What Chromium shows on the walk through a page."""
    return cache(lambda name: walk(chromium, f"{served}/{name}", *WALKS[name])[0])


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_site.py::test_a_lesson_opens_without_an_error_and_without_the_world",
        "tests/browser/test_page_lab.py::test_muting_says_before_and_after_as_python_does",
    ]
)
@pytest.mark.parametrize("engine", ["firefox", "webkit"])
@pytest.mark.parametrize("name", WALKS)
def test_a_page_says_the_same_is_as_high_and_has_no_problem(
    request, served, expected, engine, name
):
    found, problems = walk(request.getfixturevalue(engine), f"{served}/{name}", *WALKS[name])
    assert problems == []
    told = [otherwise(*step) for step in zip(found, expected(name), strict=True)]
    assert told == [[] for _ in told]


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_page_together.py::test_styles_of_other_widgets_before_and_behind_it_change_nothing"
    ]
)
@pytest.mark.parametrize("planted", ["style.height = '62px'", "append('!')"])
def test_a_fault_that_one_engine_alone_shows_is_found(chromium, served, planted):
    """Otherwise the walks would compare nothing: with a fault planted, Chromium differs from itself."""
    root = WALKS["record.html"][0]
    (before,), _ = walk(chromium, f"{served}/record.html", root, [])
    chromium.ask(f"void (document.querySelector('{root} [data-control=\"step 0\"]').{planted})")
    found = otherwise(settled(chromium, SEEN.replace("ROOT", json.dumps(root))), before)
    assert any("button" in where for where, *_ in found)


TRAINING = """<head></head><script type="module">
import { Learner } from "./page/learning/learner.js";
import { openOperations } from "./page/learning/kernel.js";
import { makeRandom } from "./page/engine/untrained.js";
const random = makeRandom(11);
const drawPair = () => {
  const letters = Array.from({ length: 5 }, () => 4 + Math.floor(7 * random()));
  return { source: [...letters, 2], target: [...letters.reverse(), 2] };
};
const sizes = { d_model: 32, d_ff: 64, num_heads: 4, source_vocab_size: 13, target_vocab_size: 13 };
const operations = openOperations();
const learner = new Learner({ ...sizes, dropout: 0.1 }, { warmup: 20, smoothing: 0.1 }, operations, 4);
const { start, count } = learner.model.parameters;
const sumBits = () => new Int32Array(operations.values.buffer, 4 * start, count)
  .reduce((sum, bits) => (Math.imul(sum, 31) + bits) | 0, 0);
const before = sumBits();
const losses = Array.from({ length: 30 }, () => learner.step(Array.from({ length: 16 }, drawPair)));
globalThis.trained = { kernel: operations.constructor.name, losses, sums: [before, sumBits()] };
</script>"""
"""Trains for 30 steps. `sums` are of the weights' bits, before and after."""


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """Where a page that trains is served."""
    folder = tmp_path_factory.mktemp("training")
    (folder / "page").symlink_to(FOLDER)
    (folder / "training.html").write_text(TRAINING)
    playground(start="width=16&heads=2&steps=300").to_html(folder / "play.html")
    with serve(folder) as address:
        yield address


def train(engine, address):
    """What came of training there."""
    engine.open(f"{address}/training.html")
    until(lambda: engine.ask("globalThis.trained !== undefined || problems.length > 0"))
    assert engine.ask("problems") == []
    return engine.ask("trained")


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_learning.py::test_the_same_seed_gives_the_same_losses"]
)
@pytest.mark.parametrize("engine", ["firefox", "webkit"])
def test_a_seed_trains_the_same_model_to_the_bit(request, chromium, training, engine):
    found, expected = (train(one, training) for one in (request.getfixturevalue(engine), chromium))
    assert found == expected
    assert found["kernel"] == "Kernel"  # and not the loops, whose exponentials may differ
    before, after = found["sums"]
    assert before != after
    assert len(set(found["losses"])) == 30
    assert found["losses"][-1] < 0.8 * found["losses"][0]


PLAYED = """[document.querySelector(".status").textContent.replace(/ and [\\d.]+ seconds/, ""),
    document.querySelector(".examples").innerText.trim()]"""
"""What a run came to, without the seconds that it took, and what its model writes."""


def play(engine, address):
    """What came of pressing Train in the playground."""
    engine.open(f"{address}/play.html")
    until(lambda: engine.ask("document.querySelector('.tl-playground[data-ready]') !== null"))
    engine.ask("void document.querySelector('[data-control=train]').click()")
    done = "document.querySelector('.status')?.textContent.startsWith('Done')"
    until(lambda: engine.ask(f"{done} || problems.length > 0"))
    assert engine.ask("problems") == []
    return engine.ask(PLAYED)


@pytest.mark.thorough(
    caught_by=[
        "tests/browser/test_playground.py::test_a_run_says_how_far_it_is_and_shows_what_it_writes"
    ]
)
@pytest.mark.parametrize("engine", ["firefox", "webkit"])
def test_the_playground_trains_the_same_model(request, chromium, training, engine):
    found, expected = (play(one, training) for one in (request.getfixturevalue(engine), chromium))
    assert found == expected
    assert found[0].endswith("of 512 unseen examples are right after 300 steps.")
