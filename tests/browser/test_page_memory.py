"""What a page draws anew is let go: of no kind of object does the browser keep one for each drawing.

A few bytes that stay of each drawing are more than they seem: each holds the block that it lies in, and
the page's process grew by 24 kB an edit for objects of 160 bytes.
"""

import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import CDPSession, Page

from benchmarks.browser import TWO_FRAMES
from tests.browser.drawn import open_drawing
from tests.lab.test_flow import drawn, translator  # noqa: F401  fixtures
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.open_lab import lab

TIMES = 13  # in one round
TRANSLATE = "(text) => transformerLab.state.translate(text)"


def objects_of(devtools: CDPSession) -> Counter[str]:
    """How many objects of each kind the browser holds for the page, after garbage collection.

    Counted are elements, by their tags, and what is kept to style and to draw them. Not counted is what
    the script engine makes while it runs, nor the list of long tasks and of paintings, which is bounded.
    """
    chunks: list[str] = []

    def note(event: dict[str, str]) -> None:
        chunks.append(event["chunk"])

    devtools.on("HeapProfiler.addHeapSnapshotChunk", note)
    devtools.send("HeapProfiler.takeHeapSnapshot", {"exposeInternals": True})
    devtools.remove_listener("HeapProfiler.addHeapSnapshotChunk", note)
    snapshot = json.loads("".join(chunks))
    fields = snapshot["snapshot"]["meta"]["node_fields"]
    names = snapshot["nodes"][fields.index("name") :: len(fields)]
    counts: Counter[str] = Counter()
    for name, count in Counter(snapshot["strings"][name] for name in names).items():
        element = name.removeprefix("Detached ")
        if element.startswith("<"):
            counts[element.split()[0].strip("<>")] += count
        elif name.startswith("blink::"):
            counts[name] += count
    return counts


def kept(page: Page, draw: Callable[[int], object]) -> dict[str, list[int]]:
    """The kinds of objects of which each drawing leaves one or more, and how many each round left."""
    devtools = page.context.new_cdp_session(page)

    def draw_often() -> Counter[str]:
        for number in range(TIMES):
            draw(number)
            page.evaluate(TWO_FRAMES)
        return objects_of(devtools)

    rounds = [draw_often() for _ in range(5)]
    if not any(name.startswith("blink::") for name in rounds[0]):
        pytest.skip("this browser's build does not name its objects")
    # In each round, since the first drawings make what later ones use again, now sooner and now later.
    more = {name: [b[name] - a[name] for a, b in pairwise(rounds)] for name in rounds[-1]}
    return {name: counts for name, counts in more.items() if min(counts) >= TIMES}


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_memory.py::test_a_head_that_is_no_longer_shown_is_let_go"]
)
def test_a_sentence_that_is_no_longer_shown_is_let_go(visit_page, shipped, tmp_path):
    sentences = [pair.source for pair in FAMOUS]
    page = visit_page(lab(shipped, sentences).to_html(tmp_path / "lab.html")).page
    assert kept(page, lambda number: page.evaluate(TRANSLATE, sentences[number % 2])) == {}


@pytest.mark.parametrize("view", ["as lines", "as a map"])
def test_a_head_that_is_no_longer_shown_is_let_go(opened, view):
    opened.show(view)
    opened.go_deeper()
    heads = opened.root.locator(".dot")
    assert kept(opened.page, lambda number: heads.nth(number % 3).click()) == {}


@pytest.mark.thorough(
    caught_by=["tests/browser/test_page_memory.py::test_a_head_that_is_no_longer_shown_is_let_go"]
)
def test_a_step_that_is_no_longer_shown_is_let_go(browser, drawn, tmp_path):  # noqa: F811
    page = open_drawing(browser, drawn, tmp_path)
    steps = [step for step, box in enumerate(drawn.data["boxes"]) if "maps" in box]

    def show(number: int) -> None:
        page.locator(f"[data-control='step {steps[number % len(steps)]}']").click()

    assert kept(page, show) == {}
    page.context.close()
