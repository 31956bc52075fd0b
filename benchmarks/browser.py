"""Pages in Chromium, without a network: when they are drawn, and what an interaction costs them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, Route

DRAWN = Path(__file__).with_name("drawn.js")
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
MEGA = 1e6


class OpenPage:
    """A page that has been opened and is drawn."""

    def __init__(self, browser: Browser, page: Page):
        self.browser = browser
        self.page = page
        self.devtools = page.context.new_cdp_session(page)
        # Processor time: what other programs take meanwhile is not the page's work.
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.seconds_to_drawn = page.evaluate("drawn") / 1000

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page; a RuntimeError with its message if it fails."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.devtools.send("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def metric(self, name: str) -> float:
        """One of Chromium's own counts for this page."""
        found = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in found if metric["name"] == name)

    def work(self, act: Callable[[], object]) -> float:
        """Seconds of main-thread work of one interaction.

        Chromium counts the processor time of the tasks of a page's main thread (TaskDuration: script,
        style, layout and painting); this is what it counts from the event to the beginning of the
        second frame after it. What two frames take without an event, the median of three, is
        subtracted.
        """

        def counted(act: Callable[[], object]) -> float:
            before = self.metric("TaskDuration")
            act()
            self.ask(TWO_FRAMES)
            return self.metric("TaskDuration") - before

        idle = median(counted(lambda: None) for _ in range(3))
        return max(0.0, counted(act) - idle)

    def megabytes(self) -> tuple[float, float]:
        """After garbage collection: the script's heap, and the memory of the page's process.

        An SVG's elements are not in the script's heap but in the process; that is counted as its
        anonymous resident memory, which is Linux's word, and 0 elsewhere.
        """
        self.devtools.send("HeapProfiler.collectGarbage")
        heap = self.metric("JSHeapUsedSize") / MEGA
        listed = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
        pages = [p["id"] for p in listed["processInfo"] if p["type"] == "renderer"]
        return heap, max(map(resident_megabytes, pages))  # a spare one, without a page, is smaller


def resident_megabytes(process: int) -> float:
    """The anonymous resident memory of a process, in megabytes; 0 outside Linux."""
    status = Path(f"/proc/{process}/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024 / MEGA
    return 0.0


@contextmanager
def open_page(browser: Browser, path: Path, served: Mapping[str, bytes]) -> Iterator[OpenPage]:
    """Open a file in a new page and wait until it is drawn.

    Requests are answered from `served` or blocked.
    """

    def answer(route: Route) -> None:
        body = served.get(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        elif body is None:
            route.abort()
        else:
            route.fulfill(body=body, content_type="text/javascript")

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.route("**/*", answer)
    context.add_init_script(path=DRAWN)
    page = context.new_page()
    page.goto(path.as_uri(), wait_until="commit")
    try:
        yield OpenPage(browser, page)
    finally:
        context.close()
